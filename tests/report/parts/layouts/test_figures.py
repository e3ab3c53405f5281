"""Ours in the reference's columns and units, from figures that are known."""

from dataclasses import replace

import numpy as np
import pytest

from dbversus.report.model import LayoutPart, LayoutTest
from dbversus.report.parts.layouts.figures import layout_part
from dbversus.report.parts.steps.summary import steps_part
from dbversus.results.read import open_results
from dbversus.results.records import Slots
from dbversus.results.stored import Results

from ...pairs import FOUR, write_pairs
from ..each_test.test_timeline import SECOND_NS, series_results

CPUS = 4
BASE = FOUR[0].label


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Operations of two statements on a host of four CPUs; a client takes 10 µs and one switch for each."""
    found = open_results(write_pairs(tmp_path_factory.mktemp("layouts") / "r", clients=[8]))
    ops = found.slots["ops"]
    more = {"client_cpu_ns": ops * 10_000, "client_switches": ops, "statements": ops * 2}
    return replace(found, slots={**found.slots, **more}, host={"cpu": {"logical": CPUS}})


def named(part: LayoutPart, name: str) -> LayoutTest:
    return next(test for test in part.tests if test.name == name)


def test_cpu_is_of_server_and_client_in_percent_of_the_machine_per_statement(measured: Results) -> None:
    figures = named(layout_part(measured, None), "point-query.range100").figures[BASE]
    assert figures["cpu/o"] == pytest.approx((30 + 10) * 1e-6 * 100 / CPUS / 2, rel=0.02)
    assert figures["cs/o"] == pytest.approx((2 + 1) / 2)
    assert figures["wKB/o"] == pytest.approx(0.25)
    assert figures["o/s"] == pytest.approx(2 * 20_000, rel=0.02)


def test_what_a_host_does_not_tell_is_not_made_up(measured: Results) -> None:
    """CPU of the machine needs the number of its CPUs, and the client's share."""
    for lacking in (
        replace(measured, host={}),
        replace(
            measured, slots={**measured.slots, "client_cpu_ns": np.ma.MaskedArray(measured.slots["ops"], mask=True)}
        ),
    ):
        figures = named(layout_part(lacking, None), "point-query.range100").figures[BASE]
        assert "cpu/o" not in figures and "o/s" in figures


def test_tests_have_their_number_of_clients_and_the_load_none(measured: Results) -> None:
    part = layout_part(measured, None)
    assert [(test.name, test.clients) for test in part.tests] == [
        ("load", None),
        ("point-query.range100", 8),
        ("update-index.range100", 8),
    ]
    assert part.tests[0].figures[BASE]["o/s"] == 1000.0
    assert part.targets == {
        "postgres:11": "pg1122.base",
        "mysql:5.6": "my5651.base",
        "postgres:17": "pg172.base",
        "mysql:8.0": "my8036.base",
    }


def test_scans_are_counted_in_rows(measured: Results) -> None:
    plan = Slots(0, "point-query", {}, {}, 1, rows_scanned_per_op=1000)
    part = layout_part(replace(measured, records=(*measured.records, plan)), None)
    scan = named(part, "point-query.range100")
    assert scan.of_rows and scan.figures[BASE]["o/s"] == pytest.approx(1000 * 20_000, rel=0.02)
    assert scan.figures[BASE]["cs/o"] == pytest.approx(3 / 1000)


def test_steps_have_the_machines_cpu_and_powers_of_1024() -> None:
    results = series_results([(100, 2, SECOND_NS)] * 12, [(100, 2, SECOND_NS)] * 12)
    plan = Slots(0, "test0", {"ops": 10, "slice_ms": 1000}, {}, 1, does={"": "query"})
    slots = dict(results.slots)
    slots |= {"client_cpu_ns": slots["server_cpu_ns"], "client_switches": slots["ops"], "server_switches": slots["ops"]}
    slots |= {"disk_read_bytes": slots["ops"] * 2048, "disk_reads": slots["ops"]}
    results = replace(results, records=(*results.records, plan), slots=slots, host={"cpu": {"logical": 2}})
    part = layout_part(results, steps_part(results, []))

    assert part.tests == ()
    (step,) = part.steps
    figures = step.figures[results.base.label]
    mine = slots["target"] == results.base.label
    ops, elapsed_ns, cpu_ns = (float(slots[name][mine].sum()) for name in ("ops", "elapsed_ns", "server_cpu_ns"))
    assert figures["ips"] == 0
    assert figures["qps"] == pytest.approx(ops / elapsed_ns * 1e9)
    assert figures["cpupq"] == pytest.approx(2 * cpu_ns / 1e3 / ops)
    assert figures["cpups"] == pytest.approx(2 * cpu_ns / elapsed_ns * 100 / 2)
    assert figures["cspq"] == pytest.approx(2)
    assert figures["csps"] == pytest.approx(2 * figures["qps"])
    assert figures["rkbpq"] == pytest.approx(2)
    assert figures["rmbps"] == pytest.approx(figures["qps"] * 2 / 1024)
    assert figures["rpq"] == pytest.approx(1)
    assert "wpi" not in figures and "wkbpi" not in figures
