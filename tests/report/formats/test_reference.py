"""reference/: what the reference's own files say comes out as it went in; ours is in the same layouts."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from dbversus.importing.find import Wanted
from dbversus.importing.run import import_results
from dbversus.report.assessment import build_assessment
from dbversus.report.formats import reference
from dbversus.report.formats.layouts import efficiency, throughput
from dbversus.report.formats.layouts.files import files
from dbversus.report.formats.layouts.steps import absolute
from dbversus.report.model import Assessment, LayoutPart, LayoutTest
from dbversus.results.read import open_results
from dbversus.results.stored import Results
from tests.importing.conftest import REFERENCE

from ..parts.steps import test_summary
from ..sections.test_scaleup import write as write_clients
from ..synthetic import FAILED_TEST, LABELS, WRONG_TEST

PUBLISHED = Path(os.environ.get("DBVERSUS_REFERENCE_DATA", "/nonexistent"))
"""All that the reference's author has published, where it is at hand."""
WHOLE = (
    "sysbench-2020/innodb-in-memory",
    "sysbench-2020/postgres-in-memory",
    "insert-2021/20m/res.in",
    "insert-2021/20m/res.pg",
)
_FIGURES = "SELECT DISTINCT test, target, clients, metric, value, relative_to FROM imported ORDER BY ALL"

Read = Callable[..., Results]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Imports a folder."""

    def run(folder: Path, **wanted: object) -> Results:
        out = tmp_path / f"import{len(list(tmp_path.iterdir()))}"
        import_results([folder], out, Wanted(**wanted))  # type: ignore[arg-type]
        return open_results(out)

    return run


def written(results: Results, folder: Path) -> Path:
    """The folder that the format makes."""
    reference.write(build_assessment(results), folder)
    return folder


def assert_same(originals: Path, made: Path) -> None:
    """Every file of the reference is there, byte for byte."""
    paths = sorted(path for path in originals.iterdir() if path.is_file())
    assert paths
    for path in paths:
        assert (made / path.name).read_bytes() == path.read_bytes(), path.name


def test_small_copies_come_out_as_they_went_in(read: Read, tmp_path: Path) -> None:
    assert_same(REFERENCE / "sysbench-2020", written(read(REFERENCE / "sysbench-2020"), tmp_path / "s") / "2021")
    assert_same(REFERENCE / "insert-2021", written(read(REFERENCE / "insert-2021"), tmp_path / "i") / "insert")


@pytest.mark.parametrize("folder", WHOLE)
def test_published_files_come_out_as_they_went_in(folder: str, read: Read, tmp_path: Path) -> None:
    if not PUBLISHED.is_dir():
        pytest.skip("DBVERSUS_REFERENCE_DATA names no folder")
    made = written(read(PUBLISHED / folder), tmp_path / "made")
    assert_same(PUBLISHED / folder, made / ("insert" if folder.startswith("insert") else "2021"))


@pytest.mark.parametrize(
    ("folder", "layout"), [("sysbench-2020", "2021"), ("sysbench-2020", "now"), ("insert-2021", "insert")]
)
def test_what_was_written_says_the_same_when_it_is_read_again(
    folder: str, layout: str, read: Read, tmp_path: Path
) -> None:
    """The layout of now calls queries per second as the others do, and has no columns for some that are NA."""
    first = read(REFERENCE / folder)
    again = read(written(first, tmp_path / "made") / layout)

    def known(results: Results) -> set[tuple[object, ...]]:
        rows = results.sql(_FIGURES)[1]
        if layout != "now":
            return set(rows)
        absolute = {row for row in rows if row[4] is not None and row[5] is None}
        return {row for row in absolute if row[0] != "load" or row[3] != "qps"}

    assert known(again) == known(first) and known(first)
    assert again.sql("SELECT count(*) FROM imported_lines WHERE kind = 'unknown'")[1] == [(0,)]
    assert not any(record.ratios_other for record in again.records if hasattr(record, "ratios_other"))


def test_runs_of_now_have_the_efficiency_report_of_now(read: Read, tmp_path: Path) -> None:
    """Three decimals and whole rates: what `sb.met.*` of the runs say, within their rounding."""
    first = read(REFERENCE / "sysbench-2025")
    again = read(written(first, tmp_path / "made") / "now")
    values = "SELECT test, clients, target, metric, value FROM imported WHERE list_contains(?, metric) AND NOT relative"
    columns = "['cpu/o', 'cs/o', 'r/o', 'rKB/o', 'wKB/o', 'o/s']"

    def figures(results: Results) -> dict[tuple[object, ...], float]:
        return {row[:4]: row[4] for row in results.sql(values.replace("?", columns))[1]}

    assert figures(again) == pytest.approx(figures(first), rel=0.01, abs=0.5)
    assert len(figures(first)) > 20


def test_a_report_of_now_is_printed_as_the_reference_prints_it() -> None:
    """April 2026, update-index with 40 clients."""
    lines = """\
sb.met.update-index.range100.pk1.dop40
--- absolute
cpu/o		cs/o	r/o	rKB/o	wKB/o	o/s	dbms
0.000587	11.821	0	0	7.545	78360	x.my8407_rel_o2nofp.z12a_c32r128.pk1
0.000451	10.226	0	0	6.337	105731	x.ma110806_rel_withdbg.z12b_c32r128.pk1
0.000181	3.900	0	0	0.832	330288	x.pg182_o2nofp.x10b_c32r128.pk1
--- relative to first result
0.77		0.87	1	1	0.84	1.35	x.ma110806_rel_withdbg.z12b_c32r128.pk1
0.31		0.33	1	1	0.11	4.22	x.pg182_o2nofp.x10b_c32r128.pk1

"""
    columns = ("cpu/o", "cs/o", "r/o", "rKB/o", "wKB/o", "o/s")
    rows = [row.split("\t") for row in lines.splitlines()[3:6]]
    figures = {row[-1]: dict(zip(columns, map(float, row[:-1]), strict=True)) for row in rows}
    part = part_of(LayoutTest("update-index.range100", 40, figures))
    assert efficiency.report(part, efficiency.NOW) == lines


def part_of(*tests: LayoutTest, imported: bool = True) -> LayoutPart:
    names = {name: name for test in tests for name in test.figures}
    return LayoutPart(names, frozenset({"mysql"}), tests, (), imported)


def rates(name: str, clients: int | None, **of: float) -> LayoutTest:
    return LayoutTest(name, clients, {label: {"o/s": value} for label, value in of.items()})


def test_a_table_of_now_has_point_queries_first_and_writes_last() -> None:
    names = ["read-write.range10", "scan.range100", "point-query.range100", "delete.range100", "hot-points.range100"]
    part = part_of(rates("load", None, a=1e5, b=2e5), *(rates(name, 1, a=200.0, b=300.4) for name in names))
    assert throughput.absolute_now(part, part.tests) == (
        "col-1 : a\ncol-2 : b\n\ncol-1\tcol-2\n"
        "200\t300\thot-points_range=100\n200\t300\tpoint-query_range=100\n200\t300\tscan_range=100\n"
        "200\t300\tdelete_range=100\n200\t300\tread-write_range=10\n"
    )
    table = throughput.relative_now(part, part.tests)
    assert table.startswith("Relative to: a\ncol-1 : b\n\ncol-1\n1.50\thot-points_range=100\n")
    assert throughput.comma_form(table).splitlines()[0] == "hot-points_range=100,1.50"


def test_what_one_target_lacks_moves_no_line_and_no_column() -> None:
    """The reference leaves it out, so that another target's figure stands in its place."""
    part = part_of(rates("t", 1, a=100.0, b=200.0), rates("t", 4, b=400.0), rates("u", 1, b=7.0))
    assert throughput.absolute_2021(part) == (
        "sb.r.qps.t.pk1\n100\tNA\ta\n200\t400\tb\n\nsb.r.qps.u.pk1\nNA\ta\n7\tb\n\n"
    )
    assert throughput.relative_2021(part) == "sb.r.qps.t.pk1\n2.00\tNA\tb\n\nsb.r.qps.u.pk1\nNA\tb\n\n"


def test_scans_count_rows_in_millions_or_thousands() -> None:
    figures = {"cpu/o": 0.000012, "o/s": 2_000_000.0}
    scan = LayoutTest("scan.range100", 1, {"a": figures, "b": figures}, of_rows=True)
    part = part_of(scan)
    assert "\n2.000\ta\n" in throughput.absolute_2021(part)
    assert "2000\t2000\tscan_range=100" in throughput.absolute_now(part, part.tests)
    assert "0.000012\tNA\tNA\t2000000\ta" in efficiency.report(part, efficiency.JANUARY_2021)
    assert "0.012000\tNA\tNA\tNA\tNA\t2000\ta" in efficiency.report(part, efficiency.NOW)


def test_slow_rates_keep_decimals() -> None:
    part = part_of(rates("t", 1, a=3.4, b=4.25))
    assert throughput.relative_2021(part) == "sb.r.qps.t.pk1\n1.25\tb\n\n"


def test_several_numbers_of_clients_are_columns_or_tables_of_their_own(tmp_path: Path) -> None:
    made = written(open_results(write_clients(tmp_path)), tmp_path / "made")
    blocks = (made / "2021/o.qps.abs.pg").read_text().split("\n\n")
    assert [len(line.split("\t")) for line in blocks[0].splitlines()] == [1, 4, 4]
    assert blocks[0].startswith("sb.r.qps.scan.range100.pk1\n") and "\tx.pg17.base.pk1\n" in blocks[0]
    tables = sorted(path.name for path in (made / "now").iterdir() if path.name.endswith(".tsv"))
    assert tables == [f"qps.{kind}.pg.dop{clients}.tsv" for kind in ("abs", "rel") for clients in (1, 2, 4)]
    assert "dbversus import 2021 --clients 1,2,4 --out NEW" in (made / "README.txt").read_text()


def test_ours_is_read_again_with_its_clients_and_ratios(tmp_path: Path, read: Read) -> None:
    made = written(open_results(write_clients(tmp_path)), tmp_path / "made")
    again = read(made / "2021", column_clients=(1, 2, 4))
    assert again.tests == tuple(f"{test}.range100@{clients}" for test in ("scan", "insert") for clients in (1, 2, 4))
    assert not any(record.ratios_other for record in again.records if hasattr(record, "ratios_other"))


def test_readme_says_what_failed_and_who_is_who(assessment: Assessment, tmp_path: Path) -> None:
    reference.write(assessment, tmp_path)
    text = (tmp_path / "README.txt").read_text()
    assert all(label in text for label in LABELS)
    assert (
        f"  {WRONG_TEST}, {LABELS[1]}: wrong result." in text or f"  {WRONG_TEST}, {LABELS[2]}: wrong result." in text
    )
    assert f"  {FAILED_TEST}, {LABELS[2]}: failed." in text
    assert "vmstat" in text


def test_files_of_an_earlier_report_go_and_others_stay(assessment: Assessment, tmp_path: Path) -> None:
    (tmp_path / "now").mkdir()
    for name in ("qps.abs.other.tsv", "mine.txt"):
        (tmp_path / "now" / name).write_text("x")
    reference.write(assessment, tmp_path)
    assert not (tmp_path / "now/qps.abs.other.tsv").exists()
    assert (tmp_path / "now/mine.txt").exists() and (tmp_path / "now/qps.abs.pg.tsv").exists()


def test_no_name_leaves_the_folder(assessment: Assessment, tmp_path: Path) -> None:
    hostile = LayoutTest("../../../x/y", 1, {"a": {"ips": 1.0}})
    part = LayoutPart({"a": "a"}, frozenset({"../.."}), (), (hostile,))
    reference.write(replace(assessment, layouts=part), tmp_path / "made")
    assert (tmp_path / "made/insert/mrg..._.._.._x_y").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


def test_steps_are_in_files_of_the_insert_benchmark_alone(tmp_path: Path) -> None:
    assessment = build_assessment(open_results(test_summary.write(tmp_path)))
    assert assessment.layouts is not None
    names = files(assessment.layouts)
    steps = [step.name for step in assessment.layouts.steps]
    assert steps == ["point-query", "insert"]
    assert {f"insert/{kind}.{name}" for kind in ("mrg", "rel") for name in (*steps, "some")} <= set(names)
    assert "insert" not in {test.name.partition(".")[0] for test in assessment.layouts.tests}
    header, *lines = absolute(assessment.layouts, assessment.layouts.steps[0]).splitlines()
    assert header.startswith("ips\tqps\trps\t") and header.endswith("\tp99\ttag")
    assert [line.split("\t")[0] for line in lines[:2]] == ["0", "0"]
