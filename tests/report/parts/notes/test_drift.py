"""A test without a steady state, in every report: synthetic slots in which the CPU per op of one target moves."""

import io
import json
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from dbversus.report.assessment import build_assessment
from dbversus.report.formats import html, markdown, text
from dbversus.report.formats import json as json_report
from dbversus.report.model import Assessment
from dbversus.results.stored import Results
from dbversus.stats.metrics import CPU
from dbversus.stats.model import Verdict

from ...synthetic import LABELS, ROWS

TEST = "range-covered-pk"


def moved(results: Results, targets: tuple[str, ...], by: float = 0.4, level: float = 0.0) -> Results:
    """CPU per op of these targets in TEST moves by `by` (of ln) over each block's slots, around `level`."""
    slots = dict(results.slots)
    chosen = (slots["test"] == TEST) & np.isin(slots["target"].astype(str), targets)
    factor = np.where(chosen, np.exp(level + by * ((slots["row"] + 0.5) / ROWS - 0.5)), 1.0)
    slots["server_cpu_ns"] = np.ma.masked_array(np.round(slots["server_cpu_ns"] * factor))
    return replace(results, slots=slots)


@pytest.fixture(scope="module")
def drifted(results: Results) -> Assessment:
    return build_assessment(moved(results, (LABELS[1],)))


def verdict_of(assessment: Assessment, label: str, test: str = TEST) -> Verdict:
    return next(item.verdict for item in assessment.comparisons if (item.test, item.target) == (test, label))


def test_the_verdict_and_its_note(drifted: Assessment, assessment: Assessment) -> None:
    assert verdict_of(drifted, LABELS[1]) is Verdict.NO_STEADY_STATE
    assert verdict_of(drifted, LABELS[2]) is verdict_of(assessment, LABELS[2])
    (comparison,) = [item for item in drifted.comparisons if (item.test, item.target) == (TEST, LABELS[1])]
    assert "moved by +" in comparison.notes[0] and "over all its work" in comparison.notes[0]
    others = [item.test for item in drifted.comparisons if item.verdict is Verdict.NO_STEADY_STATE]
    assert others == [TEST]
    assert all(item.verdict is not Verdict.NO_STEADY_STATE for item in assessment.comparisons)


def test_the_summary_names_it_with_what_all_work_comes_to(drifted: Assessment) -> None:
    (said,) = [sentence for sentence in drifted.targets[1].sentences if "no steady state" in sentence]
    assert said.startswith(f"1 had no steady state, so all its work is judged: {TEST} (CPU/op ")


def test_every_report_shows_it(drifted: Assessment) -> None:
    out = io.StringIO()
    text.render(drifted, Console(file=out))
    assert "↗ no steady state" in out.getvalue()
    assert "↗ no steady state" in markdown.render(drifted)
    assert 'class="badge no-steady-state"' in html.render(drifted)
    found = next(test for test in json_report.as_json(drifted)["tests"] if test["name"] == TEST)
    finding = json.loads(json.dumps(found["comparisons"][0]["findings"][CPU]))
    assert (finding["verdict"], finding["whole_work"]) == ("no steady state", "equivalent")


def test_it_fails_a_run_that_must_not_regress_when_all_its_work_is_worse(results: Results) -> None:
    def alone(by: float, level: float) -> Assessment:
        full = build_assessment(moved(results, (LABELS[1],), by, level))
        return replace(full, tests=tuple(test for test in full.tests if test.name == TEST))

    steady, same, worse = alone(0.0, 0.0), alone(0.4, 0.0), alone(0.4, 0.3)
    assert [any(item.is_worse for item in each.comparisons) for each in (steady, same, worse)] == [False, False, True]
    assert verdict_of(worse, LABELS[1]) is Verdict.REGRESSION
    (comparison,) = [item for item in worse.comparisons if (item.test, item.target) == (TEST, LABELS[1])]
    assert "moved by +" in comparison.notes[0]


def test_what_all_targets_do_alike_is_a_note_and_no_verdict(results: Results, assessment: Assessment) -> None:
    alike = build_assessment(moved(results, LABELS))
    assert verdict_of(alike, LABELS[1]) is verdict_of(assessment, LABELS[1])
    (part,) = [test for test in alike.tests if test.name == TEST]
    assert sum("during the slots of a block" in note for note in part.notes) == 3
