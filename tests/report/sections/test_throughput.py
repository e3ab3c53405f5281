"""`--table throughput`: rates and ratios in the reference's forms, and with intervals for pipes."""

from pathlib import Path

import pytest
from rich.console import Console

from dbversus.importing.run import import_results
from dbversus.report.show import Shown, show
from dbversus.results.read import open_results
from dbversus.results.stored import Results
from tests.importing.conftest import REFERENCE

from ..pairs import FOUR, write_pairs
from ..sections.test_scaleup import LABELS as OF_CLIENTS
from ..sections.test_scaleup import write as write_clients

NAMES = [each.label for each in FOUR]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return open_results(write_pairs(tmp_path_factory.mktemp("throughput") / "r"))


def printed(shown: Shown, capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    """Blocks of lines."""
    assert shown.print_on is not None
    shown.print_on(Console())
    return [block.splitlines() for block in capsys.readouterr().out.split("\n\n")]


def test_rows_have_rates_and_ratios_with_intervals(results: Results) -> None:
    shown = show("throughput", results)
    rows = {row[:2]: dict(zip(shown.columns, row, strict=True)) for row in shown.rows}
    assert list(rows) == [(test, label) for test in ("load", "point-query", "update-index") for label in NAMES]
    base, slower = rows["point-query", NAMES[0]], rows["point-query", NAMES[1]]
    assert base["ops_per_s"] == pytest.approx(20_000, rel=0.02) and base["low"] < base["ops_per_s"] < base["high"]
    assert (base["blocks"], base["ratio"], base["verdict"]) == (4, None, None)
    assert slower["ratio"] == pytest.approx(0.8, rel=0.02)
    assert slower["ratio_low"] < slower["ratio"] < slower["ratio_high"]
    assert slower["verdict"] == "regression"


def test_a_load_has_the_ratio_of_its_rates_and_no_interval(results: Results) -> None:
    shown = show("throughput", results)
    load = dict(zip(shown.columns, shown.rows[1], strict=True))
    assert (load["ops_per_s"], load["ratio"], load["ratio_low"], load["blocks"]) == (800.0, 0.8, None, 1)


def test_the_form_of_now_has_groups_and_the_name_of_a_test_last(
    results: Results, capsys: pytest.CaptureFixture[str]
) -> None:
    legend, load, points, writes, relative, *ratios, _ = printed(show("throughput", results), capsys)
    assert legend == [f"col-{place} : {label}" for place, label in enumerate(NAMES, 1)]
    assert (load[0], points[0], writes[0]) == ("- load", "- point queries", "- writes")
    assert load[1:] == ["col-1\tcol-2\tcol-3\tcol-4", "1000\t800\t1250\t500\tload"]
    assert points[2].endswith("\tpoint-query") and points[2].count("\t") == len(NAMES)
    assert relative == [f"Relative to: {NAMES[0]}", *(f"col-{n} : {label}" for n, label in enumerate(NAMES[1:], 1))]
    assert ratios[0][2] == "0.80\t1.25\t0.50\tload" and ratios[1][2] == "0.80\t1.25\t0.50\tpoint-query"


def test_the_form_of_2021_has_a_column_for_each_number_of_clients(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = printed(show("throughput_2021", open_results(write_clients(tmp_path))), capsys)
    scan, insert, relative, scan_ratios, *_ = blocks
    assert (scan[0], insert[0]) == ("scan@1,2,4", "insert@1,2,4")
    rates = [float(cell) for cell in scan[1].split("\t")[:-1]]
    assert rates == pytest.approx([200_000, 380_000, 700_000], rel=0.05)
    assert [line.split("\t")[-1] for line in scan[1:]] == list(OF_CLIENTS)
    assert relative == [f"--- relative to {OF_CLIENTS[0]}"]
    ratios = [float(cell) for cell in scan_ratios[1].split("\t")[:-1]]
    assert ratios == pytest.approx([1.0, 18 / 19, 30 / 35], abs=0.02) and len(scan_ratios) == 2


def test_what_was_imported_is_shown_as_it_was_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Names of targets and rates are the file's; its headings are names of files."""
    import_results([REFERENCE / "sysbench-2020"], tmp_path / "r")
    shown = show("throughput_2021", open_results(tmp_path / "r"))
    blocks = printed(shown, capsys)
    for name in ("abs", "rel"):
        lines = (REFERENCE / f"sysbench-2020/o.qps.{name}.in").read_text().splitlines()
        originals = [line for line in lines if "\t" in line]
        assert originals and set(originals) <= {line for block in blocks for line in block}
    assert {row[-1] for row in shown.rows} == {None, "not replicated"}


def test_one_target_has_nothing_relative(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    alone = open_results(write_pairs(tmp_path / "r", FOUR[:1], blocks=2))
    for name in ("throughput", "throughput_2021"):
        text = "\n".join(line for block in printed(show(name, alone), capsys) for line in block)
        assert "point-query" in text and "elative to" not in text
