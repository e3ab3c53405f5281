"""Bytes that were written in a test, right after it, and not at all yet."""

from typing import Any

import numpy as np
import pytest

from dbversus.stats.metrics import DRAIN_WRITES
from dbversus.stats.values.put_off import Writes, writes_by_place

SLOTS = {
    "test": np.array(["t", "t", "t"]),
    "target": np.array(["a", "b", "a"]),
    "driven_ops": np.ma.masked_array([10, 10, 30]),
    "driven_read_bytes": np.ma.masked_array([0, 0, 400]),
    "driven_write_bytes": np.ma.masked_array([40_000, 60_000, 120_000]),
}


def drain(block: int, drained: float | None, ops: int = 100) -> dict[str, Any]:
    return {"block": block, "test": "t", "target": "a", "target_group": "g", "ops": ops, DRAIN_WRITES: drained}


def figure(block: int, name: str, value: float, ops: int | None = None) -> dict[str, Any]:
    per_op = value / ops if ops else None
    place = {"block": block, "test": "t", "target": "a", "target_group": "g"}
    return {**place, "figure": name, "value": value, "per_op": per_op}


def test_bytes_are_those_of_all_slots_and_means_of_blocks() -> None:
    """A block whose server owes nothing has no figure of it, and counts."""
    found = writes_by_place(SLOTS, [drain(0, 1_000), drain(1, 3_000)], [figure(0, "unwritten_bytes", 50_000)])
    assert found == {("t", "a"): Writes(read=10, written=4_000, drained=2_000, unwritten=250)}


def test_what_is_unknown_has_no_figures() -> None:
    assert writes_by_place(SLOTS, [drain(0, None)], []) == {}
    assert writes_by_place(SLOTS, [drain(0, 5.0, ops=0)], []) == {}
    unknown = {**SLOTS, "driven_write_bytes": np.ma.masked_array(np.zeros(3), mask=True)}
    assert writes_by_place(unknown, [drain(0, 1_000)], []) == {}


@pytest.mark.parametrize(
    ("told", "unwritten"),
    [
        ([figure(0, "dirty_pages", 10), figure(0, "dirty_pages", 7)], 10 * 32_768 / 100),
        ([figure(0, "dirty_pages", 10), figure(0, "unwritten_bytes", 5_000)], 50),
        ([figure(0, "dirty_buffers", 10)], 819.2),
        ([figure(0, "dirty_bytes", 10)], 0),
    ],
)
def test_the_best_figure_of_what_is_unwritten_counts(told: list[dict[str, Any]], unwritten: float) -> None:
    (writes,) = writes_by_place(SLOTS, [drain(0, 0)], told).values()
    assert writes.unwritten == pytest.approx(unwritten)


def test_images_are_no_more_than_the_log() -> None:
    told = [figure(0, "log_page_images", 200, ops=100), figure(0, "log_bytes", 900_000, ops=100)]
    (writes,) = writes_by_place(SLOTS, [drain(0, 0)], told).values()
    assert writes.images == 9_000
    told[0] = figure(0, "log_page_images", 50, ops=100)
    (writes,) = writes_by_place(SLOTS, [drain(0, 0)], told).values()
    assert writes.images == 4_096


def test_images_are_unknown_where_the_log_is_not_told_of() -> None:
    """PostgreSQL before 14; InnoDB has none."""
    (writes,) = writes_by_place(SLOTS, [drain(0, 0)], [figure(0, "dirty_buffers", 10)]).values()
    assert writes.images is None
    (writes,) = writes_by_place(SLOTS, [drain(0, 0)], [figure(0, "dirty_pages", 10)]).values()
    assert writes.images == 0
