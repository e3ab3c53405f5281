"""Targets whose CPU per operation or throughput moved while they were measured, each by itself: what ratios cancel."""

from collections import defaultdict
from collections.abc import Mapping

from dbversus.report.words import change
from dbversus.results.read import Results
from dbversus.stats.drift import TRENDS, WATCHED, is_drift, own_trend_values
from dbversus.stats.sequential import LOOKS
from dbversus.stats.verdicts import assess

_TITLES = {trend.name: metric.title for trend, metric in zip(TRENDS, WATCHED, strict=True)}


def drift_notes(results: Results) -> Mapping[str, list[str]]:
    """Test → a sentence for each target and metric that moved by more than the margin, beyond chance."""
    base = results.base.label
    if base not in results.slots["target"]:
        return {}
    looks = tuple(results.header.get("looks") or LOOKS)
    notes: dict[str, list[str]] = defaultdict(list)
    for trend in assess(own_trend_values(results.slots, base), TRENDS, looks):
        if is_drift(trend):
            moved = (
                f"{_TITLES[trend.metric]} of {trend.target} moved by {change(trend.ratio)} during the slots of a block"
            )
            notes[trend.test].append(f"{moved}; verdicts stand on target/base, where what both do alike cancels")
    return notes
