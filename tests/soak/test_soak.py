"""The short form of the soak: a fixed list of experiments, each with faults at random moments (`python -m tests.soak`)."""

import random
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..left_out import no_build
from .plan import TESTS, Kind, Trial, fault
from .soak import possible_kinds, prepare
from .trial import Host, perform

pytestmark = [pytest.mark.e2e, pytest.mark.alone]

SEED = 7
# DBMS, faults, and whether its paths are long
FORM = (
    ("sqlite", (Kind.KILL_ENGINE, Kind.STOP_CONTROLLER, Kind.FULL_RESULTS), False),
    ("sqlite", (Kind.FULL_HOME,), False),
    ("sqlite", (Kind.CLOCK_JUMP,), False),
    ("postgres", (Kind.KILL_SERVER, Kind.KILL_BACKEND, Kind.KILL_CONTROLLER), True),
    ("mariadb", (Kind.KILL_SERVER, Kind.INTERRUPT), False),
)


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    folder = Path(tempfile.mkdtemp(prefix="dbv-soak-"))
    yield prepare(folder)
    shutil.rmtree(folder, ignore_errors=True)


def _trial(number: int) -> Trial:
    dbms, kinds, deep = FORM[number]
    chance = random.Random(SEED + number)
    faults = tuple(fault(kind, chance, 2, earlier=place > 0) for place, kind in enumerate(kinds))
    return Trial(number, dbms, TESTS[number % len(TESTS)], 2, faults, chance.getrandbits(32), deep)


@pytest.mark.parametrize("number", range(len(FORM)), ids=lambda number: _trial(number).title)
def test_nothing_is_lost_and_nothing_is_left(host: Host, number: int) -> None:
    trial = _trial(number)
    kinds, skipped = possible_kinds(host)
    if trial.dbms not in host.targets:
        no_build("; ".join(skipped))
    if not kinds.issuperset(each.kind for each in trial.faults):
        pytest.skip("; ".join(skipped))
    outcome = perform(trial, host)
    assert outcome.violations == []
    assert outcome.injections and outcome.rows
