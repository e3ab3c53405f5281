"""Tests against each other, from a journal in which one form costs 20 % more CPU on each of the targets, and on one alone."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dbversus.report.assessment import build_assessment
from dbversus.report.formats import html, markdown, pull_request
from dbversus.report.formats import json as json_report
from dbversus.results.read import open_results
from dbversus.results.stored import Results
from dbversus.results.write import create_results_dir
from dbversus.stats.forms import compare_forms, open_forms
from dbversus.stats.metrics import CPU
from dbversus.stats.model import Verdict

from ...journals import DictJournal

BLOCKS, ROWS = 6, 12
COSTS = {"plain": 20.0, "text": 24.0, "same": 20.0}


def write(folder: Path, targets: int, other_answers: tuple[str, ...] = ()) -> Results:
    rng = np.random.default_rng(5)
    directory = create_results_dir(folder / "results")
    facts = [
        {"name": f"t{n}", "label": f"postgres:1{6 + n}", "dbms": "postgres", "version": "17", "config": ""}
        for n in range(targets)
    ]
    with DictJournal(directory) as journal:
        header = {"schema": 2, "targets": facts, "tests": list(COSTS), "clients": [1], "looks": [6]}
        journal.append({"type": "experiment", **header})
        answers = {fact["name"]: {"rows": 1, "affected": 0, "checksum": "9f"} for fact in facts}
        for test in COSTS:
            against = None if test == "plain" else "plain"
            plan = {"slot": {"ms": 20, "min_ops": 1}, "settle": {"ms": 2, "min_ops": 1}, "rows": ROWS}
            journal.append({"type": "slots", "block": 0, "test": test, **plan, "against": against})
            others = list(other_answers) if test == "text" else None
            check = {"targets": answers, "agree": True, "differs": [], "other_than_against": others}
            journal.append({"type": "check", "test": test, **check})
        for block in range(BLOCKS):
            for number in range(ROWS):
                together = rng.normal(0, 0.3)  # what the host does to all slots of a row
                for test in COSTS:
                    journal.append(_row(rng, test, block, number, targets, together))
    return open_results(directory)


def _row(rng: np.random.Generator, test: str, block: int, number: int, targets: int, together: float) -> dict[str, Any]:
    slots: list[dict[str, Any]] = []
    for target in range(targets):
        ops = round(20_000 * math.exp(rng.normal(0, 0.004)))
        cost_ns = COSTS[test] * 1000 * math.exp(together + rng.normal(0, 0.004))
        figures = {"elapsed_ns": 50_000_000, "ops": ops, "server_cpu_ns": round(ops * cost_ns), "errors": {}}
        slots.append({"target": f"t{target}", "position": len(slots), **figures})
    tag = {"block": block, "test": test, "clients": 1}
    return {"type": "row", **tag, "row": number, "started_unix_ns": 1, "disturbed": False, "slots": slots}


@pytest.mark.parametrize("targets", [1, 2])
def test_forms_are_judged_on_each_target_from_pairs_of_the_same_rows(tmp_path: Path, targets: int) -> None:
    results = write(tmp_path, targets)
    found = {one.pair.name: one.comparison for one in compare_forms(results)}
    assert len(found) == 2 * targets
    for label in (target.label for target in results.targets):
        text, same = found[f"text ÷ plain on {label}"], found[f"same ÷ plain on {label}"]
        assert (text.test, text.target) == ("text ÷ plain", label)
        assert text.verdict is Verdict.REGRESSION and text.findings[CPU].ratio == pytest.approx(1.2, abs=0.01)
        assert same.verdict is Verdict.EQUIVALENT


def test_a_form_with_other_answers_is_a_wrong_result(tmp_path: Path) -> None:
    found = {one.pair.name: one.comparison.verdict for one in compare_forms(write(tmp_path, 2, ("t1",)))}
    assert found["text ÷ plain on postgres:17"] is Verdict.WRONG_RESULT
    assert found["text ÷ plain on postgres:16"] is Verdict.REGRESSION


def test_reports_tell_the_forms_in_a_sentence_and_a_table(tmp_path: Path) -> None:
    assessment = build_assessment(write(tmp_path, 1))
    said = markdown.render(assessment)
    assert "text ÷ plain on postgres:16: regression, server CPU per op +20" in said
    forms = json_report.as_json(assessment)["forms"]
    assert [(one["test"], one["against"], one["verdict"]) for one in forms] == [
        ("text", "plain", "regression"),
        ("same", "plain", "equivalent"),
    ]
    assert forms[0]["planning_ms"] == {"against": None, "test": None}
    assert forms[0]["findings"][CPU]["ratio"] == pytest.approx(1.2, abs=0.01)


def test_planning_is_told_beside_the_verdict(tmp_path: Path) -> None:
    results = write(tmp_path, 1)
    plans = {"plain/s": "Planning Time: 0.010 ms", "text/s": "Planning Time: 0.250 ms"}
    folder = results.directory / "servers" / "t0"
    folder.mkdir(parents=True)
    (folder / "executed.json").write_text(json.dumps(plans))
    assert "(6 blocks; planning 0.01000 → 0.2500 ms)" in markdown.render(build_assessment(results))


def test_planning_that_is_told_apart_from_plans_counts_as_well(tmp_path: Path) -> None:
    results = write(tmp_path, 1)
    folder = results.directory / "servers" / "t0"
    folder.mkdir(parents=True)
    (folder / "planning.json").write_text(json.dumps({"plain/s": 0.01, "text/s": 0.25}))
    assert "(6 blocks; planning 0.01000 → 0.2500 ms)" in markdown.render(build_assessment(results))


def test_a_change_that_is_to_be_measured_again_holds_up_both_tests(tmp_path: Path) -> None:
    assert open_forms(write(tmp_path, 1)) == {"text", "plain"}


def test_one_target_with_forms_is_not_said_to_have_nothing_to_compare(tmp_path: Path) -> None:
    assessment = build_assessment(write(tmp_path, 1))
    for said in (html.render(assessment), pull_request.render(assessment), assessment.of_one_target):
        assert "nothing to compare" not in said
    assert "forms of its statements are compared" in html.render(assessment)
    assert " ÷ " in pull_request.render(assessment)
