"""The truth of injected slowdowns, from journals in which costs are known."""

import math
from pathlib import Path
from typing import Any

import pytest

from dbversus.results.read import open_results
from dbversus.stats.metrics import IO_BYTES
from dbversus.stats.simulation.injected import true_log_ratios

from ...journals import DictJournal

LABELS = ("pg", "pg#2", "pg#3")
OPS = 1000
BASE_CPU_NS = 20_000


def _slot(name: str, place: int, cpu_ns_per_op: float, read_bytes_per_op: float = 0) -> dict[str, Any]:
    figures = {"server_cpu_ns": round(cpu_ns_per_op * OPS), "server_read_bytes": round(read_bytes_per_op * OPS)}
    return {"target": name, "position": place, "ops": OPS, "elapsed_ns": 50_000_000, "server_write_bytes": 0, **figures}


def _row(
    number: int, slots: list[dict[str, Any]], *, block: int = 0, disturbed: bool = False, **tag: str
) -> dict[str, Any]:
    where = {"block": block, "test": "point-query", "clients": 1, **tag}
    return {"type": "row", **where, "row": number, "started_unix_ns": number, "disturbed": disturbed, "slots": slots}


def _injected(
    block: int = 0, ops: int = 100_000, group: str | None = None, **added: dict[str, float]
) -> dict[str, Any]:
    nothing = {"cpu_share": 0.0, "io_share": 0.0, "burned_ns": 0, "io_bytes_added": 0, "ops": ops}
    targets = {
        name: {**nothing, **{kind: round(of) for kind, of in figures.items()}} for name, figures in added.items()
    }
    tag = {"group": group} if group else {}
    return {"type": "injected", "block": block, "test": "point-query", "targets": targets, **tag}


def _truths(directory: Path, *records: dict[str, Any], metric: str | None = None) -> dict[tuple[str, str, int], float]:
    targets = [{"name": f"t{number}", "label": label} for number, label in enumerate(LABELS)]
    with DictJournal(directory) as journal:
        journal.append({"type": "experiment", "schema": 2, "targets": targets, "tests": ["point-query"]})
        for record in records:
            journal.append(record)
    results = open_results(directory)
    return true_log_ratios(results, metric) if metric else true_log_ratios(results)


def _rows(cpu_ns: tuple[float, ...], first: int = 0, **more: Any) -> list[dict[str, Any]]:
    slots = [_slot(f"t{n}", n, cpu) for n, cpu in enumerate(cpu_ns)]
    return [_row(number, slots, **more) for number in range(first, first + 4)]


def test_what_was_burned_is_what_the_copy_would_not_have_cost(tmp_path: Path) -> None:
    rows = _rows((BASE_CPU_NS, BASE_CPU_NS, BASE_CPU_NS * 1.05))
    burned = {"burned_ns": 100_000 * BASE_CPU_NS * 0.05}
    truths = _truths(tmp_path, *rows, _injected(t0={}, t1={}, t2=burned))
    assert truths == {("point-query", "pg#2", 0): 0.0, ("point-query", "pg#3", 0): pytest.approx(math.log(1.05))}


def test_an_injected_base_is_the_other_side_of_the_difference(tmp_path: Path) -> None:
    rows = _rows((BASE_CPU_NS * 1.02, BASE_CPU_NS, BASE_CPU_NS * 1.05))
    shares: dict[str, Any] = {
        name: {"burned_ns": 100_000 * BASE_CPU_NS * share} for name, share in (("t0", 0.02), ("t2", 0.05))
    }
    truths = _truths(tmp_path, *rows, _injected(t1={}, **shares))
    assert truths["point-query", "pg#3", 0] == pytest.approx(math.log(1.05 / 1.02))
    assert truths["point-query", "pg#2", 0] == pytest.approx(math.log(1 / 1.02))


def test_blocks_and_parts_of_a_resumed_test_are_told_apart(tmp_path: Path) -> None:
    rows = [row for block in (0, 1) for row in _rows((BASE_CPU_NS,) * 3, block=block)]
    first = _injected(0, 1_000, t0={}, t2={"burned_ns": 1_000 * 4_000})
    second = _injected(0, 3_000, t0={}, t2={"burned_ns": 0})
    other = _injected(1, 1_000, t0={}, t2={"burned_ns": 1_000 * 2_000})
    truths = _truths(tmp_path, *rows, first, second, other)
    assert truths["point-query", "pg#3", 0] == pytest.approx(-math.log(1 - 1_000 / BASE_CPU_NS))
    assert truths["point-query", "pg#3", 1] == pytest.approx(-math.log(1 - 2_000 / BASE_CPU_NS))


def test_disturbed_rows_count_on_both_sides_since_the_counters_span_them(tmp_path: Path) -> None:
    costs = (BASE_CPU_NS, BASE_CPU_NS, BASE_CPU_NS * 1.1)
    rows = [*_rows(costs), *_rows((5 * costs[0], 5 * costs[1], 5 * costs[2]), first=4, disturbed=True)]
    burned = {"burned_ns": 100_000 * BASE_CPU_NS * 0.1 * (1 + 5) / 2}
    truths = _truths(tmp_path, *rows, _injected(t0={}, t2=burned))
    assert truths == {("point-query", "pg#3", 0): pytest.approx(math.log(1.1))}


def test_each_group_has_its_own_base(tmp_path: Path) -> None:
    rows = []
    for number, (name, cpu_ns, base_ns) in enumerate((("t1", 22_000, 20_000), ("t2", 33_000, 30_000))):
        slots = [_slot("t0", 0, base_ns), _slot(name, 1, cpu_ns)]
        rows += [_row(number * 10_000 + row, slots, group=f"g{number}") for row in range(3)]
    records = [
        _injected(group="g0", t0={}, t1={"burned_ns": 100_000 * 2_000}),
        _injected(group="g1", t0={"burned_ns": 100_000 * 6_000}, t2={"burned_ns": 100_000 * 3_000}),
    ]
    truths = _truths(tmp_path, *rows, *records)
    assert truths["point-query", "pg#2", 0] == pytest.approx(math.log(1.1))
    assert truths["point-query", "pg#3", 0] == pytest.approx(math.log(1.1) - math.log(30 / 24))


def test_io_has_a_truth_where_there_is_io_without_the_injected(tmp_path: Path) -> None:
    read = (2_000, 3_000, 1_000)
    rows = [_row(number, [_slot(f"t{n}", n, 1e4, each) for n, each in enumerate(read)]) for number in range(3)]
    added: dict[str, Any] = {"t1": {"io_bytes_added": 100_000 * 1_000}, "t2": {"io_bytes_added": 100_000 * 1_000}}
    truths = _truths(tmp_path, *rows, _injected(t0={}, **added), metric=IO_BYTES)
    assert truths == {("point-query", "pg#2", 0): pytest.approx(math.log(1.5))}


def test_without_injection_nothing_is_true(tmp_path: Path) -> None:
    assert _truths(tmp_path, *_rows((BASE_CPU_NS,) * 3)) == {}


def test_a_base_whose_share_is_unknown_has_no_ratios(tmp_path: Path) -> None:
    assert _truths(tmp_path, *_rows((BASE_CPU_NS,) * 3), _injected(t2={"burned_ns": 5})) == {}
