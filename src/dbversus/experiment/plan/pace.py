"""How much longer a run takes, at the pace of its block under way."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from dbversus.experiment.asked.groups import make_groups
from dbversus.experiment.asked.spec import ExperimentSpec
from dbversus.experiment.plan.estimate import blocks_left, planned_case_s, undecided_cases
from dbversus.experiment.plan.progress import Progress
from dbversus.suites.model import Suite

TELLING = 0.1
"""Share of a block's expected time that has to be done before its pace tells anything."""
AS_PLANNED = 0.25
"""Share of a block's expected time that counts as done on time, so that one slow test does not set the pace for all others."""

Turn = tuple[str, int]
"""A test, and which of the groups of targets it is measured on."""


@dataclass
class Pace:
    """How the block under way gets on, compared with what was expected; times in seconds.

    `expected_s`: of its turns, in order; None of work that ends when it is done, until its length is known. `blocks_after`: how
    many more come before the next look that may be the last. `began_s`, `ends_s` (of the time budget) and `now_s` are of one
    clock. `took_s`: of turns that have ended.
    """

    expected_s: Mapping[Turn, float | None]
    blocks_after: int
    began_s: float
    ends_s: float = math.inf
    took_s: dict[Turn, float] = field(default_factory=dict)
    _under_way: tuple[Turn, float] | None = field(init=False, default=None)
    _start_s: float | None = field(init=False, default=None)

    def test_begins(self, name: str, now_s: float) -> float | None:
        """Seconds left until that look: turns to come are expected to overrun about as much as those that are done.

        None while that cannot be told.
        """
        self.test_ends(now_s)
        if self._start_s is None:
            self._start_s = now_s - self.began_s
        turn = name, sum(name == other for other, _ in self.took_s)
        self._under_way = turn, now_s
        left_s = self._left_s(turn, self._start_s)
        return None if left_s is None else min(left_s, self.ends_s - now_s)

    def test_ends(self, now_s: float) -> None:
        """Ends the test under way, if there is one."""
        if self._under_way:
            turn, since_s = self._under_way
            self.took_s[turn] = now_s - since_s
            self._under_way = None

    def _left_s(self, turn: Turn, start_s: float) -> float | None:
        turns = list(self.expected_s)
        if turn not in turns:  # begun again
            return None
        done, to_come = turns[: turns.index(turn)], turns[turns.index(turn) :]
        if any(self.expected_s[one] is None for one in to_come):
            return None
        known = {one: expected_s for one, expected_s in self.expected_s.items() if expected_s is not None}
        done_s, whole_s = sum(known.get(one, 0) for one in done), sum(known.values())
        if done_s <= TELLING * whole_s:
            return None
        took_s, as_planned_s = (sum(self.took_s.get(one, 0) for one in done if one in known), AS_PLANNED * whole_s)
        to_come_s = (whole_s - done_s) * (took_s + as_planned_s) / (done_s + as_planned_s)
        unforeseen_s = sum(self.took_s.get(one, 0) for one in done if one not in known)
        return to_come_s + self.blocks_after * (start_s + took_s + to_come_s + unforeseen_s)


def pace_of(
    spec: ExperimentSpec, suite: Suite, progress: Progress, targets: int, now_s: float, before_s: Mapping[Turn, float]
) -> Pace:
    """That of the block which begins at `now_s`; `before_s`: what turns took in the block before."""
    cases = undecided_cases(spec, suite, progress)
    groups = make_groups([str(number) for number in range(targets)], spec.order, spec.at_once)
    expected_s = {
        (case.name, number): before_s.get((case.name, number)) or planned_case_s(spec, case, len(group.members)) or None
        for number, group in enumerate(groups)
        for case in cases
    }
    return Pace(expected_s, blocks_left(spec, progress) - 1, now_s)
