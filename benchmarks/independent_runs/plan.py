"""What is measured: the runs of each kind, their folders and seeds, and which tests of which suite are slowed down."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dbversus.builds.target import parse_target
from dbversus.dbms.known import find_dbms
from dbversus.errors import UsageError
from dbversus.experiment.asked.spec import ExperimentSpec, make_spec
from dbversus.suites import load_suite, profile_choices

QUICK, BUSY, STANDARD, FINE = "quick", "busy", "standard", "fine"
KINDS = (QUICK, BUSY, STANDARD, FINE)
TARGETS = {"postgres": "postgres:17", "mariadb": "mariadb:10.11", "mysql": "mysql:8.0"}
RUNS = {
    (QUICK, "postgres"): 40,
    (QUICK, "mariadb"): 20,
    (QUICK, "mysql"): 10,
    (BUSY, "postgres"): 20,
    (STANDARD, "postgres"): 6,
    (STANDARD, "mariadb"): 6,
    (STANDARD, "mysql"): 4,
    (FINE, "postgres"): 2,
}
"""Runs of each kind and DBMS when no number is named; of what is not in it there are none unless one is."""

SHARES = (0.05, 0.03)
TESTS_PER_SHARE = 4
PER_SUITE = TESTS_PER_SHARE * len(SHARES)
FINE_SHARE = 0.01

_FIRST_SEED = 7_000_000
_SEEDS_PER_KIND = 100_000
_NAME = re.compile(rf"({'|'.join(KINDS)})-([a-z]+)-(\d{{3,}})")


@dataclass(frozen=True)
class Run:
    """One experiment. `number` counts from 1 within its kind and DBMS."""

    kind: str
    dbms: str
    number: int

    @property
    def name(self) -> str:
        """Of its folder: `quick-postgres-017`."""
        return f"{self.kind}-{self.dbms}-{self.number:03}"

    @property
    def seed(self) -> int:
        """Of this run alone: its data, and all values of its statements, are its own.

        Large, so that what is kept of its data is taken for nobody else's.
        """
        return _FIRST_SEED + _SEEDS_PER_KIND * KINDS.index(self.kind) + self.number


def read_name(name: str) -> Run | None:
    """The run whose folder has that name; None: it is no such folder."""
    match = _NAME.fullmatch(name)
    return Run(match[1], match[2], int(match[3])) if match else None


def planned(dbms: str | None, kind: str | None, runs: int | None, target: str | None = None) -> list[Run]:
    """All runs asked for: of one kind and DBMS, or of all that are not narrowed down; `runs` of each, else as in RUNS."""
    if target is not None:
        dbms = find_dbms(parse_target(target).dbms).name
    every = [(each, name) for each in KINDS for name in ([dbms] if dbms else TARGETS) if kind in (None, each)]
    counts = {place: RUNS.get(place, 0) if runs is None else runs for place in every}
    if not any(counts.values()):
        raise UsageError(f"{dbms} has no usual number of such runs; name one with --runs.")
    return [Run(*place, number) for place, count in counts.items() for number in range(1, count + 1)]


def spec_of(run: Run, target: str, choices: dict[str, Any] | None = None) -> ExperimentSpec:
    """The experiment of a run: `target` against a copy of itself, with the usual margins whatever this host was calibrated to.

    `choices`: over those of the profile. Raises UsageError with one sentence naming the first mistake.
    """
    profile = run.kind if run.kind in _SLOWED_DOWN else QUICK
    made = profile_choices(profile) | {"profile": profile, "calibration": False, "targets": [target, target]}
    made |= {"seed": run.seed} | (choices or {})
    if added := _SLOWED_DOWN.get(run.kind):
        made["inject"] = {"1": {"cpu": added(tests_of(made), run.number)}}
    return make_spec(made)


def tests_of(choices: dict[str, Any]) -> list[str]:
    """Names of the tests in the order in which they are run, without the load."""
    return load_suite(choices["suite"]).select(choices.get("tests")).sequence[1:]


def slowed_down(tests: Sequence[str], number: int) -> dict[str, float]:
    """Share of CPU that suite `number` (from 1) adds to eight of its tests: + 5 % to four of them, + 3 % to four others.

    Tests take turns: each share goes on in the next suite where it ended in the one before, half a round apart, so that in as
    many suites as there are tests divided by four each test has had both. Those of one suite lie apart in its order, since
    neighbours are alike and have the same moments of the host.
    """
    count = len(tests)
    if count < PER_SUITE:
        raise UsageError(f"{PER_SUITE} tests are slowed down in every suite; this one has {count}.")
    step = _step(count)
    added: dict[str, float] = {}
    for place, share in enumerate(SHARES):
        first = (number - 1) * TESTS_PER_SHARE + place * count // len(SHARES)
        added |= {tests[(first + turn) * step % count]: share for turn in range(TESTS_PER_SHARE)}
    return added


def _step(count: int) -> int:
    """About an eighth of the suite, and such that steps of it come to every test."""
    return next(step for step in range(count // PER_SUITE, 0, -1) if math.gcd(step, count) == 1)


def every_other(tests: Sequence[str], number: int) -> dict[str, float]:
    """Run `number` (from 1) slows down every other test by 1 %, and the next one the others."""
    return dict.fromkeys(tests[(number - 1) % 2 :: 2], FINE_SHARE)


_SLOWED_DOWN = {STANDARD: slowed_down, FINE: every_other}
"""Kind → share of CPU that is added to tests of a run, by name."""
