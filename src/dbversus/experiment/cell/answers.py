"""Whether two targets gave the same answers to a test."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from dbversus.suites.model import Statement


def same_answers(one: Mapping[str, Any], other: Mapping[str, Any], statements: Sequence[Statement]) -> bool:
    """`one`, `other`: replies of the engine's `check`, which has left numbers with a tolerance out of its checksums."""
    if any(one[key] != other[key] for key in ("rows", "affected", "checksum")):
        return False
    tolerances = {statement.name: statement.answers for statement in statements if isinstance(statement.answers, float)}
    return all(
        _near(mine.get("numbers", []), theirs.get("numbers", []), tolerances[mine["name"]])
        for mine, theirs in zip(one["statements"], other["statements"], strict=True)
        if mine["name"] in tolerances
    )


def _near(mine: Sequence[float], theirs: Sequence[float], tolerance: float) -> bool:
    """Both have as many numbers, since their checksums are the same."""
    pairs = zip(mine, theirs, strict=True)
    return all(math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance) for a, b in pairs)
