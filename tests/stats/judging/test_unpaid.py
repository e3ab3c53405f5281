"""What servers left for later: a note of a gain in throughput, and no verdict of a change of IO that it could undo."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dbversus.stats.headline import headline
from dbversus.stats.judging.unpaid import withhold_unpaid
from dbversus.stats.judging.verdicts import decided
from dbversus.stats.metrics import CPU, DISK_WRITE_BYTES, DRAIN_WRITES, IO_BYTES, THROUGHPUT, WRITE_BYTES
from dbversus.stats.model import Finding, Verdict

SLOTS = {
    "test": np.array(["t"] * 4),
    "target": np.array(["a", "b", "a", "b"]),
    "driven_ops": np.ma.masked_array([10, 10, 30, 30]),
    "driven_read_bytes": np.ma.masked_array(np.zeros(4)),
    "driven_write_bytes": np.ma.masked_array([40_000, 60_000, 120_000, 260_000]),
}


def drained(a: float | None, b: float | None) -> list[dict[str, Any]]:
    """Bytes per operation of the base and the target, in each of two blocks."""
    left = {"a": a, "b": b}
    return [
        {"block": block, "test": "t", "target": target, "target_group": None, "ops": 100, DRAIN_WRITES: left[target]}
        for block in range(2)
        for target in left
    ]


def changed(ratio: float, metric: str = THROUGHPUT) -> Finding:
    verdict = Verdict.IMPROVEMENT if ratio > 1 else Verdict.REGRESSION
    known = 0.95, 8, 0.0, 0.0, 0.05, 0.02, 0.01, 9.0
    return Finding(
        "t", "b", metric, verdict, ratio, ratio - 0.02, ratio + 0.02, *known, fresh_blocks=4, note="confirmed"
    )


@pytest.mark.parametrize(
    ("ratio", "base_left", "target_left", "who"),
    [
        (1.1, 1_000.0, 9_000.0, "it"),
        (1.3, 1_000.0, 9_000.0, "it"),
        (1.1, 1_000.0, 7_000.0, ""),  # less than half of its writes
        (1.1, 5_000.0, 9_000.0, ""),  # the base put off much as well
        (0.9, 1_000.0, 9_000.0, ""),  # slower all the same
        (0.9, 9_000.0, 1_000.0, "the base"),
        (1.1, None, None, ""),
    ],
)
def test_a_gain_of_who_put_off_most_writes_says_so(
    ratio: float, base_left: float | None, target_left: float | None, who: str
) -> None:
    """The base writes 4 kB per operation in the test, the target 8 kB."""
    finding = changed(ratio)
    (found,) = withhold_unpaid([finding], SLOTS, "a", drained(base_left, target_left))
    assert replace(found, note=finding.note) == finding
    said = f"confirmed; {who} put off most of its writes (" if who else "confirmed"
    assert found.note.startswith(said)
    assert not who or f"{who} put off most of its writes" in headline([found])[1]


def test_cpu_is_charged_for_what_was_put_off_and_keeps_its_verdict() -> None:
    cpu = changed(0.9, CPU)
    assert withhold_unpaid([cpu], SLOTS, "a", drained(1_000, 9_000)) == [cpu]


def stood(block: int, target: str, figure: str, value: float, per_op: float | None = None) -> dict[str, Any]:
    place = {"block": block, "test": "t", "target": target, "target_group": None}
    return {**place, "figure": figure, "value": value, "per_op": per_op}


def objects(base: Mapping[str, float], target: Mapping[str, float]) -> list[dict[str, Any]]:
    """Figures per operation of the base and the target; those of the log are counts, the others stand at the end."""
    return [
        stood(block, name, figure, value * 100, value if figure.startswith("log_") else None)
        for block in range(2)
        for name, figures in (("a", base), ("b", target))
        for figure, value in figures.items()
    ]


NOTHING: Mapping[str, float] = {}


@pytest.mark.parametrize(
    ("base_drained", "target_drained", "base_told", "target_told", "words"),
    [
        (0.0, 0.0, NOTHING, NOTHING, None),
        (1_000.0, 2_000.0, {"unwritten_bytes": 1_000.0}, {"unwritten_bytes": 2_000.0}, None),
        (9_000.0, 0.0, NOTHING, NOTHING, "−38 % with what was written right after the test"),
        (0.0, 0.0, {"unwritten_bytes": 9_000.0}, NOTHING, "−38 % with all that was left unwritten"),
        # both have most of it before them: what they differ by now is lost in it
        (0.0, 0.0, {"dirty_pages": 4.0}, {"dirty_pages": 4.0}, "+3.0 % with all that was left unwritten"),
        (0.0, 0.0, NOTHING, {"log_page_images": 0.8, "log_bytes": 6_900.0}, "−64 % without whole pages in the log"),
        (0.0, 0.0, NOTHING, {"log_page_images": 0.8, "log_bytes": 2_000.0}, None),
        # an old PostgreSQL, whose log is not told of
        (0.0, 0.0, {"dirty_buffers": 0.01}, {"log_page_images": 0.8, "log_bytes": 6_900.0}, None),
    ],
)
def test_a_change_of_io_stands_with_and_without_what_was_put_off(
    base_drained: float,
    target_drained: float,
    base_told: Mapping[str, float],
    target_told: Mapping[str, float],
    words: str | None,
) -> None:
    """The base writes 4 kB per operation in the test, the target 8 kB."""
    finding = replace(changed(2.0, IO_BYTES), verdict=Verdict.REGRESSION)
    told = objects(base_told, target_told)
    (found,) = withhold_unpaid([finding], SLOTS, "a", drained(base_drained, target_drained), told)
    if words is None:
        assert found == finding
    else:
        assert found.verdict is Verdict.UNDECIDED
        assert found.note == f"a longer run may differ: it is {words}"
        assert decided([found]) == {"t"}, "more blocks would not change it"


@pytest.mark.parametrize("metric", [WRITE_BYTES, DISK_WRITE_BYTES])
def test_bytes_written_have_to_stand_as_the_sum_of_io_has_to(metric: str) -> None:
    """Much is read besides, which is none of them: the base writes 4 kB per operation in the test, the target 8 kB."""
    finding = replace(changed(2.0, metric), verdict=Verdict.REGRESSION)
    much = {**SLOTS, "driven_read_bytes": np.ma.masked_array(np.full(4, 1e8))}
    assert withhold_unpaid([finding], much, "a", drained(1_000, 2_000)) == [finding]
    (found,) = withhold_unpaid([finding], much, "a", drained(9_000, 0))
    assert (found.verdict, found.note[-48:]) == (Verdict.UNDECIDED, "−38 % with what was written right after the test")


def test_fewer_bytes_have_to_stand_as_well() -> None:
    finding = replace(changed(0.5, IO_BYTES), verdict=Verdict.IMPROVEMENT)
    turned = {**SLOTS, "driven_write_bytes": SLOTS["driven_write_bytes"][::-1]}
    assert withhold_unpaid([finding], turned, "a", drained(0, 0)) == [finding]
    (found,) = withhold_unpaid([finding], turned, "a", drained(0, 9_000))
    assert found.verdict is Verdict.UNDECIDED
