"""A look at the results: estimates, p-values, q-values and verdicts from the blocks that there are by then."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr, stdtrit

from dbversus.stats.judging.estimate import estimate
from dbversus.stats.judging.sequential import alpha_per_look, first_look
from dbversus.stats.means import FEWEST_BLOCKS
from dbversus.stats.metrics import Floats
from dbversus.stats.model import CHANGES, DIFFERS, Verdict
from dbversus.stats.values.table import Bools, Ints, Table

OVERALL = 0.05
"""False alarms allowed: suites of equal targets in which any primary metric of any test is called changed."""

EQUIVALENT_WITHIN, CHANGED_FROM = 1 / 3, 2 / 3
"""Shares of the margin: within the first an estimate is equivalent, from the second on one that reaches over the margin is a
change. What lies between is measured further, else one and the same change would be a regression in one run and equivalent in
the next (docs/evidence/small-changes.md)."""

FEWEST_FRESH_BLOCKS = 2
"""The blocks that reveal a change are the lucky ones, so it is judged again with so many more."""

POWER = 0.9


def confidence_of(verdict: Verdict) -> float:
    """That of the interval that goes with it: of what is equivalent, each end has an error of OVERALL."""
    return 1 - 2 * OVERALL if verdict is Verdict.EQUIVALENT else 1 - OVERALL


Verdicts = npt.NDArray[np.object_]


@dataclass
class State:
    """What the looks taken so far have found, per key. A key without new blocks keeps what it had."""

    n: Ints
    mean: Floats
    sd: Floats
    moderated_sd: Floats
    df: Floats
    p: Floats
    q: Floats
    verdict: Verdicts
    distance: Floats  # how far the truth may be from the mean: half the length of the interval that is shown
    found_at: Ints  # -1: no change found

    @classmethod
    def empty(cls, size: int) -> "State":
        unknown = np.full(size, np.nan)
        return cls(
            n=np.zeros(size, dtype=np.int64),
            mean=unknown,
            sd=unknown,
            moderated_sd=unknown,
            df=unknown,
            p=unknown,
            q=unknown,
            verdict=np.full(size, Verdict.UNDECIDED, dtype=object),
            distance=unknown,
            found_at=np.full(size, -1, dtype=np.int64),
        )


def looks_taken(looks: tuple[int, ...], blocks: int) -> list[int]:
    """The looks that were reached, and a last one over all blocks where there are more.

    There are when a run ended between two looks: it has then looked no more often than planned.
    """
    taken = [look for look in looks if look <= blocks]
    return taken if blocks in taken else [*taken, blocks]


def take_look(table: Table, state: State, count: int, looks: tuple[int, ...]) -> None:
    """Judge all keys that have new values in the first `count` blocks."""
    n = np.count_nonzero(~np.isnan(table.value[:, :count]), axis=1)
    fresh = n > state.n
    state.n = np.where(fresh, n, state.n)
    _estimate(table, state, count, fresh)
    selected = _adjust(table, state, fresh, looks)
    verdicts, distance = _judge(table, state, looks, selected)
    verdicts[np.isin(verdicts, CHANGES) & ~_borne_out(table, state, count)] = Verdict.UNDECIDED
    state.verdict = np.where(fresh, verdicts, state.verdict)
    state.distance = np.where(fresh, distance, state.distance)
    newly_found = fresh & (state.found_at < 0) & np.isin(verdicts, CHANGES)
    state.found_at[newly_found] = table.blocks[count - 1] + 1


def _borne_out(table: Table, state: State, count: int) -> Bools:
    """Whether the blocks since a change was found, once there are enough, show more than what is equivalent, and on that side.

    By themselves: beside those that revealed a change they would pass for slow starts, and be drawn in.
    """
    since = np.array(table.blocks[:count]) >= np.where(state.found_at < 0, np.inf, state.found_at)[:, None]
    value = np.where(since, table.value[:, :count], np.nan)
    blocks = np.count_nonzero(~np.isnan(value), axis=1)
    mean = np.nansum(value, axis=1) / np.maximum(blocks, 1)
    borne_out: Bools = (blocks < FEWEST_FRESH_BLOCKS) | (
        np.sign(state.mean) * mean > EQUIVALENT_WITHIN * table.log_margin
    )
    return borne_out


def _estimate(table: Table, state: State, count: int, fresh: Bools) -> None:
    """Mean, own and moderated sd, degrees of freedom and p-value from the first blocks, where there are new ones.

    Fewer than FEWEST_BLOCKS have a mean and an sd of their own, from which nothing is concluded.
    """
    found = estimate(table, count)
    enough = state.n >= FEWEST_BLOCKS
    state.mean = np.where(fresh, found.mean, state.mean)
    state.sd = np.where(fresh, found.sd, state.sd)
    state.moderated_sd = np.where(fresh, np.where(enough, found.moderated_sd, np.nan), state.moderated_sd)
    state.df = np.where(fresh, np.where(enough, found.df, np.nan), state.df)
    with np.errstate(invalid="ignore", divide="ignore"):
        state.p = 2 * stdtr(state.df, -np.abs(state.mean) / standard_error(state))


def standard_error(state: State) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        error: Floats = state.moderated_sd / np.sqrt(state.n)
    return error


def reach(state: State, level: float | Floats) -> Floats:
    """How far the mean may be from the truth, on one side, with an error of `level`: Student's t × standard error."""
    distance: Floats = -stdtrit(state.df, level) * standard_error(state)
    return distance


def _adjust(table: Table, state: State, fresh: Bools, looks: tuple[int, ...]) -> Floats:
    """q-values: Benjamini-Hochberg within the family, scaled for the looks, so that q ≤ OVERALL decides.

    Retired tests stay in the family with the p-values of their last look. Returned is the level of the interval of what is shown
    to differ: of R in a family of m, R/m of that of the looks. It excludes no change exactly where q ≤ OVERALL, and of all
    intervals that are selected so, a share of OVERALL at most misses the truth (Benjamini & Yekutieli, J. Am. Stat. Assoc. 100,
    2005).
    """
    selected = np.full(len(state.p), alpha_per_look(looks, OVERALL))
    for family in (table.primary, ~table.primary):
        members = family & np.isfinite(state.p)
        size = int(np.count_nonzero(members))
        if size == 0:
            continue
        level = alpha_per_look(looks, OVERALL, size)
        q = np.full(len(state.p), np.nan)
        q[members] = np.minimum(1.0, adjusted_p(state.p[members]) * OVERALL / level)
        state.q = np.where(fresh & members, q, state.q)
        selected[family] = level * max(1, int(np.count_nonzero(q[members] <= OVERALL))) / size
    return selected


def adjusted_p(p: Floats) -> Floats:
    """Benjamini & Hochberg (1995): p times size of the family ÷ rank, never above that of a larger p.

    As scipy.stats.false_discovery_control, which takes half a second to import.
    """
    falling = np.argsort(p)[::-1]
    ranks = np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[falling] = np.minimum(1.0, np.minimum.accumulate(p[falling] * len(p) / ranks))
    return adjusted


def _judge(table: Table, state: State, looks: tuple[int, ...], selected: Floats) -> tuple[Verdicts, Floats]:
    """Verdicts from what `state` holds, in the protocol's order, and the distances of their intervals' ends from the mean.

    None before the first look. `selected`: the level of what is shown to differ.
    """
    level = alpha_per_look(looks, OVERALL)
    within, alone, of_differing = reach(state, level), reach(state, level / 2), reach(state, selected / 2)
    of_each = (state.mean, within, of_differing, state.q <= OVERALL, table.log_margin, table.sign)
    verdicts = np.array([name(*key) for key in zip(*(each.tolist() for each in of_each), strict=True)], dtype=object)
    unstable = (verdicts == Verdict.UNDECIDED) & (_reach_at_last(state, level, looks[-1]) > table.log_margin)
    verdicts[unstable] = Verdict.UNSTABLE
    verdicts[~table.compared] = Verdict.EQUIVALENT
    verdicts[state.n < first_look(looks)] = Verdict.UNDECIDED
    return verdicts, np.select(
        [np.isin(verdicts, DIFFERS), verdicts == Verdict.EQUIVALENT], [of_differing, within], alone
    )


def name(mean: float, within: float, of_differing: float, differs: bool, log_margin: float, sign: float) -> Verdict:
    """What an interval of ln(target/base) is called: the first that holds, in the protocol's order.

    It is the mean ± `within` of what is equivalent, which is tested on each side (Schuirmann, J. Pharmacokinet. Biopharm. 15,
    1987), and ± `of_differing` of what `differs`. `sign`: 1 where more is worse, else -1.
    """
    size = abs(mean)
    if size <= EQUIVALENT_WITHIN * log_margin and size + within <= log_margin:
        return Verdict.EQUIVALENT
    if differs and size + of_differing <= log_margin:
        return Verdict.SMALL_CHANGE
    if differs and size >= CHANGED_FROM * log_margin:
        return Verdict.REGRESSION if sign * mean > 0 else Verdict.IMPROVEMENT
    return Verdict.UNDECIDED


def _reach_at_last(state: State, level: float, blocks: int) -> Floats:
    """`reach` as it will be after `blocks` blocks, should the spread stay what it is."""
    n = np.maximum(state.n, blocks)
    with np.errstate(invalid="ignore"):
        distance: Floats = -stdtrit(state.df + n - state.n, level) * state.moderated_sd / np.sqrt(n)
    return distance


def visible_change(table: Table, state: State, looks: tuple[int, ...], blocks: Ints) -> Floats:
    """Smallest change, as a share, that `blocks` blocks of this spread (those at hand, or more) find with a chance of POWER.

    For the only changed test of its family, the hardest case: its p-value must reach the level of the looks / family.
    """
    visible = np.full(len(state.n), np.nan)
    for family in (table.primary, ~table.primary):
        size = int(np.count_nonzero(family & np.isfinite(state.p)))
        if size == 0:
            continue
        critical = alpha_per_look(looks, OVERALL, size) / size
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            df = state.df + blocks - state.n
            away = -stdtrit(df, critical / 2) - stdtrit(df, 1 - POWER)
            visible[family] = np.expm1(away * state.moderated_sd / np.sqrt(blocks))[family]
    return visible
