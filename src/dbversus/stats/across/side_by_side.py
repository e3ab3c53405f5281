"""Experiments side by side: whether target ÷ base depends on the experiment, from blocks that they do not share.

Within an experiment, means over blocks and their moderated errors are those of the verdicts. Between two experiments the
interaction is the difference of two independent means of ln ratios, with the degrees of freedom of Welch and Satterthwaite.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtr, stdtrit

from dbversus.stats.judging.estimate import estimate
from dbversus.stats.judging.looks import OVERALL, POWER, adjusted_p, confidence_of, name
from dbversus.stats.judging.sequential import alpha_per_look, first_look
from dbversus.stats.judging.verdicts import reservation
from dbversus.stats.means import FEWEST_BLOCKS, Mean, difference
from dbversus.stats.metrics import Floats
from dbversus.stats.model import DIFFERS, BlockValue, Finding, Metric, Verdict
from dbversus.stats.values.table import Key, tabulate

Looks = tuple[int, ...]


@dataclass(frozen=True)
class Measured:
    """What an experiment has to say: means of ln(target/base), margins that are not the metrics' own, and its looks."""

    means: Mapping[Key, Mean]
    margins: Mapping[tuple[str, str], float]
    looks: Looks


def block_means(values: Sequence[BlockValue], metrics: Sequence[Metric]) -> dict[Key, Mean]:
    """Means of ln(target/base) over all blocks; without those that have nothing to compare in any block."""
    table = tabulate(values, metrics, {})
    if not table.keys:
        return {}
    found = estimate(table, len(table.blocks))
    counts = np.count_nonzero(~np.isnan(table.value), axis=1)
    errors = found.moderated_sd / np.sqrt(counts)
    return {
        key: Mean(
            float(found.mean[index]),
            float(errors[index]) if counts[index] >= FEWEST_BLOCKS else None,
            float(found.df[index]) if counts[index] >= FEWEST_BLOCKS else 0.0,
            int(counts[index]),
            (float(np.nanmin(table.value[index])), float(np.nanmax(table.value[index]))),
        )
        for index, key in enumerate(table.keys)
        if table.compared[index]
    }


def judge_interactions(
    first: Measured, others: Sequence[Measured], metrics: Sequence[Metric]
) -> list[dict[Key, Finding]]:
    """By experiment of `others`: findings on target ÷ base there over target ÷ base in `first`, where both have a mean.

    A regression is a target that loses more against the base than it does in `first`. All of them are one family, judged by the
    wider margin of both experiments, at the strictest level that the looks of any of them ask for.
    """
    by_name = {metric.name: metric for metric in metrics}
    pairs = [
        (place, key, difference(mean, first.means[key]), other)
        for place, other in enumerate(others)
        for key, mean in other.means.items()
        if key in first.means and key[2] in by_name
    ]
    findings: list[dict[Key, Finding]] = [{} for _ in others]
    level = _Level.of([first.looks, *(other.looks for other in others)], [mean for _, _, mean, _ in pairs])
    for index, (place, key, mean, other) in enumerate(pairs):
        margin, awaited = _margin(key, by_name[key[2]], first, other), _awaited(key, first, other)
        findings[place][key] = _finding(key, mean, margin, by_name[key[2]], level, index, awaited)
    return findings


def _awaited(key: Key, *both: Measured) -> int:
    """Blocks of the first look that one of them has not reached; 0: both have."""
    looks = [first_look(one.looks) for one in both if one.means[key].blocks < first_look(one.looks)]
    return max(looks, default=0)


def _margin(key: Key, metric: Metric, *both: Measured) -> float:
    return max(one.margins.get((key[0], metric.name), metric.margin) for one in both)


@dataclass(frozen=True)
class _Level:
    """p-values and q-values (NaN without an interval), and the levels of intervals: of one alone, of one of the family, of those
    that are called changed."""

    p: Floats
    q: Floats
    alone: float
    of_family: float
    selected: float

    @classmethod
    def of(cls, looks: Sequence[Looks], means: Sequence[Mean]) -> "_Level":
        known = np.array([mean.error is not None for mean in means], dtype=np.bool_)
        size = max(1, int(np.count_nonzero(known)))
        strictest = min(looks, key=lambda one: alpha_per_look(one, OVERALL, size))
        of_family = alpha_per_look(strictest, OVERALL, size)
        p = np.array([_p_value(mean) for mean in means])
        q = np.full(len(p), np.nan)
        q[known] = np.minimum(1.0, adjusted_p(p[known]) * OVERALL / of_family)
        # as for verdicts (judging/looks.py, _adjust): of intervals that are selected, a share of OVERALL misses at most
        changed = max(1, int(np.count_nonzero(q[known] <= OVERALL)))
        return cls(p, q, alpha_per_look(strictest, OVERALL), of_family / size, of_family * changed / size)


def _p_value(mean: Mean) -> float:
    return float("nan") if mean.error is None else 2 * float(stdtr(mean.df, -abs(mean.value) / mean.error))


def _finding(key: Key, mean: Mean, margin: float, metric: Metric, level: _Level, index: int, awaited: int) -> Finding:
    verdict, reach = Verdict.UNDECIDED, None
    if mean.error is not None:
        within, alone, selected = (
            _reach(mean, mean.error, each) for each in (level.alone, level.alone / 2, level.selected / 2)
        )
        if not awaited:
            sign = -1.0 if metric.higher_is_better else 1.0
            verdict = name(mean.value, within, selected, bool(level.q[index] <= OVERALL), float(np.log1p(margin)), sign)
        reach = selected if verdict in DIFFERS else within if verdict is Verdict.EQUIVALENT else alone
    beside = mean.spread(reach)
    finding = Finding(
        *key,
        verdict=verdict,
        ratio=mean.ratio().value,
        **beside._asdict(),
        confidence=confidence_of(verdict),
        blocks=mean.blocks,
        p_value=None if reach is None else float(level.p[index]),
        q_value=None if reach is None else float(level.q[index]),
        margin=margin,
        smallest_visible_change=_visible(mean, level),
        block_sd=None,
        degrees_of_freedom=None if reach is None else mean.df,
        first_look=awaited,
        higher_is_better=metric.higher_is_better,
    )
    return replace(finding, note=reservation(finding))


def _reach(mean: Mean, error: float, level: float) -> float:
    """How far the mean may be from the truth, on one side, with an error of `level`."""
    return -float(stdtrit(mean.df, level)) * error


def _visible(mean: Mean, level: _Level) -> float | None:
    """Smallest difference, as a share, that would be found with a chance of POWER, were it the only one of its family."""
    if mean.error is None:
        return None
    away = _reach(mean, mean.error, level.of_family / 2) + _reach(mean, mean.error, 1 - POWER)
    return float(np.expm1(min(away, 700.0)))
