"""The table of a matrix, from results with known figures: two builds, groups that share the base, one target that failed."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from dbversus.report.assessment import judged_of
from dbversus.report.sections import matrix as section_of_matrix
from dbversus.report.sections.matrix import Matrix, MatrixRow, build_matrix, notes, of_matrix, tables
from dbversus.report.texts import headings, print_section, texts
from dbversus.results.read import open_results
from dbversus.results.write import create_results_dir, seal
from dbversus.stats.judge import judge

from ...journals import DictJournal

LABELS = ("mysql:8.0@bl0,dw1", "mysql:8.0@bl1,dw1", "postgres:17@sync0", "postgres:17@sync1", "sqlite:bundled")
TESTS = ("insert", "update-index", "update-nonindex")
# operations per ms of each target; those of a block are this much faster than the block before
RATES = (20, 10, 30, 15)
BLOCK_FACTOR = (1.0, 1.1, 1.2)
GROUPS = {"g0": (0, 1), "g1": (0, 2, 3)}
PUBLISHED = "build,config,insert_per_s,update_index_per_s,update_nonindex_per_s"


def _row(group: str, block: int, test: str, number: int) -> dict[str, Any]:
    slots = [
        {"target": f"t{n}", "position": n, "elapsed_ns": 10**9, "ops": round(RATES[n] * 1000 * BLOCK_FACTOR[block])}
        for n in GROUPS[group]
    ]
    tag = {"block": block, "test": test, "clients": 1, "group": group}
    return {"type": "row", **tag, "row": number, "started_unix_ns": 1, "disturbed": False, "slots": slots}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = create_results_dir(tmp_path_factory.mktemp("matrix") / "results")
    targets = [
        {"name": f"t{n}", "label": label, "dbms": "", "version": "", "config": label.partition("@")[2] or "base"}
        for n, label in enumerate(LABELS)
    ]
    latency = {"fdatasync_4kB": {"count": 500, "p50_us": 125.0, "p95_us": 300.0, "p99_us": 900.0}}
    (folder / "host.json").write_text(json.dumps({"sync_latency": latency}))
    (folder / "servers/t1").mkdir(parents=True)
    (folder / "servers/t1/sizes.json").write_text('{"data_dir": 90000000, "database": 60000000}')
    with DictJournal(folder) as journal:
        journal.append({"type": "experiment", "schema": 2, "targets": targets, "tests": ["load", *TESTS]})
        for block in range(len(BLOCK_FACTOR)):
            for number, group in enumerate(GROUPS):
                for test in TESTS:
                    journal.append(_row(group, block, test, number * 10_000))
                    use = {"processes": 1, "pss_bytes": 500_000_000, "rss_bytes": 1, "peak_rss_bytes": 10**9 + block}
                    journal.append({"type": "memory", "block": block, "test": test, "targets": {"t1": use}})
    seal(folder)
    return folder


@pytest.fixture(scope="module")
def matrix(directory: Path) -> Matrix:
    return build_matrix(open_results(directory))


def row_of(matrix: Matrix, label: str) -> MatrixRow:
    return next(row for row in matrix.rows if row.label == label)


def test_throughput_is_the_geometric_mean_of_blocks_with_its_interval(matrix: Matrix) -> None:
    cell = row_of(matrix, LABELS[1]).cells["insert"]
    mean = (10_000 * 11_000 * 12_000) ** (1 / 3)
    assert cell.ops_per_s.value == pytest.approx(mean)
    assert cell.ops_per_s.low is not None and cell.ops_per_s.high is not None
    assert cell.ops_per_s.low < mean < cell.ops_per_s.high and cell.ops_per_s.n == 3


def test_ratios_are_to_the_first_config_of_the_same_build_and_cancel_what_blocks_have_in_common(matrix: Matrix) -> None:
    for label, reference in zip(LABELS, (LABELS[0], LABELS[0], LABELS[2], LABELS[2], LABELS[0]), strict=True):
        assert row_of(matrix, label).reference == reference
    ratio = row_of(matrix, LABELS[3]).cells["insert"].ratio
    assert [ratio.value, ratio.low, ratio.high] == pytest.approx([0.5, 0.5, 0.5])


def test_a_target_that_was_never_measured_has_its_line(matrix: Matrix) -> None:
    assert row_of(matrix, LABELS[4]).cells == {}
    assert texts(tables(matrix)[0])[-1] == ["sqlite:bundled", "base", *["–"] * 6]


def test_memory_and_size(matrix: Matrix) -> None:
    cell = row_of(matrix, LABELS[1]).cells["insert"]
    assert cell.pss_bytes.value == 500_000_000 and cell.peak_rss_bytes == 10**9 + 2
    line = next(row for row in texts(tables(matrix)[1]) if row[1] == "bl1_dw1")
    assert line[2:4] == ["500.0", "1,000"] and line[-1] == "60.00"


def test_rows_that_were_disturbed_count_like_all_others(directory: Path, tmp_path: Path, matrix: Matrix) -> None:
    folder = create_results_dir(tmp_path / "results")
    for line in (directory / "journal.jsonl").read_text().splitlines():
        record = json.loads(line)
        with (folder / "journal.jsonl").open("a") as file:
            file.write(json.dumps(record | ({"disturbed": True} if record["type"] == "row" else {})) + "\n")
    disturbed = build_matrix(open_results(folder))
    for row, quiet in zip(disturbed.rows, matrix.rows, strict=True):
        rates = {test: cell.ops_per_s for test, cell in row.cells.items()}
        assert rates == {test: cell.ops_per_s for test, cell in quiet.cells.items()}


def test_numbers_come_in_the_form_of_the_published_table(matrix: Matrix) -> None:
    columns, rows = of_matrix(matrix).data[0].plain()
    assert ",".join(columns).startswith(PUBLISHED + ",")
    assert rows[1][:2] == ("mysql:8.0", "bl1_dw1")
    assert list(rows[1][2:5]) == pytest.approx([10_970] * 3, rel=1e-3)
    assert rows[4][2:5] == (None, None, None)
    values = dict(zip(columns, rows[3], strict=True))
    assert values["insert_ratio"] == pytest.approx(0.5) and values["insert_blocks"] == 3


def test_a_terminal_that_is_narrow_gets_no_intervals(matrix: Matrix) -> None:
    wide, narrow = (io.StringIO() for _ in range(2))
    shown = of_matrix(matrix)
    for file, width in ((wide, 400), (narrow, 120)):
        print_section(Console(file=file, width=width, force_terminal=True, color_system=None), shown, shown)
    assert "0.500 [0.500, 0.500]" in wide.getvalue()
    assert "0.500 [" not in narrow.getvalue() and "0.500" in narrow.getvalue()
    assert max(map(len, narrow.getvalue().splitlines())) <= 120


def test_what_the_disk_takes_is_said(matrix: Matrix) -> None:
    assert "fdatasync 4kB 125.0 µs (95th percentile 300.0, n = 500)" in notes(matrix)[-1]
    assert "at most 8,000 commits/s" in notes(matrix)[-1]


def test_with_many_tests_tests_are_the_lines(matrix: Matrix) -> None:
    tests = tuple(f"test-{n}" for n in range(8))
    rows = tuple(
        MatrixRow(row.label, row.build, row.config, row.reference, None, dict.fromkeys(tests, row.cells["insert"]))
        for row in matrix.rows[:4]
    )
    table = tables(Matrix(tests, rows, {}))[0]
    assert headings(table) == ["test", f"{LABELS[0]}, ops/s", *LABELS[1:4]]
    assert [row[0] for row in table.rows] == list(tests)
    assert texts(table)[0][2:] == ["0.500 [0.499, 0.501]", "1", "0.500 [0.500, 0.500]"]


def test_few_targets_need_no_matrix_but_can_have_it(results_dir: Path) -> None:
    results = open_results(results_dir)
    judged = judged_of(results)
    assert section_of_matrix.section(judged) is None and section_of_matrix.asked(judged)
    assert len(build_matrix(results).rows) == 3


def test_sql_on_memory(directory: Path) -> None:
    columns, rows = open_results(directory).sql("SELECT target, max(peak_rss_bytes) AS peak FROM memory GROUP BY 1")
    assert (columns, rows) == (["target", "peak"], [(LABELS[1], 10**9 + 2)])


def test_a_ratio_to_the_base_has_the_interval_of_its_verdict(directory: Path, matrix: Matrix) -> None:
    results = open_results(directory)
    finding = next(
        item
        for item in judge(results)
        if (item.test, item.target, item.metric) == ("insert", LABELS[1], "throughput_ops_per_s")
    )
    ratio = row_of(matrix, LABELS[1]).cells["insert"].ratio
    assert (ratio.value, ratio.low, ratio.high) == (finding.ratio, finding.low, finding.high)
    assert ratio.confidence == finding.confidence
    assert "intervals are those of the verdicts" in notes(matrix)[0]
    columns, rows = of_matrix(matrix).data[0].plain()
    assert dict(zip(columns, rows[1], strict=True))["insert_ratio_confidence"] == finding.confidence
