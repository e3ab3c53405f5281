"""Relative figures are those that the absolute ones give; those that are not are named."""

import os
from pathlib import Path

import pytest

from dbversus.importing.run import import_results
from dbversus.results.records import Imported
from tests.importing.conftest import REFERENCE, Import

PUBLISHED = Path(os.environ.get("DBVERSUS_REFERENCE_DATA", "/nonexistent"))


def test_printed_ratios_are_those_of_the_printed_figures(imported: Import) -> None:
    [record] = imported(REFERENCE).of_type(Imported)

    assert record.ratios_same == 436
    assert (record.ratios_within_rounding, record.ratios_other, record.ratios_alone) == (0, 0, 0)


def test_all_published_ratios_are_those_of_the_published_figures(imported: Import) -> None:
    if not PUBLISHED.is_dir():
        pytest.skip("DBVERSUS_REFERENCE_DATA names no folder")
    [record] = imported(PUBLISHED / "sysbench-2020", PUBLISHED / "insert-2021").of_type(Imported)

    assert record.ratios_same == 3512
    assert (record.ratios_within_rounding, record.ratios_other, record.ratios_alone) == (0, 0, 0)


def test_a_wrong_ratio_is_named_with_file_and_line(tmp_path: Path) -> None:
    for name in ("o.qps.abs.in", "o.qps.rel.in"):
        text = (REFERENCE / "sysbench-2020" / name).read_text()
        (tmp_path / name).write_text(text.replace("0.85\t0.84\t0.90", "0.85\t0.84\t0.99"))

    outcome = import_results([tmp_path], tmp_path / "out")

    assert outcome.record.ratios_other == 1
    assert outcome.record.others == [
        f"{tmp_path}/o.qps.rel.in, line 8: qps of point-query.pre.range100, x.my5731.x6d.pk1 to x.my5649.x6d.pk1, is 0.99; "
        "its figures give 0.9036"
    ]


def test_ratios_of_figures_that_were_rounded_may_differ_by_that(tmp_path: Path) -> None:
    (tmp_path / "o.met.x").write_text(
        "sb.met.scan.range100.pk1.dop1\n--- absolute\nrKB/o\to/s\tdbms\n0.001\t10\ta\n0.003\t11\tb\n"
        "--- relative to first result\n2.60\t1.10\tb\n"
    )

    record = import_results([tmp_path], tmp_path / "out").record

    assert (record.ratios_same, record.ratios_within_rounding, record.ratios_other) == (1, 1, 0)


def test_ratios_without_their_figures_are_counted(tmp_path: Path) -> None:
    text = (REFERENCE / "insert-2021/rel.l.i0").read_text()
    (tmp_path / "rel.l.i0").write_text(text)

    record = import_results([tmp_path], tmp_path / "out").record

    assert record.ratios_alone == 40
    assert record.ratios_same == record.ratios_other == 0


@pytest.mark.parametrize(("own", "base", "printed"), [("0", "0", "1"), ("2", "0", "inf"), ("0", "2", "0.00")])
def test_the_rule_for_nothing(own: str, base: str, printed: str, tmp_path: Path) -> None:
    (tmp_path / "o.met.x").write_text(
        f"sb.met.scan.range100.pk1.dop1\n--- absolute\no/s\tdbms\n{base}\ta\n{own}\tb\n"
        f"--- relative to first result\n{printed}\tb\n"
    )

    assert import_results([tmp_path], tmp_path / "out").record.ratios_same == 1
