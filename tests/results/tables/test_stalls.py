"""Stalls: seconds without an operation, counted, timed and put together."""

from collections.abc import Sequence
from typing import Any

import pytest

from dbversus.results.records import Seconds, Series
from dbversus.results.records.evidence import RoleSeconds
from dbversus.results.tables.stalls import stall_rows
from dbversus.results.tables.timeline import timeline_rows


def seconds(ops: Sequence[int], target: str = "a", **of_all: Any) -> list[dict[str, Any]]:
    place = {"test": "load", "target": target, "block": 0, "target_group": "", "elapsed_ns": 10**9} | of_all
    return [{**place, "second": number, "ops": done} for number, done in enumerate(ops)]


def test_seconds_in_a_row_are_one_stall() -> None:
    (row,) = stall_rows(seconds([9, 0, 0, 8, 0, 7, 9]))
    assert (row["stalls"], row["stalled_s"], row["longest_s"], row["driven_s"]) == (2, 3.0, 2.0, 7.0)


def test_a_stall_takes_as_long_as_the_operation_that_waited_for_its_end() -> None:
    timeline = seconds([9, 0, 8, 9, 0, 8])
    timeline[2]["slowest_ns"], timeline[5]["slowest_ns"] = 2_000_000_000, 9_000_000_000
    (row,) = stall_rows(timeline)  # nine seconds were more than the second stall
    assert (row["stalls"], row["stalled_s"], row["longest_s"]) == (2, 3.0, 2.0)


def test_the_short_end_of_a_test_is_no_stall_and_a_long_second_counts_whole() -> None:
    timeline = [*seconds([9, 9, 9]), *seconds([0], elapsed_ns=2_500_000_000), *seconds([0], elapsed_ns=10**8)]
    (row,) = stall_rows(timeline)
    assert (row["stalls"], row["longest_s"], row["driven_s"]) == (1, 2.5, pytest.approx(5.5))


def test_blocks_and_targets_are_apart() -> None:
    rows = stall_rows([*seconds([1, 0]), *seconds([0, 1], block=1), *seconds([1, 1], target="b")])
    assert [(row["target"], row["block"], row["stalls"]) for row in rows] == [("a", 0, 1), ("a", 1, 1), ("b", 0, 0)]


def test_work_in_which_next_to_nothing_ends_has_no_stalls() -> None:
    assert stall_rows(seconds([0, 0, 0, 1])) == []


def test_a_target_that_stands_still_most_of_the_time_is_told_by_the_other() -> None:
    rows = stall_rows([*seconds([0, 0, 0, 1], target="a"), *seconds([5, 5, 5], target="b")])
    assert [(row["target"], row["longest_s"]) for row in rows] == [("a", 3.0), ("b", 0.0)]


def test_a_role_has_stalls_of_its_own() -> None:
    of_roles = {
        "readers": RoleSeconds(ops=[9, 8, 9], slowest_ns=[1] * 3),
        "orders": RoleSeconds(ops=[1, 0, 1], slowest_ns=[1] * 3),
    }
    nothing: list[int | None] = [None] * 3
    both = Seconds(
        second=[0, 1, 2],
        elapsed_ns=[10**9] * 3,
        ops=[9, 8, 9],
        rows=[0] * 3,
        affected=[0] * 3,
        errors=[0] * 3,
        slowest_ns=[1] * 3,
        server_cpu_ns=nothing,
        server_read_bytes=nothing,
        server_write_bytes=nothing,
        roles=of_roles,
    )
    records, labels = [Series(0, "mixed", {"t0": both})], {"t0": "a"}
    rows = stall_rows(timeline_rows(records, labels))
    assert [(row["role"], row["stalls"]) for row in rows] == [("", 0), ("readers", 0), ("orders", 1)]
