"""How long it took until a test was decided."""

import importlib
from typing import Any

from ..journals import records_of

reference: Any = importlib.import_module("reference_protocol")

MINUTE_NS = 60_000_000_000


def record(kind: str, minute: float, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "at_unix_ns": int(minute * MINUTE_NS), **fields}


def test_minutes_count_from_the_end_of_the_loading() -> None:
    records = [
        record("experiment", 0, schema=2, targets=[], tests=[]),
        record("load", 1, target="t0", table="x", earlier=False),
        record("load", 2, target="t1", table="x", earlier=False),
        record("look", 5, blocks=4, retired=["a"]),
        record("look", 8, blocks=6, retired=["b"]),
        record("finished", 10, reason="decided"),
    ]
    assert reference.minutes_to_verdict(records_of(*records), {"a", "b", "late"}) == {"a": 3, "b": 6, "late": 8}


def test_a_ratio_of_the_reference_time_only_when_all_is_decided() -> None:
    answers = {"a": reference.Answer({}, 3.0), "b": reference.Answer({}, None)}
    assert "1 of 2 tests decided, the last after 3.0 minutes" in reference.time_words(["a", "b"], 60, 20, answers)
    assert "÷" not in reference.time_words(["a", "b"], 60, 20, answers)
    # 2 targets × 180 s
    assert "time of the reference's protocol: 0.500 (1 ÷ 2.0)" in reference.time_words(["a"], 60, 20, answers)


def test_root_mean_square_error_of_equal_targets() -> None:
    first = {"a": reference.Sequential(1000, 50, 20), "b": reference.Sequential(1000, 50, 20)}
    second = {"a": reference.Sequential(1050, 50, 20), "b": reference.Sequential(1050, 50, 20)}
    assert "0.0% in CPU/op, 4.9% in throughput" in reference.rms_words(["a", "b"], first, second)
