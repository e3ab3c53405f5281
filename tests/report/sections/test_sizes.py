"""Several sizes of tables in the reports, from a journal with known rates: a regression that only large tables have."""

import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from dbversus.cli.main import app
from dbversus.report.assessment import build_assessment, judged_of, query
from dbversus.report.formats import html, markdown, text
from dbversus.report.formats import json as json_report
from dbversus.report.model import Assessment
from dbversus.report.sections import sizes
from dbversus.report.sections.contrast import dependence
from dbversus.report.sections.sizes import OF_SIZES
from dbversus.results.read import open_results
from dbversus.results.stored import Results
from dbversus.results.write import create_results_dir
from dbversus.stats.comparison import Comparison
from dbversus.stats.metrics import CPU
from dbversus.stats.model import Finding, Verdict

from ...journals import DictJournal
from ..synthetic import HOSTILE

LABELS = ("postgres:16", f"postgres:17@{HOSTILE}")
SIZES = ("1k", "10m")
# CPU per operation (µs) of both targets on tables of each size
COSTS = {"join": ((50, 90), (50, 117)), "point": ((20, 25), (20, 25)), "scan": ((30, 60), (33, 66))}
BLOCKS, ROWS = 6, 12


def _row(rng: np.random.Generator, test: str, place: int, block: int, number: int) -> dict[str, Any]:
    together = rng.normal(0, 0.05)
    slots: list[dict[str, Any]] = []
    for position in (0, 1) if number % 2 else (1, 0):
        cost_us = COSTS[test][position][place] * math.exp(together + rng.normal(0, 0.004))
        ops = round(50_000 / cost_us)
        figures = {"elapsed_ns": 50_000_000, "ops": ops, "server_cpu_ns": round(ops * cost_us * 1000), "errors": {}}
        slots.append({"target": f"t{position}", "position": len(slots), **figures})
    tag = {"block": block, "test": f"{test}@{SIZES[place]}", "clients": 1}
    return {"type": "row", **tag, "row": number, "started_unix_ns": 1, "disturbed": False, "slots": slots}


def write(folder: Path) -> Path:
    rng = np.random.default_rng(3)
    directory = create_results_dir(folder / "results")
    targets = [
        {"name": f"t{n}", "label": label, "dbms": "postgres", "version": "17", "config": ""}
        for n, label in enumerate(LABELS)
    ]
    names = [f"{test}@{size}" for test in COSTS for size in SIZES]
    with DictJournal(directory) as journal:
        of_tables = {"table_size": 1000, "table_sizes": [1000, 10_000_000]}
        header = {"schema": 2, "targets": targets, "tests": ["load", *names], "clients": [1], "looks": [6], **of_tables}
        journal.append({"type": "experiment", **header})
        for block in range(BLOCKS):
            for test in COSTS:
                for place in range(len(SIZES)):
                    for number in range(ROWS):
                        journal.append(_row(rng, test, place, block, number))
    for number, plan in enumerate(("Hash Join (cost=1.00)", "Seq Scan on t (cost=9.00)")):
        folder = directory / "servers" / f"t{number}"
        folder.mkdir(parents=True)
        plans = {"join@1k/q": "Hash Join (cost=2.00)", "join@10m/q": plan, "point@1k/q": "A", "point@10m/q": "A"}
        (folder / "plans.json").write_text(json.dumps(plans))
    return directory


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("sizes"))


@pytest.fixture(scope="module")
def stored(directory: Path) -> Results:
    return open_results(directory)


@pytest.fixture(scope="module")
def judged(stored: Results) -> Assessment:
    return build_assessment(stored)


def test_a_regression_of_large_tables_alone_is_said_to_be_that(stored: Results) -> None:
    found = sizes.of_experiment(stored, judged_of(stored).comparisons)
    assert found
    lines = {line.test: line for line in found.lines}
    only = "the regression is there only with 10m rows per table"
    assert (
        lines["join"].sentence == f"throughput and CPU/op: {only}"
        or lines["join"].sentence == f"CPU/op and throughput: {only}"
    )
    assert lines["join"].plans == (f"the plan of q on {LABELS[1]} is another with 10m rows than with 1k",)
    assert lines["point"].plans == ()
    assert lines["point"].sentence == lines["scan"].sentence == "the same with all sizes"
    finding = lines["join"].interactions[10_000_000][CPU]
    assert finding.low and finding.high and finding.low < 1.3 < finding.high and finding.blocks == BLOCKS
    assert lines["scan"].comparisons[1000].verdict is Verdict.REGRESSION


def test_every_report_shows_it(judged: Assessment) -> None:
    said = io.StringIO()
    text.render(judged, Console(file=said, width=300))
    for shown in (said.getvalue(), markdown.render(judged), html.render(judged)):
        assert "the regression is there only with 10m rows per table" in shown
        assert "10m over 1k" in shown
    assert HOSTILE not in html.render(judged)
    assert "table size 1,000 and 10,000,000" in markdown.render(judged)
    found = json.loads(json_report.render(judged))["sizes"]
    assert found["table_sizes"] == [1000, 10_000_000]
    (join,) = [one for one in found["tests"] if one["test"] == "join"]
    assert join["verdicts"] == {"1000": "equivalent", "10000000": "regression"}
    assert join["interactions"]["10000000"][CPU]["ratio"] == pytest.approx(1.3, rel=0.02)


def test_show_gives_it_as_a_table_and_to_sql(directory: Path, stored: Results) -> None:
    done = CliRunner().invoke(app, ["show", str(directory), "--table", "sizes", "--format", "csv"])
    assert done.exit_code == 0 and "join" in done.output and "10000000" in done.output
    ((_, rows),) = query(stored, "SELECT count(*) FROM findings WHERE test = 'join@10m/1k' AND verdict = 'regression'")
    assert rows[0][0] >= 1


def finding(metric: str, verdict: Verdict) -> Finding:
    return Finding("t", "b", metric, verdict, 1.1, 1.0, 1.2, 0.95, 4, None, None, 0.05, None, None, None)


def comparison(cpu: Verdict) -> Comparison:
    return Comparison("t", "b", cpu, {CPU: finding(CPU, cpu)})


E, R, I, U = Verdict.EQUIVALENT, Verdict.REGRESSION, Verdict.IMPROVEMENT, Verdict.UNDECIDED  # noqa: E741
S = Verdict.SMALL_CHANGE


@pytest.mark.parametrize(
    ("small", "large", "interaction", "expected"),
    [
        (E, R, R, "CPU/op: the regression is there only with 10m rows per table"),
        (R, E, I, "CPU/op: the regression is there only with 1k rows per table"),
        (
            I,
            R,
            R,
            "CPU/op: an improvement with 1k rows per table, a regression with 10m, worse against the base with larger tables",
        ),
        (
            U,
            R,
            R,
            "CPU/op: a regression with 10m rows per table, undecided with 1k, worse against the base with larger tables",
        ),
        (R, R, R, "CPU/op: a regression with all sizes, worse against the base with larger tables"),
        (E, R, U, "a regression with 10m rows per table, equivalent with 1k; that it depends on the size is not shown"),
        (R, R, E, "the same with all sizes"),
        (R, R, S, "the same with all sizes"),
        (
            S,
            R,
            R,
            "CPU/op: a regression with 10m rows per table, a small change with 1k, worse against the base with larger tables",
        ),
        (R, R, U, "not shown to depend on the size"),
    ],
)
def test_words(small: Verdict, large: Verdict, interaction: Verdict, expected: str) -> None:
    of_size = {1000: comparison(small), 10_000_000: comparison(large)}
    assert dependence(of_size, {10_000_000: {CPU: finding(CPU, interaction)}}, OF_SIZES) == expected


def test_a_size_that_was_not_measured_is_named() -> None:
    failed = Comparison("t", "b", Verdict.FAILED, {})
    assert dependence({1000: comparison(R), 10_000_000: failed}, {10_000_000: {}}, OF_SIZES) == (
        "a regression with 1k rows per table, failed with 10m; that it depends on the size is not shown"
    )
