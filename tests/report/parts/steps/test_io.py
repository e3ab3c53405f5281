"""The disk, the debt and the amplifications of a step, from sums whose results are known."""

import pytest

from dbversus.report.parts.steps.io import disk, over, paid

SUMS = {
    "seconds": 10.0,
    "ops": 100,
    "write_bytes": 5_000_000,
    "disk_reads": 20,
    "disk_writes": 400,
    "disk_read_bytes": 1_000_000,
    "disk_write_bytes": 6_000_000,
}
LINE = {"base": 200, "rows": 1000, "blocks": 2}
DRAINED = {"ops": 100, "cpu_us": 4000.0, "write_bytes": 1_000_000}
AMOUNTS = {"inserted_bytes": 60_000.0, "space": 3.5, "database_gb": 1.0, "data_dir_gb": 2.0}


def test_rates_and_shares_of_the_disk() -> None:
    assert disk(SUMS, base=200, rows=1000) == {
        "rps": 2.0,
        "rmbps": 0.1,
        "wps": 40.0,
        "wmbps": 0.6,
        "rpq": 0.1,
        "rkbpq": 5.0,
        "wpi": 0.4,
        "wkbpi": 6.0,
    }


def test_what_the_host_does_not_tell_is_not_known() -> None:
    nothing = dict.fromkeys(SUMS) | {"seconds": 10.0}
    assert set(disk(nothing, base=200, rows=1000).values()) == {None}
    assert over(0.0, 2.0) == 0.0 and over(1.0, 0.0) is None


def test_debt_belongs_to_what_is_written() -> None:
    assert paid(SUMS, LINE, DRAINED, AMOUNTS) == {
        "dcpupq": 20.0,
        "dwmb": 0.5,
        "dwkbpi": 1.0,
        "wamp": pytest.approx(100.0),
        "samp": 3.5,
        "dbgb1": 1.0,
        "dbgb2": 2.0,
    }


def test_a_drain_that_paid_for_warm_ups_too_counts_in_part() -> None:
    line = paid(SUMS, LINE, DRAINED | {"ops": 200}, AMOUNTS)
    assert (line["dcpupq"], line["dwkbpi"]) == (10.0, 0.5)
    assert line["wamp"] == pytest.approx(5_500_000 / 60_000)
    assert line["dwmb"] == 0.5


def test_without_a_drain_the_test_alone_has_written() -> None:
    line = paid(SUMS, LINE, {}, {})
    assert (line["dcpupq"], line["dwmb"], line["wamp"], line["samp"]) == (None, None, None, None)
    assert paid(SUMS, LINE, {}, AMOUNTS)["wamp"] == pytest.approx(5_000_000 / 60_000)
