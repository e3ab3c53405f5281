"""Files made ready ahead, and work by the clock, are no cost of an operation."""

from typing import Any

import numpy as np
import pytest

from dbversus.stats.headline import headline
from dbversus.stats.judging.not_per_op import ahead_of, withhold_not_per_op
from dbversus.stats.judging.verdicts import decided
from dbversus.stats.metrics import CPU, IO_BYTES, THROUGHPUT, WRITE_BYTES
from dbversus.stats.model import Finding, Verdict

SEGMENT = 16 * 2**20
SEGMENTS = {"a": float(SEGMENT), "b": float(SEGMENT)}


def slots(written: tuple[float, float], ops: tuple[int, int] = (1000, 1000), affected: int = 1) -> dict[str, Any]:
    """Two blocks of a second each; the base is `a`, the target `b`."""
    columns = {
        "block": [0, 0, 1, 1],
        "driven_ops": [*ops, *ops],
        "ops": [*ops, *ops],
        "driven_read_bytes": [0] * 4,
        "driven_write_bytes": [*written, *written],
        "elapsed_ns": [1_000_000_000] * 4,
        "affected": [affected] * 4,
    }
    arrays: dict[str, Any] = {name: np.ma.masked_array(values) for name, values in columns.items()}
    return arrays | {"test": np.array(["t"] * 4, dtype=object), "target": np.array(["a", "b"] * 2, dtype=object)}


def found(metric: str, ratio: float) -> Finding:
    verdict = Verdict.REGRESSION if (ratio > 1) != (metric == THROUGHPUT) else Verdict.IMPROVEMENT
    return Finding(
        "t", "b", metric, verdict, ratio, ratio * 0.98, ratio * 1.02, 0.95, 8, 0.0, 0.0, 0.05, 0.02, 0.01, 9.0
    )


def filled(**of_targets: float) -> list[dict[str, Any]]:
    """What PostgreSQL 18 counts per operation: bytes that it filled, and that it wrote records at all."""
    return [
        {"test": "t", "target": target, "block": block, "counter": f"io.client_backend.wal.{kind}", "per_op": value}
        for target, per_op in of_targets.items()
        for block in (0, 1)
        for kind, value in (("init.write_bytes", per_op), ("normal.writes", 1.0))
        if value
    ]


@pytest.mark.parametrize(
    ("written", "segments", "stands"),
    [
        ((4.8e6, 4.8e6 + SEGMENT), SEGMENTS, False),  # the case of a step of 0.8 s: 4.49 times as much
        ((4.8e6 + SEGMENT, 4.8e6), SEGMENTS, False),
        ((4.8e6, 4.8e6 + 2 * SEGMENT), SEGMENTS, True),
        ((4.8e6, 4.8e6 + SEGMENT), {}, True),  # no server that fills files
        ((400e6, 480e6), SEGMENTS, True),  # long enough to be judged
    ],
)
def test_one_file_made_ready_ahead_is_no_change(
    written: tuple[float, float], segments: dict[str, float], stands: bool
) -> None:
    finding = found(IO_BYTES, written[1] / written[0])
    (judged,) = withhold_not_per_op([finding], slots(written), "a", ahead_of(segments, []))
    if stands:
        assert judged == finding
        return
    assert judged.verdict is Verdict.UNDECIDED and judged.ratio == finding.ratio
    assert "one segment of the log, 16.8 MB" in judged.note and "too short to be judged by IO" in judged.note
    assert decided([judged]) == {"t"} and "16.8 MB" in headline([judged])[1]


@pytest.mark.parametrize(("segments", "stands"), [(1, False), (2, True)])
def test_bytes_written_are_judged_by_themselves(segments: int, stands: bool) -> None:
    """However much is read besides."""
    much = slots((4.8e6, 4.8e6 + segments * SEGMENT)) | {"driven_read_bytes": np.ma.masked_array([1e10] * 4)}
    finding = found(WRITE_BYTES, 4.49)
    (judged,) = withhold_not_per_op([finding], much, "a", ahead_of(SEGMENTS, []))
    assert (judged == finding) is stands and (judged.verdict is Verdict.UNDECIDED) is not stands


@pytest.mark.parametrize(
    ("told", "stands"),
    [
        (filled(a=0.0, b=float(SEGMENT) / 1000), False),
        (filled(a=0.0, b=0.0), True),  # it filled none: what it wrote more are its own records
        (filled(a=1000.0, b=1000.0), True),
    ],
)
def test_what_a_server_says_it_filled_is_left_out_and_no_more(told: list[dict[str, Any]], stands: bool) -> None:
    written = 4.8e6, 4.8e6 + SEGMENT
    finding = found(IO_BYTES, 4.5)
    (judged,) = withhold_not_per_op([finding], slots(written), "a", ahead_of(SEGMENTS, told))
    assert (judged == finding) is stands
    if not stands:
        assert "none without the segments of the log that were filled ahead" in judged.note


@pytest.mark.parametrize(
    ("ops", "bytes_per_s", "affected", "stands"),
    [
        ((26_000, 1_000), (1.0e6, 1.6e6), 0, False),  # 26 times as slow, and the same writes by the clock
        ((1_000, 26_000), (1.6e6, 1.0e6), 0, False),
        ((2_000, 1_000), (1.0e6, 1.6e6), 0, True),
        ((26_000, 1_000), (1.0e6, 160e6), 0, True),  # reads of what does not fit
        ((5_000, 1_000), (1.0e6, 1.6e6), 9, True),
        ((26_000, 1_000), (1.0e6, 1.6e6), 9, False),
    ],
)
def test_work_by_the_clock_is_none_of_far_more_or_fewer_operations(
    ops: tuple[int, int], bytes_per_s: tuple[float, float], affected: int, stands: bool
) -> None:
    per_op = [written / count for written, count in zip(bytes_per_s, ops, strict=True)]
    findings = [found(CPU, 1.2), found(THROUGHPUT, ops[1] / ops[0]), found(IO_BYTES, per_op[1] / per_op[0])]
    judged = withhold_not_per_op(findings, slots(bytes_per_s, ops, affected), "a", ahead_of({}, []))
    assert judged[:2] == findings[:2]
    assert (judged[2] == findings[2]) is stands
    if not stands:
        assert "by the clock is spread over 26 times as many operations" in judged[2].note
