"""Several numbers of clients in the reports, from a journal with known rates."""

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
from dbversus.report.charts.growth import growth_chart
from dbversus.report.formats import html, markdown, text
from dbversus.report.formats import json as json_report
from dbversus.report.model import Assessment
from dbversus.report.sections import scaleup
from dbversus.report.sections.scaleup import Line
from dbversus.results.read import open_results
from dbversus.results.stored import Results
from dbversus.results.write import create_results_dir
from dbversus.stats.metrics import THROUGHPUT
from dbversus.stats.model import Verdict

from ...journals import DictJournal
from ..charts.test_charts import drawn, of_class, read
from ..formats.test_html import Outline
from ..synthetic import HOSTILE

LABELS = ("postgres:16", f"postgres:17@{HOSTILE}")
CLIENTS = (1, 2, 4)
BLOCKS, ROWS = 6, 12
# operations per ms and CPU per operation (µs) of each target with each number of clients
RATES = {"scan": ((10, 19, 35), (10, 18, 30)), "insert": ((4, 6, 7), (4, 6, 7))}
COSTS = {"scan": ((50, 52, 60), (50, 53, 66)), "insert": ((90, 95, 120), (90, 95, 120))}


def _row(rng: np.random.Generator, test: str, place: int, block: int, number: int) -> dict[str, Any]:
    together = rng.normal(0, 0.05)
    slots: list[dict[str, Any]] = []
    for position in (0, 1) if number % 2 else (1, 0):
        own = together + rng.normal(0, 0.004)
        ops = round(RATES[test][position][place] * 50 * 20 * math.exp(-own))
        cost_ns = COSTS[test][position][place] * 1000 * math.exp(rng.normal(0, 0.004))
        figures = {"elapsed_ns": 50_000_000, "ops": ops, "server_cpu_ns": round(ops * cost_ns), "errors": {}}
        slots.append({"target": f"t{position}", "position": len(slots), **figures})
    tag = {"block": block, "test": f"{test}@{CLIENTS[place]}", "clients": CLIENTS[place]}
    return {"type": "row", **tag, "row": number, "started_unix_ns": 1, "disturbed": False, "slots": slots}


def write(folder: Path) -> Path:
    rng = np.random.default_rng(3)
    directory = create_results_dir(folder / "results")
    targets = [
        {"name": f"t{n}", "label": label, "dbms": "postgres", "version": "17", "config": ""}
        for n, label in enumerate(LABELS)
    ]
    names = [f"{test}@{count}" for test in RATES for count in CLIENTS]
    with DictJournal(directory) as journal:
        header = {"schema": 2, "targets": targets, "tests": ["load", *names], "clients": list(CLIENTS), "looks": [6]}
        journal.append({"type": "experiment", **header})
        for block in range(BLOCKS):
            for test in RATES:
                for place in range(len(CLIENTS)):
                    for number in range(ROWS):
                        journal.append(_row(rng, test, place, block, number))
    return directory


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("scaleup"))


@pytest.fixture(scope="module")
def stored(directory: Path) -> Results:
    return open_results(directory)


@pytest.fixture(scope="module")
def judged(stored: Results) -> Assessment:
    return build_assessment(stored)


def line_of(results: Results, test: str, label: str) -> Line:
    lines = scaleup.lines_of(results, CLIENTS)
    return next(line for line in lines if (line.test, line.target) == (test, label))


@pytest.mark.parametrize("target", [0, 1])
@pytest.mark.parametrize("test", list(RATES))
def test_ratios_hold_the_truth(stored: Results, test: str, target: int) -> None:
    line = line_of(stored, test, LABELS[target])
    for place, count in list(enumerate(CLIENTS))[1:]:
        for ratio, figures in ((line.throughput[count], RATES), (line.ratios["cpu_per_op"][count], COSTS)):
            truth = figures[test][target][place] / figures[test][target][0]
            assert ratio.low is not None and ratio.high is not None
            assert ratio.low < ratio.value < ratio.high
            assert ratio.value == pytest.approx(truth, rel=0.06)
            assert ratio.blocks == BLOCKS


def test_against_the_base_what_rows_have_in_common_cancels(stored: Results) -> None:
    line = line_of(stored, "scan", LABELS[1])
    found, own = line.ratios["throughput_over_base"][4], line.throughput[4]
    assert found.value == pytest.approx((30 / 10) / (35 / 10), rel=0.01)
    assert found.low and found.high and own.low and own.high
    assert math.log(found.high / found.low) < math.log(own.high / own.low) / 2
    assert line_of(stored, "scan", LABELS[0]).ratios["throughput_over_base"] == {}


def test_verdicts_over_all_numbers_of_clients(judged: Assessment) -> None:
    pooled = {item.test: item for item in judged.over_clients}
    assert pooled["scan@all"].verdict is Verdict.REGRESSION
    assert pooled["insert@all"].verdict is Verdict.EQUIVALENT
    truth = (18 / 19 * 30 / 35) ** (1 / 3)
    assert pooled["scan@all"].findings[THROUGHPUT].ratio == pytest.approx(truth, rel=0.01)
    assert {item.test for item in judged.comparisons} == {f"{test}@{count}" for test in RATES for count in CLIENTS}


def test_they_change_no_other_verdict(judged: Assessment) -> None:
    assert all("@all" not in finding.test for finding in judged.findings)
    assert sum(judged.targets[1].verdict_counts.values()) == len(RATES) * len(CLIENTS)


def test_findings_can_be_queried_with_the_others(stored: Results) -> None:
    asked = "SELECT verdict FROM findings WHERE test = 'insert@all' AND metric = 'server_cpu_us_per_op'"
    ((_, rows),) = query(stored, asked)
    assert rows == [("equivalent",)]


def test_wrong_answers_of_one_case_spoil_the_whole(tmp_path: Path) -> None:
    directory = write(tmp_path)
    with DictJournal(directory) as journal:
        answers = {"t0": {"rows": 1, "affected": 0, "checksum": "a"}, "t1": {"rows": 1, "affected": 0, "checksum": "b"}}
        journal.append({"type": "check", "test": "insert@2", "targets": answers, "agree": False, "differs": ["t1"]})
    found = judged_of(open_results(directory)).over_clients
    assert {item.test: item.verdict for item in found}["insert@all"] is Verdict.WRONG_RESULT


def test_every_report_has_the_tables(judged: Assessment) -> None:
    out = io.StringIO()
    text.render(judged, Console(file=out))
    assert "With more clients, against 1 client" in out.getvalue()
    assert "throughput 4/1 over base's" in out.getvalue()
    shown = markdown.render(judged)
    assert "## Verdicts over all numbers of clients" in shown
    assert HOSTILE not in shown
    page = html.render(judged)
    assert HOSTILE not in page
    outline = Outline()
    outline.feed(page)
    assert "scaleup-title" in outline.ids and outline.open == []
    content = json.loads(json.dumps(json_report.as_json(judged), allow_nan=False, default=str))["scaleup"]
    assert content["clients"] == list(CLIENTS)
    assert content["tests"][0]["throughput"]["2"]["blocks"] == BLOCKS
    assert {item["test"] for item in content["all_clients"]} == {"scan@all", "insert@all"}


def test_the_page_has_a_curve_per_test_with_the_ratios_of_the_table(judged: Assessment, stored: Results) -> None:
    line = line_of(stored, "scan", LABELS[1])
    curves = {label: line_of(stored, "scan", label).throughput for label in LABELS}
    root = drawn(growth_chart(curves, CLIENTS, "scan", LABELS))
    lines = of_class(root, "curve")
    assert len(lines) == len(LABELS) and len(of_class(root, "whisker")) == len(LABELS)
    assert read(root, lines[1]) == [
        ("1", "1"),
        *((str(count), f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]") for count, one in line.throughput.items()),
    ]
    for axis in (*of_class(root, "x"), *of_class(root, "y")):
        assert len(list(axis)) >= 3
    section = html.render(judged).partition('id="scaleup-title"')[2].partition("</section>")[0]
    assert section.count('class="plot"') == len(RATES) and HOSTILE not in section
    assert section.count('class="targets"') == 1
    assert growth_chart(curves, (1, 4), "scan", LABELS) == ""


@pytest.mark.parametrize("width", [80, 200])
def test_terminal_lines_fit_its_width(judged: Assessment, width: int) -> None:
    out = io.StringIO()
    text.render(judged, Console(file=out, force_terminal=True, width=width, no_color=True, color_system=None))
    assert max(map(len, out.getvalue().splitlines())) <= width


def test_as_a_table_for_other_programs(directory: Path) -> None:
    done = CliRunner().invoke(app, ["show", str(directory), "--table", "scaleup", "--format", "json"])
    lines = json.loads(done.stdout)
    assert len(lines) == len(RATES) * len(LABELS) * (len(CLIENTS) - 1)
    assert lines[0]["test"] == "scan" and lines[0]["clients"] == 2 and lines[0]["of_clients"] == 1
    assert lines[0]["throughput_ratio"] == pytest.approx(1.9, rel=0.06)
    assert lines[0]["throughput_over_base_ratio"] is None


def test_one_number_of_clients_has_nothing_of_it(results: Results, results_dir: Path, assessment: Assessment) -> None:
    assert scaleup.section(judged_of(results)) is None
    assert json_report.as_json(assessment)["scaleup"] is None
    assert "clients" not in html.render(assessment).partition("<main>")[2].partition("Test by test")[0].lower()
