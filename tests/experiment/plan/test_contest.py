"""Who is measured in which case, and which cases are open."""

from typing import Any

from dbversus.experiment.asked.spec import make_spec
from dbversus.experiment.plan.contest import Contest
from dbversus.experiment.plan.progress import Progress
from dbversus.suites.load import load_suite

TESTS = "point-query,update-index"


def contest(targets: int, **choices: Any) -> Contest:
    spec = make_spec({"targets": ["postgres:17"] * targets, "tests": TESTS, "looks": [2], **choices})
    return Contest(spec, load_suite("sysbench").select(TESTS), [f"t{number}" for number in range(targets)], Progress())


def comparable(of: Contest, group: Any) -> set[str]:
    return {case.name for case in of.all_cases if of.is_comparable(case, group)}


def test_in_groups_a_test_is_open_as_long_as_it_is_in_one() -> None:
    three = contest(3, at_once=2)
    first, second = three.turns(0)
    three.progress.checked["point-query", "g0"] = {"t0": True, "t1": False}
    assert "point-query" in three.undecided
    assert comparable(three, first) == {"update-index"}
    assert comparable(three, second) == {"point-query", "update-index"}
    three.progress.checked["point-query", "g1"] = {"t0": True, "t2": False}
    assert three.undecided == ["update-index"]
    three.progress.out["t1"] = "gone"
    assert not comparable(three, first)


def test_a_target_alone_is_compared_with_nobody_and_measured() -> None:
    two = contest(2, order="sequential")
    assert comparable(two, two.turns(0)[0]) == {"point-query", "update-index"}


def test_tests_that_build_on_each_other_retire_together() -> None:
    spec = make_spec(
        {"targets": ["sqlite:bundled", "sqlite:bundled"], "looks": [2], "suite": "insert", "tests": "l.i0,l.x"}
    )
    insert = Contest(spec, spec.read_suite(), ["t0", "t1"], Progress())
    assert insert.undecided == ["l.i0", "l.x"]
    assert insert.to_retire({"l.i0"}) == [] and insert.to_retire({"l.x", "l.i0"}) == ["l.i0", "l.x"]
    insert.progress.out["t1"] = "gone"
    assert insert.to_retire(set()) == []
    others = contest(2)
    assert others.to_retire({"point-query"}) == ["point-query"]


def test_a_refused_config_has_no_place_in_a_group_and_a_target_that_left_keeps_its_own() -> None:
    four = contest(4, at_once=3)
    assert [group.members for group in four.groups] == [("t0", "t1"), ("t0", "t2", "t3")]
    four.progress.out["t1"] = "no room"
    assert [group.members for group in four.groups] == [("t0", "t1"), ("t0", "t2", "t3")]
    four.progress.refused.add("t1")
    assert [group.members for group in four.groups] == [("t0", "t2", "t3")]
