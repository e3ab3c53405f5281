"""Stalls: seconds without an operation, counted, timed and put together."""

from collections.abc import Sequence
from typing import Any

import pytest

from dbversus.results.stalls import stall_rows


def seconds(ops: Sequence[int], target: str = "a", **of_all: Any) -> list[dict[str, Any]]:
    place = {"test": "load", "target": target, "block": 0, "target_group": "", "elapsed_ns": 10**9} | of_all
    return [{**place, "second": number, "ops": done} for number, done in enumerate(ops)]


def test_seconds_in_a_row_are_one_stall() -> None:
    (row,) = stall_rows(seconds([9, 0, 0, 8, 0, 7, 9]))
    assert (row["stalls"], row["stalled_s"], row["longest_s"], row["driven_s"]) == (2, 3.0, 2.0, 7.0)


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
