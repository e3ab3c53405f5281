"""Of a change, what goes with settings that were put back on the target, and which of these act only together."""

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import combinations
from math import hypot, log
from typing import Protocol

from dbversus.explain.cause import SURE_SHARES
from dbversus.stats.model import DIFFERS, Verdict

LEAST_SHARE = 0.1
"""Of a change: what explains less is not named as a cause of it."""

Shares = tuple[float, float, float]
"""Of a change, what goes with settings: the estimate, and the ends of its interval as far as the ratio that is left has one."""


class Ratio(Protocol):
    """A finding, or what a campaign keeps of it."""

    @property
    def verdict(self) -> Verdict: ...
    @property
    def ratio(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...
    @property
    def higher_is_better(self) -> bool: ...


def shares_back(change: Ratio, after: Ratio) -> Shares | None:
    """None where the change was not seen again, or nothing is known."""
    if change.verdict in DIFFERS and is_next_to_nothing(after):
        return 1.0, 1.0, 1.0
    if change.verdict not in DIFFERS or not (change.ratio and after.ratio and after.low and after.high):
        return None
    one, *ends = (1 - log(ratio) / log(change.ratio) for ratio in (after.ratio, after.low, after.high))
    return one, min(ends), max(ends)


def is_next_to_nothing(after: Ratio) -> bool:
    """Whether there is so little of it, on the base too, that it is the same without a ratio."""
    return after.verdict is Verdict.EQUIVALENT and after.ratio is None


def is_it(shares: Shares | None) -> bool:
    """Whether most of a change goes with the settings, and not far more than all of it, by the whole interval."""
    return shares is not None and SURE_SHARES[0] <= shares[1] and shares[2] <= SURE_SHARES[1]


def is_none(shares: Shares | None) -> bool:
    """Whether next to nothing of a change goes with the settings, by the whole interval."""
    return shares is not None and max(map(abs, shares)) < LEAST_SHARE


def acting_together(change: Ratio, afters: Sequence[Ratio]) -> tuple[tuple[int, ...], float] | None:
    """The fewest parts, by their places, of which some act only together, and the share of the change that goes with them.

    `afters`: what is left of the change with each part of all that differs put back. Where every part makes a change of its own,
    their shares come to all of it, those below zero among them; what acts together counts with each of its parts. None where that
    does not show, and where it is not shown that they make most of the change.
    """
    shares = [found for after in afters if (found := shares_back(change, after))]
    if len(shares) < len(afters) or not (change.low and change.high):
        return None
    shown = [place for place, found in enumerate(shares) if found[1] >= LEAST_SHARE]
    against = [place for place, found in enumerate(shares) if found[2] < 0]

    def is_too_much(places: Iterable[int]) -> bool:
        return _is_more_than_all(change, [afters[place] for place in (*places, *against)])

    if not is_too_much(shown):
        return None
    for size in range(2, len(shown) + 1):
        # put back as a whole, a group brings back no less than the one of it that brings most
        alone = {group: [_most(group, shares), *_without(shown, group)] for group in combinations(shown, size)}
        enough = [group for group, own in alone.items() if not is_too_much(own)]
        if enough:
            return _with_share(sorted({place for group in enough for place in group}), shares)
    return None


def adding_up(change: Ratio, afters: Sequence[Ratio]) -> tuple[tuple[int, ...], float] | None:
    """Parts, by their places, of which each makes some of the change, together all of it, and all others next to nothing; and
    their share of it. `afters`: as in `acting_together`. None where that does not show, and where one makes most of it."""
    shares = [found for after in afters if (found := shares_back(change, after))]
    shown = [place for place, found in enumerate(shares) if found[1] >= LEAST_SHARE]
    others = [found for place, found in enumerate(shares) if place not in shown]
    if len(shares) < len(afters) or len(shown) < 2 or any(map(is_it, shares)) or not all(map(is_none, others)):
        return None
    own = [shares[place] for place in shown]
    whole = sum(share for share, _, _ in own)
    ends = (
        whole - hypot(*(share - low for share, low, _ in own)),
        whole + hypot(*(high - share for share, _, high in own)),
    )
    return (tuple(shown), whole) if is_it((whole, *ends)) else None


def _most(group: Sequence[int], shares: Sequence[Shares]) -> int:
    return max(group, key=lambda place: shares[place][0])


def _without(places: Sequence[int], left_out: Collection[int]) -> list[int]:
    return [place for place in places if place not in left_out]


def _with_share(group: Sequence[int], shares: Sequence[Shares]) -> tuple[tuple[int, ...], float] | None:
    """By one of them that brings all of it back, or since nothing else brings any of it back."""
    whole = [shares[place][0] for place in group if is_it(shares[place])]
    others = [found for place, found in enumerate(shares) if place not in group]
    if whole:
        return tuple(group), min(whole, key=lambda share: abs(1 - share))
    return (tuple(group), 1 - sum(found[0] for found in others)) if all(map(is_none, others)) else None


def _is_more_than_all(change: Ratio, afters: Sequence[Ratio]) -> bool:
    """Whether what these bring back comes to more than the change, by all intervals: as factors, and as costs that add up.
    Without acting together, each of two savings brings more than half back in ratios, and each of two factors in costs."""
    scales: tuple[Callable[[float], float], ...] = (log, lambda cost: cost - 1)
    return all(_is_more(scale, change, afters) for scale in scales)


def _is_more(scale: Callable[[float], float], change: Ratio, afters: Sequence[Ratio]) -> bool:
    """Whether the sum is more, by the intervals of all, taken together as those of independent figures."""
    sign = 1 if scale(_cost(change, change.ratio)) > 0 else -1
    (whole, less, _), *left = (_with_error(lambda cost: sign * scale(cost), one) for one in (change, *afters))
    times = len(afters) - 1
    more = times * whole - sum(mean for mean, _, _ in left)
    error = hypot(times * less, *(up for _, _, up in left))
    return more - error > LEAST_SHARE * whole > 0


def _with_error(scale: Callable[[float], float], one: Ratio) -> tuple[float, float, float]:
    """A figure, and how far its interval reaches below and above it."""
    mean = scale(_cost(one, one.ratio))
    ends = [scale(_cost(one, end)) for end in (one.low, one.high)]
    return mean, mean - min(ends), max(ends) - mean


def _cost(one: Ratio, ratio: float | None) -> float:
    """As a ratio of what an operation costs, or takes; 1 where there is next to nothing of it."""
    ratio = ratio or 1.0
    return 1 / ratio if one.higher_is_better else ratio
