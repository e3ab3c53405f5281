"""The summary of steps: rates, what is red, green or grey in it, and what stands against the base."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dbversus.report.figures import estimate
from dbversus.report.model import Step, StepCell
from dbversus.report.parts.steps.summary import (
    BELOW,
    FASTER,
    HIGH,
    LOW,
    SLOWER,
    VOID,
    insert_mark,
    ratio_mark,
    standings,
    steps_part,
)
from dbversus.results.read import open_results
from dbversus.results.records import Series, Slots
from dbversus.results.schema import JOURNAL
from dbversus.results.stored import Results
from dbversus.stats.judge import judge
from dbversus.stats.model import Finding, Verdict

from ...synthetic import LABELS, write_results
from ..each_test.test_timeline import SECOND_NS, seconds_of

STEP = {"ops": 10, "slice_ms": 1000}
BASE, OTHER = LABELS[:2]


def planned(test: str, does: Mapping[str, str], **more: Any) -> Slots:
    return Slots(0, test, STEP, {}, 1, does=dict(does), **more)


def write(folder: Path) -> Path:
    """Results in which two tests are steps."""
    directory = write_results(folder / "results", blocks=2)
    with (directory / JOURNAL).open("ab") as journal:
        for test, does in (("point-query", "query"), ("insert", "insert")):
            series = Series(0, test, {"t0": seconds_of([(100, 2, SECOND_NS)] * 12)})
            for record in (planned(test, {"": does}), series):
                journal.write(msgspec.json.encode(record) + b"\n")
    return directory


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return open_results(write(tmp_path_factory.mktemp("steps")))


def step(rates: Mapping[str, float], failed: str = "") -> Step:
    return Step(
        "s", "rows/s", {name: StepCell(estimate([rate]), sla_failed=name in failed) for name, rate in rates.items()}
    )


def test_rates_are_means_over_blocks_and_ratios_those_of_the_verdicts(results: Results) -> None:
    findings = judge(results)
    part = steps_part(results, findings)
    assert part is not None
    assert [(one.name, one.unit) for one in part.steps] == [("point-query", "queries/s"), ("insert", "rows/s")]
    cell = part.steps[0].cells[OTHER]
    mine = (results.slots["test"] == "point-query") & (results.slots["target"] == OTHER)
    done, elapsed_ns = (float(results.slots[name][mine].sum()) for name in ("ops", "elapsed_ns"))
    assert cell.rate.n == 2 and cell.rate.value == pytest.approx(done / elapsed_ns * 1e9, rel=0.01)
    assert cell.finding in findings and cell.finding is not None and cell.finding.test == "point-query"
    assert part.steps[0].cells[BASE].finding is None
    assert part.steps[0].target_per_s is None


def test_without_steps_there_is_no_summary(results: Results) -> None:
    others = tuple(record for record in results.records if not (isinstance(record, Slots) and record.slot == STEP))
    assert steps_part(replace(results, records=others), []) is None


def test_index_builds_count_the_rows_that_they_index(results: Results) -> None:
    plan = planned("point-query", {"": "index"}, rows_scanned_per_op=1000)
    part = steps_part(replace(results, records=(*results.records, plan)), [])
    plain = steps_part(replace(results, records=(*results.records, planned("point-query", {}))), [])
    assert part and plain and (part.steps[0].unit, plain.steps[0].unit) == ("rows/s", "operations/s")
    rate, ops = (found.steps[0].cells[BASE].rate.value for found in (part, plain))
    assert rate is not None and ops is not None and rate == pytest.approx(1000 * ops)


@pytest.mark.parametrize(
    ("rates", "marks"),
    [
        ({"a": 100, "b": 180, "c": 200}, {"a": LOW, "b": HIGH, "c": HIGH}),
        ({"a": 100, "b": 150, "c": 200}, {"a": LOW, "c": HIGH}),
        ({"a": 100, "b": 125, "c": 200}, {"a": LOW, "b": LOW, "c": HIGH}),
        ({"a": 80, "b": 100}, {"b": HIGH}),  # 80 % of the highest is not so little
        ({"a": 79, "b": 100}, {"a": LOW, "b": HIGH}),
        ({"a": 100}, {}),
    ],
)
def test_quarters_of_the_range(results: Results, rates: Mapping[str, float], marks: Mapping[str, str]) -> None:
    assert standings(shown(step(rates), regression(results)), "a") == marks


def test_what_is_not_shown_to_differ_is_not_marked(results: Results) -> None:
    """Neither the target nor the base, however far apart their rates are."""
    rates, finding = step({"a": 100, "b": 200, "c": 210}), regression(results)
    assert standings(rates, "a") == {}
    for verdict in (Verdict.UNDECIDED, Verdict.EQUIVALENT, Verdict.UNSTABLE):
        assert standings(shown(rates, replace(finding, verdict=verdict)), "a") == {}
    one = replace(rates, cells={**shown(rates, finding).cells, "c": rates.cells["c"]})
    assert standings(one, "a") == {"a": LOW, "b": HIGH}


def regression(results: Results) -> Finding:
    return replace(judge(results)[0], verdict=Verdict.REGRESSION)


def shown(one: Step, finding: Finding) -> Step:
    """All but the base have this finding."""
    cells = {label: replace(cell, finding=finding if label != "a" else None) for label, cell in one.cells.items()}
    return replace(one, cells=cells)


def test_what_missed_its_sla_is_grey_and_makes_nothing_else_red(results: Results) -> None:
    for rate in (10, 900):
        one = shown(step({"a": rate, "b": 95, "c": 100}, failed="a"), regression(results))
        assert standings(one, "a") == {"a": VOID, "c": HIGH}


@pytest.mark.parametrize(
    ("low", "high", "mark"),
    [(0.90, 0.94, SLOWER), (0.90, 0.96, ""), (1.06, 1.20, FASTER), (1.04, 1.20, ""), (None, None, "")],
)
def test_a_ratio_is_marked_where_its_whole_interval_lies_beyond(
    results: Results, low: float | None, high: float | None, mark: str
) -> None:
    finding = replace(judge(results)[0], verdict=Verdict.REGRESSION, low=low, high=high)
    one = step({"a": 1, "b": 1})
    cells = {**one.cells, "b": replace(one.cells["b"], finding=finding)}
    assert ratio_mark(replace(one, cells=cells), "a", "b") == mark
    open_one = {**cells, "b": replace(cells["b"], finding=replace(finding, verdict=Verdict.UNDECIDED))}
    assert ratio_mark(replace(one, cells=open_one), "a", "b") == ""
    spoiled = {**cells, "a": replace(one.cells["a"], sla_failed=True)}
    assert ratio_mark(replace(one, cells=spoiled), "a", "b") == VOID


@pytest.mark.parametrize(("rate", "mark"), [(95.0, ""), (94.9, BELOW), (101.0, "")])
def test_insert_rates_below_what_is_enough(rate: float, mark: str) -> None:
    cell = StepCell(estimate([1.0]), estimate([rate]))
    assert insert_mark(Step("s", "queries/s", {"a": cell}, target_per_s=100.0, sla=0.95), "a") == mark
