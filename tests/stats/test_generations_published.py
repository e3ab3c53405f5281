"""The reference's own two generations: PostgreSQL 11 against MySQL 5.6, and 13 against 8.0 (IO-bound, January 2021).

The figures in tests/data are the published ones, one run of each test; what is expected is what was published about them.
"""

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from dbversus.stats.across.generations import (
    Mark,
    Pair,
    Shifts,
    TestShift,
    compare_generations,
    generation,
)
from dbversus.stats.means import Ratio
from dbversus.stats.metrics import CPU, DISK_READ_BYTES, DISK_READS, THROUGHPUT

DATA = Path(__file__).parent.parent / "data" / "sysbench-2021-iobound.csv"
TARGETS = ("my5649", "pg1110", "my8022", "pg131")
OLD, NEW = Pair("my5649", "pg1110"), Pair("my8022", "pg131")


def read() -> list[dict[str, str]]:
    with DATA.open() as file:
        return list(csv.DictReader(file))


def name_of(line: dict[str, str]) -> str:
    return f"{line['test']}-{line['range']}" if line["range"] else line["test"]


@pytest.fixture(scope="module")
def shifts() -> Shifts:
    lines = read()
    figures = {
        figure: np.array([float(line[f"{target}_{figure}"]) for line in lines for target in TARGETS])
        for figure in ("cpu", "r", "rkb", "qps")
    }
    count = len(lines) * len(TARGETS)
    slots = {
        "test": np.array([name_of(line) for line in lines for _ in TARGETS]),
        "target": np.array(TARGETS * len(lines)),
        "block": np.zeros(count),
        "row": np.zeros(count),
        "ops": figures["qps"],
        "elapsed_ns": np.full(count, 1e9),
        "server_cpu_ns": figures["cpu"] * figures["qps"],  # in another unit; ratios are the same
        "disk_reads": figures["r"] * figures["qps"],
        "disk_read_bytes": figures["rkb"] * 1024 * figures["qps"],
    }
    old, new = generation(slots, OLD), generation(slots, NEW)
    return compare_generations(old, new, [name_of(line) for line in lines], paired=False)


def ratio(item: TestShift, metric: str, side: str) -> Ratio:
    found = getattr(item.changes[metric], side)
    assert isinstance(found, Ratio)
    return found


def test_gold_and_silver_are_as_many_as_published(shifts: Shifts) -> None:
    assert len(shifts.tests) == 43
    assert sum(ratio(item, THROUGHPUT, "shift").value > 1.05 for item in shifts.tests) == 19
    assert sum(ratio(item, CPU, "shift").value < 0.95 for item in shifts.tests) == 26


def test_one_run_of_each_earns_no_marks(shifts: Shifts) -> None:
    assert all(ratio(item, THROUGHPUT, "shift").low is None for item in shifts.tests)
    assert shifts.marked(THROUGHPUT, Mark.GAIN) == shifts.marked(CPU, Mark.GAIN) == []


def test_geometric_means_are_as_published(shifts: Shifts) -> None:
    assert shifts.tests_in_mean == {THROUGHPUT: 42, CPU: 42} and shifts.load
    for metric, published in ((THROUGHPUT, (0.95, 1.04)), (CPU, (1.12, 0.88))):
        mean = shifts.means[metric]
        assert mean.old
        assert mean.new
        assert mean.shift
        # the published ones have the load among the tests, and are means of ratios that were rounded before
        pairs = ((mean.old, ratio(shifts.load, metric, "old")), (mean.new, ratio(shifts.load, metric, "new")))
        with_load = tuple((of_tests.value**42 * of_load.value) ** (1 / 43) for of_tests, of_load in pairs)
        assert with_load == pytest.approx(published, abs=0.006)
        assert mean.shift.value == pytest.approx(mean.new.value / mean.old.value)


@pytest.mark.parametrize(
    ("test", "metric", "old", "new"),
    [
        ("load", THROUGHPUT, 0.862, 1.39),
        ("load", CPU, 1.384, 0.79),
        ("points-covered-pk.pre-100", DISK_READS, 0.029, 0.03),
        ("update-one-100", DISK_READS, 0.0, 1.0),
        ("update-one-100", DISK_READ_BYTES, 0.0, 1.0),
        ("insert-100", DISK_READ_BYTES, 17.116, 16.00),
        ("scan-100", CPU, 1.667, 1.18),
    ],
)
def test_ratios_are_those_printed(shifts: Shifts, test: str, metric: str, old: float, new: float) -> None:
    item = next(item for item in shifts.tests if item.test == test)
    assert ratio(item, metric, "old").value == pytest.approx(old, abs=0.0006)
    assert ratio(item, metric, "new").value == pytest.approx(new, abs=0.006)


def test_shift_is_new_over_old(shifts: Shifts) -> None:
    for item in shifts.tests:
        old, new, shift = (math.log(ratio(item, CPU, side).value) for side in ("old", "new", "shift"))
        assert shift == pytest.approx(new - old)
