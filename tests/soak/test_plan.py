"""The schedule of a soak."""

import itertools

import pytest

from .plan import ALONE, SERVER_KINDS, Kind, Trial, kinds_for, trials

DBMSS = ("sqlite", "postgres", "mariadb")


def _first(count: int, seed: int = 7) -> list[Trial]:
    return list(itertools.islice(trials(seed, DBMSS, set(Kind)), count))


def test_a_seed_gives_the_same_schedule_and_another_one_another() -> None:
    assert _first(50) == _first(50)
    assert _first(50) != _first(50, seed=8)


@pytest.mark.parametrize("dbms", DBMSS)
def test_every_kind_that_makes_sense_has_its_turn(dbms: str) -> None:
    kinds = {fault.kind for trial in _first(60) if trial.dbms == dbms for fault in trial.faults}
    assert kinds == set(kinds_for(dbms, set(Kind)))


def test_an_embedded_dbms_has_no_server_to_kill() -> None:
    assert not SERVER_KINDS & set(kinds_for("sqlite", set(Kind)))


def test_what_cannot_be_had_here_is_not_planned() -> None:
    planned = itertools.islice(trials(1, DBMSS, {Kind.KILL_ENGINE}), 20)
    assert {fault.kind for trial in planned for fault in trial.faults} == {Kind.KILL_ENGINE}


def test_a_fault_that_has_to_be_alone_is_alone() -> None:
    together = [trial for trial in _first(300) if len(trial.faults) > 1]
    assert together
    assert not any(fault.kind in ALONE for trial in together for fault in trial.faults)
