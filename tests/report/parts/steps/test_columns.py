"""The columns of the Insert Benchmark: each from sums whose result is known."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from dbversus.report.parts.steps.columns import COLUMNS, exceeded, steps
from dbversus.results.records import Series, Slots
from dbversus.results.schema import JOURNAL

from ...synthetic import write_results
from ..each_test.test_timeline import SECOND_NS, seconds_of, series_results


def write(folder: Path) -> Path:
    """Results in which the first test has seconds."""
    directory = write_results(folder / "results", blocks=1)
    series = Series(0, "point-query", {"t0": seconds_of([(100, 2, SECOND_NS)] * 12)})
    with (directory / JOURNAL).open("ab") as journal:
        journal.write(msgspec.json.encode(series) + b"\n")
    return directory


def test_rates_and_costs_are_of_sums_over_all_blocks() -> None:
    results = series_results([(100, 2, SECOND_NS)] * 5, [(50, 2, SECOND_NS)] * 5)
    results = replace(results, records=(*results.records, Slots(0, "test0", {}, {}, 1, does={"": "query"})))
    label = results.base.label
    (line,) = [line for line in steps(results) if line["target"] == label]
    mine = (results.slots["test"] == "test0") & (results.slots["target"] == label)
    total = {name: float(results.slots[name][mine].sum()) for name in ("elapsed_ns", "ops", "server_cpu_ns")}
    assert list(line) == list(COLUMNS)
    assert line["qps"] == line["ops"] == pytest.approx(total["ops"] / total["elapsed_ns"] * 1e9)
    assert line["cpupq"] == pytest.approx(total["server_cpu_ns"] / 1e3 / total["ops"])
    assert line["cpups"] == pytest.approx(100 * total["server_cpu_ns"] / total["elapsed_ns"])
    assert line["seconds"] == pytest.approx(total["elapsed_ns"] / 1e9 / 2)
    assert (line["ips"], line["wkbpi"], line["stall"], line["sla"]) == (None, None, 0.0, "")
    assert (line["p50"], line["p99"]) == (100.0, 50.0)


def test_a_rate_is_exceeded_in_so_many_seconds() -> None:
    falling = [float(rate) for rate in range(100, 0, -1)]
    assert (exceeded(falling, 50), exceeded(falling, 99)) == (51.0, 2.0)
    assert exceeded(falling[:9], 50) is None


def test_tests_without_seconds_or_roles_have_no_line() -> None:
    assert steps(series_results()) == []
