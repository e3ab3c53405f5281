"""What a screening has found: each change, and what settings make of it by themselves and together."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log

from dbversus.campaign.agenda import Found, Outcome
from dbversus.campaign.screening.agenda import CONFIRM, ENDS, Change, Screening, changes_of
from dbversus.explain.cause import SURE_SHARES
from dbversus.stats.model import DIFFERS


@dataclass(frozen=True)
class Share:
    """What some settings make of a change: ratio to the first config, its interval, and their share of ln(ratio) of all."""

    settings: tuple[str, ...]
    found: Found
    share: float | None


@dataclass(frozen=True)
class Answer:
    """Of one change, in a trial: `parts` of named settings by themselves, in pairs and together, and of the `rest`, all others.

    `cause`: the fewest settings that make most of it, or all that were named; None: nothing was tried.
    """

    test: str
    metric: str
    total: Found
    parts: tuple[Share, ...] = ()
    rest: Share | None = None

    @property
    def cause(self) -> Share | None:
        enough = [one for one in self.parts if _is_enough(one)]
        return min(enough, key=_size_and_distance, default=self.parts[-1] if self.parts else None)

    @property
    def is_sure(self) -> bool:
        """Whether the cause was seen to make most of the change, and no less than all of it."""
        return self.cause is not None and _is_enough(self.cause)


def _is_enough(part: Share) -> bool:
    return part.share is not None and SURE_SHARES[0] <= part.share <= SURE_SHARES[1] and part.found.verdict in DIFFERS


def _size_and_distance(part: Share) -> tuple[int, float]:
    return len(part.settings), abs(1 - (part.share or 0.0))


def answers(agenda: Screening, outcomes: Mapping[str, Outcome]) -> list[Answer]:
    """What is known of each change so far."""
    if ENDS not in outcomes:
        return []
    changes = changes_of(outcomes[ENDS])
    trial = outcomes.get(CONFIRM if len(agenda.names) > 1 else ENDS)
    if trial is None:
        totals = {(one.test, one.metric): one for one in outcomes[ENDS].found}
        return [Answer(*change, totals[change]) for change in changes]
    return [answer for change in changes if (answer := _answer(change, agenda, trial))]


def _answer(change: Change, agenda: Screening, trial: Outcome) -> Answer | None:
    every = tuple(agenda.names)
    chosen = {number: agenda.settings.chosen(text) for number, text in enumerate(trial.targets)}
    named = {name for names in chosen.values() if len(names) == 1 for name in names} or set(every)
    found = {chosen[one.target]: one for one in trial.found if (one.test, one.metric) == change}
    if every not in found:
        return None
    total = found[every]
    whole = log(total.ratio) if total.ratio else 0.0
    shares = [
        Share(names, one, log(one.ratio) / whole if one.ratio and whole else None) for names, one in found.items()
    ]
    parts = sorted((one for one in shares if named.issuperset(one.settings)), key=lambda one: len(one.settings))
    rest = next((one for one in shares if named.isdisjoint(one.settings)), None)
    return Answer(*change, total, tuple(parts), rest)
