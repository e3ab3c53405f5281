"""Tests before and after writes, from a journal with known rates: one target slows down, and one of its tests costs more CPU."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dbversus.report.assessment import build_assessment
from dbversus.report.formats import html, markdown
from dbversus.report.formats import json as json_report
from dbversus.report.model import Assessment
from dbversus.report.sections.after_writes import Line, lines_of, note, pairs_of, sentences
from dbversus.results.read import open_results
from dbversus.results.stored import Results
from dbversus.results.write import create_results_dir
from dbversus.stats.metrics import CPU, THROUGHPUT

from ...journals import DictJournal
from ..formats.test_html import Outline
from ..synthetic import HOSTILE

LABELS = ("postgres:16", f"postgres:17@{HOSTILE}")
BLOCKS, ROWS = 6, 12
# operations per ms, and CPU per operation (µs), of both targets
RATES = {"point.pre": (20, 20), "scan.pre": (10, 10), "update": (5, 5), "point": (20, 20), "scan": (9, 7)}
COSTS = {"point.pre": (20, 20), "scan.pre": (50, 50), "update": (90, 90), "point": (20, 24), "scan": (55, 70)}


def _row(rng: np.random.Generator, test: str, block: int, number: int) -> dict[str, Any]:
    together = rng.normal(0, 0.05)
    slots: list[dict[str, Any]] = []
    for position in (0, 1) if number % 2 else (1, 0):
        ops = round(RATES[test][position] * 1000 * math.exp(together + rng.normal(0, 0.004)))
        cost_ns = COSTS[test][position] * 1000 * math.exp(rng.normal(0, 0.004))
        figures = {"elapsed_ns": 50_000_000, "ops": ops, "server_cpu_ns": round(ops * cost_ns), "errors": {}}
        slots.append({"target": f"t{position}", "position": len(slots), **figures})
    tag = {"block": block, "test": test, "clients": 1}
    return {"type": "row", **tag, "row": number, "started_unix_ns": 1, "disturbed": False, "slots": slots}


def write(folder: Path, blocks: int = BLOCKS) -> Path:
    rng = np.random.default_rng(3)
    directory = create_results_dir(folder / "results")
    targets = [
        {"name": f"t{n}", "label": label, "dbms": "postgres", "version": "17", "config": ""}
        for n, label in enumerate(LABELS)
    ]
    with DictJournal(directory) as journal:
        header = {"schema": 2, "targets": targets, "tests": list(RATES), "clients": [1], "looks": [6]}
        journal.append({"type": "experiment", **header})
        for block in range(blocks):
            for test in RATES:
                for number in range(ROWS):
                    journal.append(_row(rng, test, block, number))
    return directory


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return open_results(write(tmp_path_factory.mktemp("after")))


def line_of(stored: Results, test: str, target: int) -> Line:
    return next(one for one in lines_of(stored) if (one.after, one.target) == (test, LABELS[target]))


def test_which_tests_belong_together() -> None:
    names = ["a.pre", "b.pre", "c.pre", "a", "b.post", "b", "d", "e.pre@1", "e.pre@4", "e@4", "f.pre@10m@2", "f@10m@2"]
    names += ["g.pre.range100@1", "g.range100@1"]
    assert pairs_of(names) == [
        ("a.pre", "a"),
        ("b.pre", "b.post"),
        ("e.pre@4", "e@4"),
        ("f.pre@10m@2", "f@10m@2"),
        ("g.pre.range100@1", "g.range100@1"),
    ]


@pytest.mark.parametrize("target", [0, 1])
@pytest.mark.parametrize("test", ["point", "scan"])
def test_ratios_hold_the_truth(stored: Results, test: str, target: int) -> None:
    line = line_of(stored, test, target)
    for metric, figures in ((THROUGHPUT, RATES), (CPU, COSTS)):
        found, truth = line.ratios[metric], figures[test][target] / figures[f"{test}.pre"][target]
        assert found.low and found.high and found.low < found.value < found.high
        assert found.value == pytest.approx(truth, rel=0.06)
        assert found.blocks == BLOCKS


def test_against_the_base_what_the_host_does_cancels(stored: Results) -> None:
    line = line_of(stored, "scan", 1)
    own, found = line.ratios[THROUGHPUT], line.against_base[THROUGHPUT]
    assert found.value == pytest.approx(0.7 / 0.9, rel=0.01)
    assert found.low and found.high and own.low and own.high
    assert math.log(found.high / found.low) < math.log(own.high / own.low) / 2
    assert line_of(stored, "scan", 0).against_base == {}


def test_sentences_say_what_intervals_show(stored: Results) -> None:
    said = sentences(lines_of(stored), LABELS[0])
    of_candidate = [line for line in said if f"on {LABELS[1]}" in line]
    assert any(
        line.startswith(
            f"Throughput is lower after the writes than before them on {LABELS[1]}, with an interval under 1, in 1 of 2"
        )
        for line in of_candidate
    )
    assert any(
        line.startswith(f"CPU/op is higher after ÷ before on {LABELS[1]} than on {LABELS[0]}")
        and "in 2 of 2 tests: scan (+" in line
        for line in of_candidate
    )
    assert not any("point" in line for line in said if line.startswith("Throughput") and "than before them" in line)


def test_every_report_has_them_and_names_are_text(stored: Results) -> None:
    found = line_of(stored, "scan", 1).against_base[THROUGHPUT]
    text = f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"
    judged = build_assessment(stored)
    page, plain = html.render(judged), markdown.render(judged)
    outline = Outline()
    outline.feed(page)
    assert "after-writes-title" in outline.ids and outline.open == []
    assert text in page and "## Tests after the writes against before them" in plain
    assert text.replace("[", r"\[").replace("]", r"\]") in plain
    assert HOSTILE not in page and HOSTILE not in plain
    content = json.loads(json_report.render(judged))["after_writes"]
    assert [(one["after"], one["target"]) for one in content] == [
        (t, label) for t in ("point", "scan") for label in LABELS
    ]
    assert content[-1]["over_base"][THROUGHPUT]["blocks"] == BLOCKS


def test_one_block_has_no_intervals_and_says_so(tmp_path: Path) -> None:
    lines = lines_of(open_results(write(tmp_path, blocks=1)))
    first, second = sentences(lines, LABELS[0])
    assert first.startswith(f"Throughput after the writes against before them on {LABELS[0]}: ")
    assert first.endswith("(point), of 2 tests, without intervals.") and LABELS[1] in second
    assert "interval" not in note(lines)


def test_no_such_tests_no_part(assessment: Assessment) -> None:
    assert json_report.as_json(assessment)["after_writes"] is None
    assert "after-writes-title" not in html.render(assessment).partition("<main>")[2]
