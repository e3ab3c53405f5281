"""A known slowdown in one of two copies of a real server is found, and is as large as the library says."""

import math
from statistics import fmean

import pytest

from dbversus.results.layout import lay_out
from dbversus.results.read import open_results
from dbversus.results.stored import Results
from dbversus.stats.metrics import CPU, metric_named
from dbversus.stats.simulation.injected import true_log_ratios
from dbversus.stats.values.blocks import block_values

from .conftest import Bench

SHARE = 1.0  # as much again: far more than what a busy host makes of equal copies


def _cpu_ratios(results: Results) -> dict[tuple[str, str, int], float]:
    """ln(target/base) as measured; disturbed rows are in it, so that there is one on a busy host."""
    slots = {name: column for name, column in results.slots.items() if name != "disturbed"}
    values = block_values(lay_out(slots, results.base.label), [metric_named(CPU)])
    return {(value.test, value.target, value.block): value.value or 0 for value in values}


@pytest.mark.alone
def test_an_injected_slowdown_is_measured_as_what_it_is(bench: Bench, postgres: str) -> None:
    file = bench.write([postgres, postgres], "point-query", f"[inject.1.cpu]\npoint-query = {SHARE}\n")
    file.write_text(file.read_text().replace("slot_ms = 10", "slot_ms = 30").replace("rows = 6", "rows = 12"))
    bench.run("run", file, "--out", bench.out)
    results = open_results(bench.out)
    truths = true_log_ratios(results)
    measured = _cpu_ratios(results)
    assert len(truths) >= 2 and truths.keys() == measured.keys()
    for truth in truths.values():
        assert 0.5 * math.log(1 + SHARE) < truth < 1.25 * math.log(1 + SHARE)
    errors = [measured[place] - truth for place, truth in truths.items()]
    assert abs(fmean(errors)) < 0.5 * fmean(truths.values())
    for record in bench.records("injected"):
        base, slowed = record["targets"]["t0"], record["targets"]["t1"]
        assert (base["cpu_share"], base["burned_ns"], slowed["cpu_share"]) == (0, 0, SHARE)
        assert 0.9 * SHARE < slowed["burned_ns"] / slowed["work_ns"] < 1.1 * SHARE
    assert any(record["target"] == "t1" and "on purpose" in record["words"] for record in bench.records("remark"))


@pytest.mark.alone
def test_bursts_add_their_part_of_the_work(bench: Bench, postgres: str) -> None:
    burst = "{ share = 1.0, ms = 2, every_ms = 20 }"
    file = bench.write([postgres, postgres], "point-query", f"[inject.1.cpu]\npoint-query = {burst}\n")
    file.write_text(file.read_text().replace("slot_ms = 10", "slot_ms = 30").replace("rows = 6", "rows = 12"))
    bench.run("run", file, "--out", bench.out)
    records = bench.records("injected")
    assert len(records) >= 2
    for record in records:
        base, slowed = record["targets"]["t0"], record["targets"]["t1"]
        assert "cpu_every_ms" not in base and not base["burned_ns"]
        assert (slowed["cpu_share"], slowed["cpu_ms"], slowed["cpu_every_ms"]) == (1.0, 2, 20)
        assert 0.06 < slowed["burned_ns"] / slowed["work_ns"] < 0.15
    for truth in true_log_ratios(open_results(bench.out)).values():
        assert 0.03 < truth < math.log(1.15)


def test_copies_that_only_carry_the_library_count_and_add_nothing(bench: Bench, postgres: str) -> None:
    file = bench.write([postgres, postgres], "point-query,update-index", "inject = {}\n")
    bench.run("run", file, "--out", bench.out)
    records = bench.records("injected")
    assert {record["test"] for record in records} == {"point-query", "update-index"} and len(records) >= 4
    for record in records:
        assert set(record["targets"]) == {"t0", "t1"}
        for figures in record["targets"].values():
            assert figures["work_ns"] > 0
            assert (figures["burned_ns"], figures["io_bytes_added"], figures["io_reads_added"]) == (0, 0, 0)
            if record["test"] == "point-query":  # one request, which is read at once: the counters span the operations
                assert abs(figures["reads"] - figures["ops"]) <= 0.01 * figures["ops"] + 5
            else:
                assert figures["reads"] > 0 and figures["io_bytes_seen"] > 0
    assert set(true_log_ratios(open_results(bench.out)).values()) == {0.0}


def test_an_embedded_database_cannot_be_slowed_down(bench: Bench) -> None:
    file = bench.write(["sqlite:bundled", "sqlite:bundled"], "point-query", "inject = {}\n")
    done = bench.run("run", file, "--out", bench.out, status=2)
    assert "nothing to inject into" in done.stderr and len(done.stderr.strip().splitlines()) == 1
