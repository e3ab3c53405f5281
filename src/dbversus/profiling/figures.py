"""Functions as metrics: CPU time per operation of each, on the base and on a target, with an interval for the difference.

A block is a pair of profiles, so what is the same for both cancels. Variances are moderated as those of all metrics are, over
the functions of a test; no function is taken to vary less than samples that are counted do. A difference is shown if it is one
of those that the procedure of Benjamini and Hochberg lets pass, over all functions that have samples enough to tell.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from scipy.stats import false_discovery_control, t

from dbversus.profiling.folded import Folded
from dbversus.profiling.moved import Group, move_together
from dbversus.profiling.script import Stack
from dbversus.profiling.symbols import is_unnamed
from dbversus.stats.judging.moderate import moderate
from dbversus.stats.metrics import Floats

FALSE_DISCOVERIES = 0.05
"""Of the differences that are shown, those that may be chance."""
LEAST_SAMPLES = 5
"""On both targets together, over all blocks: of less nothing is shown."""
SURELY_THERE = 5
"""Samples of a function that the other side does not have by chance: less is not told together with others for that."""
TELLING_SAMPLES = 200
"""Of a function on both targets: its spread between blocks is no longer that of samples alone."""
LEAST_SHARE = 0.002
"""Of an operation's CPU time: less is not shown, however certain."""
MOST_UNNAMED = 0.3
"""Of the change: where one side has so much more time without a name, what it costs there is missing on other lines."""
FEWEST_BLOCKS = 2


@dataclass(frozen=True)
class BlockProfile:
    """Of one target in one test and block. `cpu_us`: of an operation, as accounted, not as sampled."""

    stacks: Folded
    samples: int
    cpu_us: float

    @property
    def us_per_weight(self) -> float:
        return self.cpu_us / max(self.stacks.total(), 1)

    @property
    def us_per_sample(self) -> float:
        return self.cpu_us / max(self.samples, 1)


@dataclass(frozen=True)
class Difference:
    """Microseconds per operation on the base and the target, and the difference with its 95 % interval (None: unknown)."""

    base_us: float
    mine_us: float
    low_us: float | None = None
    high_us: float | None = None
    is_shown: bool = False

    @property
    def change_us(self) -> float:
        return self.mine_us - self.base_us


@dataclass(frozen=True)
class FunctionCost:
    """A function, or some whose cost moved from one to another. `own`: without what they call; `total`, of one alone: with it.

    `gone` and `new`: of those that the target, or the base, does not have. `under`: their nearest common caller. `members`:
    each by itself.
    """

    names: tuple[str, ...]
    own: Difference
    total: Difference | None = None
    gone: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    under: str | None = None
    members: tuple["FunctionCost", ...] = ()


@dataclass(frozen=True)
class Profile:
    """All functions of a test on a target against the base, those that changed most first, and all of them together."""

    blocks: int
    whole: Difference
    functions: tuple[FunctionCost, ...]
    base: Mapping[Stack, float]
    mine: Mapping[Stack, float]

    def share(self, cost: FunctionCost) -> float | None:
        """Of the change in CPU time; None where that is not shown."""
        whole = self.whole
        return cost.own.change_us / whole.change_us if whole.is_shown and whole.change_us else None

    @property
    def unnamed(self) -> tuple[float, float]:
        """Shares of the CPU time of the base and of the target in functions without a name: those of stripped builds."""
        sides = []
        for side in (self.base, self.mine):
            nameless = sum(cost for stack, cost in side.items() if is_unnamed(stack[-1]))
            sides.append(nameless / (sum(side.values()) or 1.0))
        return sides[0], sides[1]

    @property
    def has_names(self) -> bool:
        """Whether as much of both sides has names that the change can be put to functions: one build may be stripped."""
        base, mine = self.unnamed
        nameless_us = abs(mine * self.whole.mine_us - base * self.whole.base_us)
        return nameless_us <= MOST_UNNAMED * abs(self.whole.change_us) or abs(mine - base) <= LEAST_SHARE

    def is_opposite(self, ratio: float | None) -> bool:
        """Whether what an operation costs went, beyond doubt, the other way than by this ratio, target ÷ base."""
        return self.whole.is_shown and ratio is not None and (ratio - 1) * self.whole.change_us < 0

    @property
    def explained(self) -> float | None:
        """The share of the change that lies in functions whose difference is shown."""
        shares = [share for cost in self.functions if cost.own.is_shown and (share := self.share(cost)) is not None]
        return sum(shares) if self.whole.is_shown else None


def profile_of(
    base: Mapping[int, BlockProfile], mine: Mapping[int, BlockProfile], *, moves: bool = True
) -> Profile | None:
    """From profiles by block; those of both targets count. None where there is none. `moves`: it is told together what moved."""
    blocks = sorted(base.keys() & mine.keys())
    if not blocks:
        return None
    pairs = [(base[block], mine[block]) for block in blocks]
    stacks = _mean_stacks([one for one, _ in pairs]), _mean_stacks([other for _, other in pairs])
    own = _values(pairs, _leaf)
    surely_us = SURELY_THERE * max(fmean(one.us_per_sample for one in pair) for pair in pairs) / len(pairs)
    groups = move_together(*stacks, surely_us) if moves else []
    values = {group.names: _sum([own[name] for name in group.names]) for group in groups}
    grouped = {name for group in groups for name in group.names}
    values |= {(name,): value for name, value in own.items() if name not in grouped}
    whole = _differences({("",): _sum(list(own.values()))}, pairs)[("",)]
    of_parts = _differences(values, pairs)
    alone = _differences({(name,): value for name, value in own.items()}, pairs)
    total = _differences({(name,): value for name, value in _values(pairs, set).items()}, pairs)
    by_names = {group.names: group for group in groups}
    functions = [_cost(names, of_parts[names], by_names.get(names), alone, total) for names in values]
    functions.sort(key=lambda one: -abs(one.own.change_us))
    return Profile(len(blocks), whole, tuple(functions), *stacks)


Pairs = Sequence[tuple[BlockProfile, BlockProfile]]
Names = tuple[str, ...]


def _cost(
    names: Names,
    own: Difference,
    group: Group | None,
    alone: Mapping[Names, Difference],
    total: Mapping[Names, Difference],
) -> FunctionCost:
    if group is None:
        return FunctionCost(names, own, total[names])
    members = tuple(FunctionCost((name,), alone[(name,)], total[(name,)]) for name in names)
    return FunctionCost(names, own, None, group.gone, group.new, group.under, members)


def _leaf(stack: Stack) -> tuple[str]:
    return (stack[-1],)


def _mean_stacks(profiles: Sequence[BlockProfile]) -> dict[Stack, float]:
    """Microseconds per operation of each, over the blocks."""
    sums: defaultdict[Stack, float] = defaultdict(float)
    for one in profiles:
        for stack, weight in one.stacks.items():
            sums[stack] += weight * one.us_per_weight / len(profiles)
    return dict(sums)


def _values(pairs: Pairs, functions_of: Callable[[Stack], Sequence[str] | set[str]]) -> dict[str, Floats]:
    """Function → microseconds per operation: a line for the base and one for the target, a column per block."""
    found: defaultdict[str, Floats] = defaultdict(lambda: np.zeros((2, len(pairs))))
    for column, pair in enumerate(pairs):
        for line, profile in enumerate(pair):
            weights: Counter[str] = Counter()
            for stack, weight in profile.stacks.items():
                for name in functions_of(stack):
                    weights[name] += weight
            for name, weight in weights.items():
                found[name][line, column] = weight * profile.us_per_weight
    return dict(found)


def _sum(values: Sequence[Floats]) -> Floats:
    summed: Floats = np.sum(np.stack(values), axis=0)
    return summed


def _differences(values: Mapping[Names, Floats], pairs: Pairs) -> dict[Names, Difference]:
    """All judged together."""
    if not values:
        return {}
    table = np.stack(list(values.values()))
    change, n = table[:, 1] - table[:, 0], len(pairs)
    means = table.mean(axis=2)
    if n < FEWEST_BLOCKS:
        return {names: Difference(float(one), float(other)) for names, (one, other) in zip(values, means, strict=True)}
    unit = fmean(one.cpu_us for pair in pairs for one in pair) or 1.0
    per_sample = np.array([[one.us_per_sample, other.us_per_sample] for one, other in pairs]).T
    of_samples = (table * per_sample).sum(axis=1).mean(axis=1) / unit**2
    own = change.var(axis=1, ddof=1) / unit**2
    samples = (table / per_sample).sum(axis=(1, 2))
    if len(values) > 1:
        expected = of_samples + _beyond_samples(own - of_samples, (means / unit) ** 2, samples)
        found = moderate(own, np.full(len(own), n - 1.0), expected)
        variance, df = np.maximum(found.variance, of_samples), found.df
    else:  # the whole: its CPU time was accounted, not sampled
        variance, df = own, np.full(len(own), n - 1.0)
    error = unit * np.sqrt(variance / n)
    mean = change.mean(axis=1)
    shown = _shown(mean, error, df, (samples >= LEAST_SAMPLES) & (np.abs(mean) >= LEAST_SHARE * unit))
    half = t.ppf(0.975, df) * error
    columns = np.stack([means[:, 0], means[:, 1], mean - half, mean + half], axis=1)
    return {
        names: Difference(*map(float, of_names), is_shown=bool(is_shown))  # type: ignore[misc, arg-type]
        for names, of_names, is_shown in zip(values, columns, shown, strict=True)
    }


def _beyond_samples(more: Floats, squares: Floats, samples: Floats) -> Floats:
    """What blocks vary by beyond what counting does: a share of a function's cost, the same for all, as in counts of any kind.

    `more`: variances beyond those of samples; `squares`: of the cost on both sides.
    """
    told, whole = samples >= TELLING_SAMPLES, squares.sum(axis=1)
    if not told.any():
        return np.zeros(len(more))
    dispersion: Floats = max(float(np.mean(more[told] / whole[told])), 0.0) * whole
    return dispersion


def _shown(mean: Floats, error: Floats, df: Floats, told: "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]") -> Floats:
    """Those that Benjamini and Hochberg let pass, of those with samples enough."""
    shown = np.zeros(len(mean))
    if told.any():
        with np.errstate(divide="ignore", invalid="ignore"):
            chance = 2 * t.sf(np.abs(mean[told]) / error[told], df[told])
        shown[told] = false_discovery_control(np.nan_to_num(chance, nan=1.0)) <= FALSE_DISCOVERIES
    return shown
