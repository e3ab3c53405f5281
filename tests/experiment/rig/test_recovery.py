"""What is replaced, what is begun again, and what is given up."""

from pathlib import Path

import pytest

from dbversus.errors import RunError
from dbversus.experiment.rig.engine import EngineGone, EngineRefused
from dbversus.experiment.rig.recovery import ENGINE_RENEWALS_AT_MOST, ask, through_engine_loss, through_losses

from ..fakes import case_of, gone, make_rig, records, refused, server_of


class _Action:
    """Fails with one error after another, then goes well."""

    def __init__(self, *errors: RunError):
        self.errors = list(errors)
        self.times = 0

    def __call__(self) -> None:
        self.times += 1
        if self.errors:
            raise self.errors.pop(0)


def test_an_action_is_begun_once_more_when_the_engine_is_lost(tmp_path: Path) -> None:
    rig = make_rig(tmp_path)
    first, action = rig.engine, _Action(gone())
    through_engine_loss(rig, action, block=3)
    assert action.times == 2 and rig.engine is not first
    assert [failure["stage"] for failure in records(rig, "failure")] == ["engine"]
    with pytest.raises(EngineGone):
        through_engine_loss(rig, _Action(gone(), gone()))


def test_any_number_of_targets_may_refuse_a_statement_and_the_others_go_on(tmp_path: Path) -> None:
    rig = make_rig(tmp_path, targets=7)
    refusing = ["t1", "t2", "t3", "t4", "t6"]
    action = _Action(*(refused(name) for name in refusing))
    through_losses(rig, 2, case_of(rig, "point-query"), action)
    assert [target.name for target in rig.in_run] == ["t0", "t5"]
    failures = records(rig, "failure")
    assert [failure["target"] for failure in failures] == refusing
    for failure in failures:
        assert (failure["stage"], failure["final"], failure["block"]) == ("slot", True, 2)
        assert failure["message"] == "function f does not exist" and failure["test"] == "point-query"
    assert not rig.diverged and not server_of(rig, "t1").running


def test_a_base_that_refuses_a_statement_ends_the_run_with_its_words(tmp_path: Path) -> None:
    rig = make_rig(tmp_path, targets=3)
    with pytest.raises(RunError, match=r"base postgres:17 is out.*function f does not exist"):
        through_losses(rig, 0, case_of(rig, "point-query"), _Action(refused("t0")))


def test_after_a_refused_change_the_data_may_differ(tmp_path: Path) -> None:
    rig = make_rig(tmp_path, targets=3)
    through_losses(rig, 0, case_of(rig, "update-index"), _Action(refused("t1")))
    assert rig.diverged


@pytest.mark.parametrize("kind", ["connect", "server"])
def test_a_server_that_is_lost_is_restarted_until_it_was_too_often(tmp_path: Path, kind: str) -> None:
    rig = make_rig(tmp_path, targets=3)
    server, case = server_of(rig, "t1"), case_of(rig, "point-query")

    def lose() -> None:
        if rig.by_name("t1").out is None:
            server.running = kind == "connect"
            raise EngineRefused(kind, "it went away", "t1")

    through_losses(rig, 0, case, lose)
    assert server.starts == 3 and rig.by_name("t1").out
    assert [failure["final"] for failure in records(rig, "failure")] == [False, False, False, True]


def test_engines_that_are_lost_one_after_another_end_the_run(tmp_path: Path) -> None:
    rig = make_rig(tmp_path)
    action = _Action(*(gone() for _ in range(ENGINE_RENEWALS_AT_MOST + 1)))
    with pytest.raises(EngineGone):
        through_losses(rig, 0, case_of(rig, "point-query"), action)
    assert action.times == ENGINE_RENEWALS_AT_MOST + 1
    assert all(target.out is None for target in rig.targets)


def test_what_is_no_targets_affair_is_not_blamed_on_one(tmp_path: Path) -> None:
    rig = make_rig(tmp_path)
    with pytest.raises(EngineRefused):
        through_losses(rig, 0, case_of(rig, "point-query"), _Action(EngineRefused("usage", "what?", None)))
    assert not records(rig, "failure")


def test_a_server_that_is_lost_while_it_is_asked_is_started_again_and_asked_once_more(tmp_path: Path) -> None:
    rig = make_rig(tmp_path)
    losses = [RunError("server closed the connection")]

    def question() -> int:
        if losses:
            raise losses.pop()
        return 7

    assert ask(rig, rig.by_name("t1"), question, "state", block=1) == 7
    assert rig.alive == rig.targets and server_of(rig, "t1").starts == 1
    (failure,) = records(rig, "failure")
    assert (failure["target"], failure["stage"], failure["block"], failure["final"]) == ("t1", "state", 1, False)


def test_an_engine_that_is_lost_while_a_server_is_asked_is_no_failure_of_the_server(tmp_path: Path) -> None:
    rig = make_rig(tmp_path)
    first, action = rig.engine, _Action(gone())
    ask(rig, rig.base, action, "state", block=0)
    assert action.times == 2 and rig.engine is not first and server_of(rig, "t0").starts == 0
    assert [failure["target"] for failure in records(rig, "failure")] == [None]


def test_a_server_that_answers_in_no_case_is_out_and_the_others_go_on(tmp_path: Path) -> None:
    def question() -> int:
        raise RunError("permission denied")

    rig = make_rig(tmp_path, targets=3)
    assert ask(rig, rig.by_name("t1"), question, "start", block=0) is None
    assert [target.name for target in rig.alive] == ["t0", "t2"]
    assert [one["final"] for one in records(rig, "failure")] == [False, True]
