"""Background work and drains in the reports."""

import io
from typing import Any

import pytest
from rich.console import Console

from dbversus.report.assessment import build_assessment
from dbversus.report.formats import html
from dbversus.report.formats.text import render
from dbversus.report.model import Assessment, Figure
from dbversus.report.parts.notes.background import KINDS_SHOWN
from dbversus.results.read import open_results
from dbversus.results.write import seal
from dbversus.stats.metrics import DRAIN_CPU
from dbversus.stats.model import Verdict

from ....journals import DictJournal
from ...synthetic import LABELS, TRUTHS, write_results

TEST = "update-index"
BLOCKS = 4


def _drained(cpu_us_per_op: float, idle: bool = True) -> dict[str, Any]:
    figures = {"server_cpu_ns": int(cpu_us_per_op * 1e6), "server_write_bytes": 5_000_000}
    return {"ops": 1000, "idle": idle, "elapsed_ns": 2_000_000_000, "background": {}, **figures}


@pytest.fixture(scope="module")
def assessment(tmp_path_factory: pytest.TempPathFactory) -> Assessment:
    directory = tmp_path_factory.mktemp("background") / "results"
    truths = tuple(truth for truth in TRUTHS if truth.name in ("point-query", "range-covered-pk", TEST))
    write_results(directory, targets=2, rows=6, blocks=BLOCKS, truths=truths)
    kinds = {f"ib_kind_{letter}": 100_000 * rank for rank, letter in enumerate("abcdefg", 1)}
    with DictJournal(directory) as journal:
        for block in range(BLOCKS):
            place = {"block": block, "test": TEST}
            left = {"t0": _drained(4 + block / 100), "t1": _drained(8 - block / 100, idle=block > 0)}
            journal.append({"type": "drain", "targets": left, **place})
            beside = {name: {"ops": 1000, "cpu_ns": kinds} for name in ("t0", "t1")}
            journal.append({"type": "background", "targets": beside, **place})
    seal(directory)
    return build_assessment(open_results(directory))


def _figures(assessment: Assessment, test: str) -> dict[str, Figure]:
    return {figure.metric: figure for part in assessment.tests if part.name == test for figure in part.figures}


def test_what_was_drained_has_figures_and_a_finding_of_its_own(assessment: Assessment) -> None:
    figure = _figures(assessment, TEST)[DRAIN_CPU]
    base, other = (figure.estimates[label] for label in LABELS[:2])
    assert (base.n, other.n) == (BLOCKS, BLOCKS)
    assert base.value == pytest.approx(4.015, rel=1e-4) and other.value == pytest.approx(7.985, rel=1e-4)
    finding = figure.findings[LABELS[1]]
    assert finding.verdict == Verdict.REGRESSION
    assert finding.ratio == pytest.approx(2, rel=0.02)
    assert DRAIN_CPU not in _figures(assessment, "point-query")


def test_the_headline_does_not_hang_on_it(assessment: Assessment) -> None:
    cpu = _figures(assessment, TEST)["server_cpu_us_per_op"].estimates[LABELS[1]]
    assert cpu.value == pytest.approx(160 * 0.62 * 1.08, rel=0.1)


def test_the_largest_kinds_are_shown_with_interval_and_count(assessment: Assessment) -> None:
    shown = [figure for name, figure in _figures(assessment, TEST).items() if name.startswith("background.")]
    assert [figure.title for figure in shown] == [f"background: ib_kind_{letter}" for letter in "gfedc"]
    assert len(shown) == KINDS_SHOWN
    largest = shown[0].estimates[LABELS[0]]
    assert largest.value == pytest.approx(0.7) and largest.n == BLOCKS


def test_a_drain_that_came_to_no_end_is_told(assessment: Assessment) -> None:
    (part,) = [part for part in assessment.tests if part.name == TEST]
    (note,) = [note for note in part.notes if "still worked" in note]
    assert note.startswith(f"{LABELS[1]} still worked 2.0 s after the test (1 of 4 times)")


def test_every_report_shows_them(assessment: Assessment) -> None:
    out = io.StringIO()
    render(assessment, Console(file=out), verbose=True)
    for text in (out.getvalue(), html.render(assessment)):
        assert "drained CPU per op" in text
        assert "background: ib_kind_g" in text
