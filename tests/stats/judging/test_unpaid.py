"""A small gain in throughput of a server that left most of its writes for later is no verdict."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dbversus.stats.headline import headline
from dbversus.stats.judging.unpaid import Written, withhold_unpaid, written_by
from dbversus.stats.judging.verdicts import decided
from dbversus.stats.metrics import CPU, DRAIN_WRITES, THROUGHPUT
from dbversus.stats.model import Finding, Verdict

SLOTS = {
    "test": np.array(["t"] * 4),
    "target": np.array(["a", "b", "a", "b"]),
    "ops": np.ma.masked_array([10, 10, 30, 30]),
    "server_write_bytes": np.ma.masked_array([40_000, 60_000, 120_000, 260_000]),
}


def drained(a: float | None, b: float | None) -> list[dict[str, Any]]:
    """Bytes per operation of the base and the target, in each of two blocks."""
    left = {"a": a, "b": b}
    return [
        {"block": block, "test": "t", "target": target, DRAIN_WRITES: left[target]}
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
    ("ratio", "base_left", "target_left", "withheld"),
    [
        (1.1, 1_000.0, 9_000.0, True),
        (1.1, 1_000.0, 7_000.0, False),  # less than half of its writes
        (1.1, 5_000.0, 9_000.0, False),  # the base put off much as well
        (1.3, 1_000.0, 9_000.0, False),  # more than writes explain
        (0.9, 1_000.0, 9_000.0, False),  # slower all the same
        (0.9, 9_000.0, 1_000.0, True),
        (1.1, None, None, False),
    ],
)
def test_only_small_gains_of_who_put_off_most_writes_are_withheld(
    ratio: float, base_left: float | None, target_left: float | None, withheld: bool
) -> None:
    """The base writes 4 kB per operation in the test, the target 8 kB."""
    finding = replace(changed(ratio), whole_work=Verdict.IMPROVEMENT)
    (found,) = withhold_unpaid([finding], SLOTS, "a", drained(base_left, target_left))
    assert (found.verdict is Verdict.UNDECIDED) is withheld
    assert found.ratio == ratio
    if withheld:
        assert found.whole_work is None
        who = "it" if ratio > 1 else "the base"
        verdict, said = headline([found])
        assert verdict is Verdict.UNDECIDED and f"{who} put off most of its writes" in said
        assert decided([found]) == {"t"}, "more blocks would not change it"


def test_cpu_is_charged_for_what_was_put_off_and_keeps_its_verdict() -> None:
    cpu = changed(0.9, CPU)
    assert withhold_unpaid([cpu], SLOTS, "a", drained(1_000, 9_000)) == [cpu]


def test_bytes_are_those_of_all_slots_and_the_mean_of_the_drains() -> None:
    assert written_by(SLOTS, drained(1_000, None)) == {("t", "a"): Written(4_000, 1_000)}
    unknown = {**SLOTS, "server_write_bytes": np.ma.masked_array(np.zeros(4), mask=True)}
    assert written_by(unknown, drained(1_000, 2_000)) == {}
