"""Hardware use per operation in the reference's form."""

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest

from dbversus.report.parts.experiment.efficiency import (
    COLUMNS,
    OURS,
    OWN,
    cell,
    efficiency,
    flat,
    relative,
    relative_cell,
    text,
)
from dbversus.report.parts.layouts.figures import layout_part
from dbversus.results.read import open_results
from dbversus.results.stored import Results
from dbversus.stats.judge import judge

from ....results.samples import write_judged_load
from ...pairs import FOUR, TESTS, write_pairs


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    reading = (replace(FOUR[0], read_bytes=2048), *FOUR[1:])
    return open_results(write_pairs(tmp_path_factory.mktemp("efficiency") / "r", reading))


@pytest.mark.parametrize(
    ("value", "base", "expected"),
    [(0.0, 0.0, 1.0), (0.002, 0.0, math.inf), (0.0, 0.002, 0.0), (3.0, 2.0, 1.5), (None, 1.0, None), (1.0, None, None)],
)
def test_relative(value: float | None, base: float | None, expected: float | None) -> None:
    assert relative(value, base) == expected


PRINTED = """\
0.000587 11.821 0 0 7.545 78360
0.000451 10.226 0 0 6.337 105731
0.000181 3.900 0 0 0.832 330288
0.77 0.87 1 1 0.84 1.35
0.31 0.33 1 1 0.11 4.22"""


def test_relative_lines_are_those_of_a_report_of_the_reference() -> None:
    """April 2026, update-index with 40 clients: three absolute lines, then two relative ones."""
    *absolute, second, third = [line.split() for line in PRINTED.splitlines()]
    base, *others = [[float(cell) for cell in line] for line in absolute]
    for line, printed in zip(others, (second, third), strict=True):
        assert [relative_cell(value, of) for value, of in zip(line, base, strict=True)] == printed


def test_cells() -> None:
    assert [cell(value, 3) for value in (None, 0.0, 1.0, 12.5)] == ["NA", "0", "1.000", "12.500"]
    pairs = [(None, 1.0), (0.0, 0.0), (2.0, 2.0), (0.0, 2.0), (2.0, 0.0)]
    assert [relative_cell(value, base) for value, base in pairs] == ["NA", "1", "1.00", "0.00", "inf"]


def test_the_load_comes_first_and_counts_rows(results: Results) -> None:
    lines = efficiency(results)
    assert [line.test for line in lines] == [test for test in ("load", *TESTS) for _ in FOUR]
    load = dict(zip((column.name for column in COLUMNS), lines[0].figures, strict=True))
    assert load == {"cpu/o": 500.0, "cs/o": None, "r/o": None, "rKB/o": None, "wKB/o": None, "o/s": 1000.0}
    assert lines[0].blocks == 1


def test_figures_are_means_over_blocks(results: Results) -> None:
    line = next(line for line in efficiency(results) if (line.test, line.target) == ("point-query", "postgres:11"))
    figures = dict(zip((column.name for column in COLUMNS), line.figures, strict=True))
    assert figures["cpu/o"] == pytest.approx(30, rel=0.02)
    assert figures["o/s"] == pytest.approx(20_000, rel=0.02)
    assert (figures["cs/o"], figures["r/o"], figures["rKB/o"], figures["wKB/o"]) == (2.0, 0.5, 2.0, 0.5)
    assert line.blocks == 4


def test_text_has_the_references_form(results: Results) -> None:
    parts = text(results).split("\n\n")
    assert len(parts) == 3
    lines = parts[1].splitlines()
    assert lines[0] == "point-query"
    assert lines[1] == "--- absolute"
    assert lines[2].split("\t") == ["cpu/o", "cs/o", "r/o", "rKB/o", "wKB/o", "o/s", "dbms"]
    assert [line.split("\t")[-1] for line in lines[3:7]] == [each.label for each in FOUR]
    assert lines[7] == "--- relative to first result"
    ratios = lines[8].split("\t")
    assert (ratios[1], ratios[2], ratios[3], ratios[4], ratios[6]) == ("1.00", "0.00", "0.00", "1.00", "mysql:5.6")
    assert float(ratios[5]) == pytest.approx(0.8, abs=0.02)
    own = 13 + len(FOUR)
    assert lines[11] == OURS and lines[own] == OWN and len(lines) == own + 2 + len(FOUR)


def test_cpu_has_its_parts_with_intervals(tmp_path: Path) -> None:
    """Below the reference's form, and as columns for pipes; the client is never in the server's."""
    measured = open_results(write_pairs(tmp_path / "r", FOUR[:2]))
    cpu = measured.slots["server_cpu_ns"]
    parts = {"server_user_ns": cpu * 0.75, "server_system_ns": cpu * 0.25, "client_cpu_ns": cpu * 0.5}
    measured = replace(measured, slots={**measured.slots, **parts})

    lines = text(measured).split("\n\n")[1].splitlines()
    header, of_base = (line.split("\t") for line in lines[lines.index(OURS) + 1 :][:2])
    assert header == ["server", "user", "system", "client", "dbms"]
    assert [re.fullmatch(r"[\d.]+ \[[\d.]+, [\d.]+\]", cell) is not None for cell in of_base[:4]] == [True] * 4

    columns, rows = flat(measured)
    line = dict(zip(columns, rows[2], strict=True))
    assert (line["test"], line["blocks"]) == ("point-query", 4)
    assert line["server us/o"] == pytest.approx(30, rel=0.02)
    assert line["user us/o"] == pytest.approx(0.75 * line["server us/o"], rel=1e-5)
    assert line["client us/o"] == pytest.approx(0.5 * line["server us/o"], rel=1e-5)
    assert line["system us/o low"] < line["system us/o"] < line["system us/o high"]
    assert line["background us/o"] is None


def test_a_load_is_one_run_and_has_no_interval(results: Results) -> None:
    lines = text(results).split("\n\n")[0].splitlines()
    assert lines[lines.index(OURS) + 1 :][:2] == ["server\tdbms", f"500.0\t{FOUR[0].label}"]


def test_ratios_are_those_of_the_printed_figures(results: Results) -> None:
    columns, rows = flat(results)
    lines = [dict(zip(columns, row, strict=True)) for row in rows]
    for line in lines[4:8]:
        assert line["cpu/o ratio"] == line["cpu/o"] / lines[4]["cpu/o"]
    assert lines[4]["rKB/o"] == 2.0
    assert lines[6]["rKB/o ratio"] == 2.0
    assert lines[5]["rKB/o ratio"] == 0.0


def test_one_target_has_nothing_relative(tmp_path: Path) -> None:
    alone = open_results(write_pairs(tmp_path / "r", FOUR[:1], blocks=2))
    assert "relative" not in text(alone)


def test_a_load_that_blocks_repeat_takes_the_place_of_the_one_that_was_done_once(tmp_path: Path) -> None:
    write_judged_load(tmp_path, blocks=3)
    results = open_results(tmp_path)
    assert results.judges_load and results.repeated_tests == ("load", "point-query")
    lines = [line for line in efficiency(results) if line.test == "load"]
    assert [(line.target, line.blocks) for line in lines] == [("postgres:13.1", 3), ("postgres:17.2", 3)]
    assert lines[0].figures[-1] == pytest.approx(1000 / 0.05)
    (load, *_) = layout_part(results, None).tests
    assert load.name == "load" and load.figures["postgres:13.1"]["o/s"] == pytest.approx(1000 / 0.05)
    metrics = {finding.metric for finding in judge(results) if finding.test == "load"}
    assert "throughput_ops_per_s" in metrics and "load_rows_per_s" not in metrics
