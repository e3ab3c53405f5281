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
    SLOWER,
    VOID,
    insert_mark,
    rate_mark,
    ratio_mark,
    steps_part,
)
from dbversus.results.read import open_results
from dbversus.results.records import Series, Slots
from dbversus.results.schema import JOURNAL
from dbversus.results.stored import Results
from dbversus.stats.judge import judge
from dbversus.stats.model import Verdict

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


def test_what_missed_its_sla_does_not_count(results: Results) -> None:
    one = step({"a": 10, "b": 95}, failed="a")
    assert (rate_mark(one, "a"), rate_mark(one, "b")) == (VOID, "")


@pytest.mark.parametrize(
    ("verdict", "mark"),
    [
        (Verdict.REGRESSION, SLOWER),
        (Verdict.IMPROVEMENT, FASTER),
        *((verdict, "") for verdict in (Verdict.SMALL_CHANGE, Verdict.UNDECIDED, Verdict.UNSTABLE, Verdict.EQUIVALENT)),
    ],
)
def test_a_ratio_has_the_mark_of_its_verdict(results: Results, verdict: Verdict, mark: str) -> None:
    """However far from 1 it is."""
    finding = replace(judge(results)[0], verdict=verdict, low=0.1, high=0.2)
    one = step({"a": 1, "b": 1})
    cells = {**one.cells, "b": replace(one.cells["b"], finding=finding)}
    assert ratio_mark(replace(one, cells=cells), "a", "b") == mark
    spoiled = {**cells, "a": replace(one.cells["a"], sla_failed=True)}
    assert ratio_mark(replace(one, cells=spoiled), "a", "b") == VOID


@pytest.mark.parametrize(("rate", "mark"), [(95.0, ""), (94.9, BELOW), (101.0, "")])
def test_insert_rates_below_what_is_enough(rate: float, mark: str) -> None:
    cell = StepCell(estimate([1.0]), estimate([rate]))
    assert insert_mark(Step("s", "queries/s", {"a": cell}, target_per_s=100.0, sla=0.95), "a") == mark
