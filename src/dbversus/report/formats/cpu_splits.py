"""Server CPU per operation as bars of its parts: user and system, foreground, background and what was drained."""

from collections.abc import Sequence
from typing import Any

from dbversus.report.model import Figure, TargetFacts, TestPart
from dbversus.stats.metrics import BACKGROUND_CPU, DRAIN_CPU, FOREGROUND_CPU, SYSTEM_CPU, USER_CPU

_CPU_SPLITS = (
    (USER_CPU, SYSTEM_CPU),
    (FOREGROUND_CPU, BACKGROUND_CPU, DRAIN_CPU),
)


def cpu_splits(test: TestPart, targets: Sequence[TargetFacts]) -> list[list[dict[str, Any]]]:
    """CPU per operation as bars: per split one entry per target, in shares of the widest.

    What was drained stands beside foreground and background: it is part of neither.
    """
    by_name = {figure.metric: figure for figure in test.figures}
    splits = []
    for names in _CPU_SPLITS:
        parts = [by_name.get(name) for name in names]
        known = [figure for figure in parts if figure is not None]
        if not known:
            continue
        widest = max(sum(_value(figure, facts.target.label) for figure in known) for facts in targets) or 1.0
        splits.append([_bar(known, facts.target.label, widest) for facts in targets])
    return splits


def _value(figure: Figure, label: str) -> float:
    return figure.estimates[label].value or 0.0


def _bar(known: Sequence[Figure], label: str, widest: float) -> dict[str, Any]:
    pieces = [
        {
            "title": figure.title.removeprefix("server ").removesuffix(" CPU per op"),
            "value": _value(figure, label),
            "width": 100 * _value(figure, label) / widest,
        }
        for figure in known
    ]
    return {"label": label, "pieces": pieces}
