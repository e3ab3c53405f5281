"""Targets whose CPU per operation or throughput moved while they were measured, each by itself: what ratios cancel."""

from collections import defaultdict
from collections.abc import Mapping

from dbversus.report.words import change
from dbversus.results.stored import Results
from dbversus.stats.judge import looks_of
from dbversus.stats.judging.verdicts import assess
from dbversus.stats.metrics import SMOOTH
from dbversus.stats.validity.drift import TRENDS, is_drift, own_trend_values
from dbversus.stats.values.finished import of_finished_blocks

_TITLES = {trend.name: metric.title for trend, metric in zip(TRENDS, SMOOTH, strict=True)}


def drift_notes(results: Results) -> Mapping[str, list[str]]:
    """Test → a sentence for each target and metric that moved by more than the margin, beyond chance."""
    base, slots = results.base.label, of_finished_blocks(results).slots
    if base not in slots["target"]:
        return {}
    notes: dict[str, list[str]] = defaultdict(list)
    for trend in assess(own_trend_values(slots, base), TRENDS, looks_of(results.header)):
        if is_drift(trend):
            moved = (
                f"{_TITLES[trend.metric]} of {trend.target} moved by {change(trend.ratio)} during the slots of a block"
            )
            notes[trend.test].append(f"{moved}; verdicts stand on target/base, where what both do alike cancels")
    return notes
