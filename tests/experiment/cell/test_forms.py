"""Tests that are judged against each other, with an engine that answers as told: they share rows, and are journaled apart."""

from dataclasses import replace
from pathlib import Path

import pytest

from dbversus.experiment.cell.block import run_cell
from dbversus.experiment.cell.case import measure
from dbversus.experiment.plan.agenda import Cell
from dbversus.experiment.plan.cases import Case
from dbversus.experiment.rig.rig import Rig
from dbversus.suites.model import Phase

from ..fakes import FakeEngine, case_of, engine_of, make_rig, records


def _with_form(rig: Rig) -> Case:
    """`point-query`, and beside it `other`, which is against it."""
    (phase,) = rig.suite.phases
    (first,) = (test for test in phase.tests if not test.warm_up)
    form = replace(first, name="other", base="other", against=first.name)
    rig.suite = rig.contest.suite = replace(rig.suite, phases=(Phase("all", (first, form), settle=False),))
    return replace(case_of(rig, first.name), forms=(case_of(rig, "other"),))


def _measure(rig: Rig) -> None:
    case = _with_form(rig)
    with rig.only(rig.contest.turns(0)[0]):
        measure(rig, 0, case)


def test_both_forms_of_all_targets_are_in_each_row_and_journaled_apart(tmp_path: Path) -> None:
    rig = make_rig(tmp_path, tests="point-query")
    _measure(rig)
    asked = [fields for fields in engine_of(rig).asked("rows") if "pilot" not in fields["tag"]]
    paired = [order for fields in asked for order in fields["orders"] if len(order) == 4]
    assert {frozenset(order) for order in paired} == {frozenset(("t0", "t1", "t0/other", "t1/other"))}
    rows = records(rig, "row")
    assert {(row["test"], row["row"]) for row in rows} == {
        (test, row) for test in ("point-query", "other") for row in range(len(paired))
    }
    assert all({slot["target"] for slot in row["slots"]} == {"t0", "t1"} for row in rows)
    assert rig.progress.finished == {(0, "point-query", ""), (0, "other", "")}
    assert {record["test"]: record.get("against") for record in records(rig, "slots")} == {
        "point-query": None,
        "other": "point-query",
    }
    assert engine_of(rig).known == {"t0", "t1"}


def test_counters_are_of_each_form_by_itself(tmp_path: Path) -> None:
    rig = make_rig(tmp_path, tests="point-query")
    _measure(rig)
    alone = [
        fields["orders"] for fields in engine_of(rig).asked("rows") if {len(one) for one in fields["orders"]} == {2}
    ]
    assert len(alone) == 2


def test_other_answers_of_a_form_are_told_from_other_answers_of_a_target(tmp_path: Path) -> None:
    engine = FakeEngine()
    engine.checksums = {"t1/other": "aa", "t0/other": "aa"}
    rig = make_rig(tmp_path, tests="point-query", engines=[engine])
    _measure(rig)
    checks = {record["test"]: record for record in records(rig, "check")}
    assert checks["point-query"]["agree"] and checks["other"]["agree"]
    assert checks["point-query"].get("other_than_against") is None
    assert checks["other"]["other_than_against"] == ["t0", "t1"]


@pytest.mark.parametrize("functions", [False, True])
def test_forms_share_rows_unless_profiles_have_to_tell_them_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, functions: bool
) -> None:
    rig = make_rig(tmp_path, tests="point-query", functions=functions)
    _with_form(rig)
    measured: list[list[str]] = []
    monkeypatch.setattr("dbversus.experiment.cell.block.start_block", lambda *_: None)
    monkeypatch.setattr(
        "dbversus.experiment.cell.block.measure",
        lambda _, __, case: measured.append([case.name, *(form.name for form in case.forms)]),
    )
    run_cell(rig, Cell(1, ("point-query", "other")))
    assert measured == ([["point-query"], ["other"]] if functions else [["point-query", "other"]])


def test_forms_are_retired_together(tmp_path: Path) -> None:
    rig = make_rig(tmp_path, tests="point-query")
    _with_form(rig)
    assert rig.contest.to_retire({"point-query"}) == []
    assert rig.contest.to_retire({"point-query", "other"}) == ["other", "point-query"]
