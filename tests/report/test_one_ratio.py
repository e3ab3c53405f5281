"""One ratio has one estimate: target ÷ base of absolute figures is the ratio of the verdict, in whatever table both stand."""

import json
import lzma
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dbversus.report.assessment import build_assessment
from dbversus.report.formats.json import as_json
from dbversus.report.model import Assessment
from dbversus.report.sections.matrix import build_matrix
from dbversus.report.show import show
from dbversus.results.read import open_results
from dbversus.results.stored import Results
from dbversus.stats.judge import judge
from dbversus.stats.judgeable import P95, P99
from dbversus.stats.metrics import (
    BACKGROUND_CPU,
    COUNTER,
    CPU,
    FOREGROUND_CPU,
    SYSTEM_CPU,
    THROUGHPUT,
    USER_CPU,
    metric_named,
)
from dbversus.stats.values.server_counters import FLOOR_PER_OP

from .synthetic import Truth, write_results

RUNS = Path(__file__).parents[1] / "data/runs"
TESTS = ("point-query", "scan", "update-index")


def drawn(name: str, rng: np.random.Generator) -> Truth:
    def factors() -> tuple[float, float]:
        first, second = np.exp(rng.uniform(-1.6, 1.6, 2)).tolist()
        return first, second

    return Truth(
        name,
        micros=float(np.exp(rng.uniform(3, 11))),
        cpu=factors(),
        time=factors(),
        io=factors(),
        io_bytes=float(rng.choice([0, 30, 5000])),
        spread=float(rng.choice([0, 0.01, 0.3])),
    )


@pytest.mark.parametrize("seed", range(6))
def test_of_random_journals(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    tests = tuple(drawn(name, rng) for name in TESTS)
    blocks, targets = int(rng.integers(1, 6)), int(rng.integers(2, 4))
    check(open_results(write_results(tmp_path / "r", targets=targets, rows=9, blocks=blocks, truths=tests)))


@pytest.mark.parametrize("name", ["sqlite-demo-steal", "postgres-11-13", "postgres-settings-busy"])
def test_of_stored_runs(name: str, tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_bytes(lzma.decompress((RUNS / f"{name}.jsonl.xz").read_bytes()))
    check(open_results(tmp_path))


def check(results: Results) -> None:
    assessment = build_assessment(results)
    _check_figures(json.loads(json.dumps(as_json(assessment), default=str)), assessment.base.label)
    _check_views(results)
    _check_blocks(assessment)
    _check_parts(assessment)


def _check_figures(report: Any, base: str) -> None:
    """All figures of tests as every format shows them, and percentiles of response time."""
    for test in report["tests"]:
        figures = {figure["metric"]: figure["targets"] for figure in test["figures"]}
        rates = [estimate["value"] for estimate in figures[THROUGHPUT].values()]
        for comparison in test["comparisons"]:
            label, latency = comparison["target"], test["latency"]
            ratios = {name: one["ratio"] for name, one in comparison["findings"].items() if one["ratio"]}
            for metric in figures.keys() & ratios.keys():
                mine, theirs = (figures[metric][target]["value"] for target in (label, base))
                if not _is_nothing(metric, rates, mine, theirs):
                    assert mine / theirs == pytest.approx(ratios[metric]), (test["name"], metric)
            for metric, rank in {P95: "95", P99: "99"}.items():
                if metric in ratios:
                    mine, theirs = (latency[target]["percentiles_us"][rank]["value"] for target in (label, base))
                    assert mine / theirs == pytest.approx(ratios[metric])


def _is_nothing(metric: str, rates: list[float], *values: float | None) -> bool:
    """A ratio to what is under the floor is one to the floor."""
    if metric.startswith(COUNTER):
        floor = FLOOR_PER_OP
    else:
        known = metric_named(metric)
        floor = max(known.floor, known.rate_floor / min(rate for rate in rates if rate))
    return any(not value or value < floor for value in values)


def _check_views(results: Results) -> None:
    ratios = {one.key: one.ratio for one in judge(results)}
    shown = {
        (row["test"], row["target"]): row
        for table in ("efficiency", "throughput")
        for row in _rows(table, results)
        if row["test"] != "load"
    }
    base = results.base.label
    for (test, label), row in shown.items():
        if label != base and (ratio := ratios.get((test, label, THROUGHPUT))):
            assert row["ops_per_s"] / shown[test, base]["ops_per_s"] == pytest.approx(ratio, rel=1e-4)
    efficiency = {(row["test"], row["target"]): row for row in _rows("efficiency", results)}
    for (test, label), row in efficiency.items():
        for column, metric in (("o/s", THROUGHPUT), ("cpu/o", CPU)):
            if ratio := ratios.get((test, label, metric)):
                rounding = 0.006 / efficiency[test, base][column] + 0.006 / row[column]
                assert row[f"{column} ratio"] == pytest.approx(ratio, rel=rounding + 1e-6)
    rows = {line.label: line for line in build_matrix(results).rows}
    for line in rows.values():
        for test, cell in line.cells.items():
            reference = rows[line.reference].cells[test]
            assert cell.ops_per_s.value and reference.ops_per_s.value and cell.ratio.value
            assert cell.ops_per_s.value / reference.ops_per_s.value == pytest.approx(cell.ratio.value)


def _rows(table: str, results: Results) -> list[dict[str, Any]]:
    shown = show(table, results)
    return [dict(zip(shown.columns, row, strict=True)) for row in shown.rows]


def _check_blocks(assessment: Assessment) -> None:
    """The mark of all blocks in a chart lies among those of blocks."""
    for test in assessment.tests:
        for slots in test.slots:
            (comparison,) = (one for one in test.comparisons if one.target == slots.target)
            for metric, of_blocks in slots.blocks.items():
                if (finding := comparison.findings.get(metric)) and finding.ratio:
                    least, most = min(of_blocks.values()), max(of_blocks.values())
                    assert least - 1e-9 <= math.log(finding.ratio) <= most + 1e-9, (test.name, metric, finding)


def _check_parts(assessment: Assessment) -> None:
    for test in assessment.tests:
        values = {figure.metric: figure.estimates for figure in test.figures}
        for parts in ((USER_CPU, SYSTEM_CPU), (FOREGROUND_CPU, BACKGROUND_CPU)):
            for label, whole in values[CPU].items():
                known = [values[part][label].value for part in parts if part in values]
                if whole.value and len(known) == len(parts) and None not in known:
                    assert sum(value or 0.0 for value in known) == pytest.approx(whole.value, rel=1e-4)
