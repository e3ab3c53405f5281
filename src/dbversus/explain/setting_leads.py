"""Settings that differ between the two and show a sign of having to do with a change."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dbversus.explain.cause import WEAK, Cause, Kind
from dbversus.explain.change import NEARLY_AS_MUCH, Change, size
from dbversus.explain.known import SettingMeaning, is_named, meaning_of, settings_named
from dbversus.explain.operators import ANY_PLAN, Difference
from dbversus.explain.pair import asks_the_same
from dbversus.explain.settings_diff import AS_SUITE
from dbversus.explain.shares import LEAST_SHARE
from dbversus.stats.metrics import BACKGROUND, COUNTER, CPU, IO_BYTES

_SIGN_OF_ANSWERS, _SIGN_OF_PLAN, _SIGN_OF_TELLING, _SIGN_OF_COUNTER = 2.5, 3.5, 3.8, 4.5
_SIGN_OF_SAME_PLAN, _SIGN_OF_ANY_PLAN, _SIGN_OF_TESTS = 4.6, 6.0, 7.0
"""Ranks among all causes, as find.py has them."""
_MOST = 0.5
"""Of operations."""
_ASKED_FOR = 0.1
"""Of two settings with the same sign, the one that a config asks for comes first."""


@dataclass(frozen=True)
class SettingLeads(Change):
    """Settings, for one test; each with its rank among all causes."""

    def leads(self, shapes: Sequence[Difference], counters: Sequence[str]) -> Iterator[tuple[float, Cause]]:
        """Those that differ and show a sign of having to do with the change."""
        for name, (base, mine) in self.pair.differing.items():
            if self.pair.same_build and name not in self.chosen:
                continue  # it follows from what was chosen
            for known in settings_named(name, self.pair.target.dbms):
                both = base is not None and mine is not None
                is_asked_for = name in self.chosen and not (
                    self.pair.is_by_version(name) or self._changed_without(name)
                )
                rank = self._sign(known, shapes, counters, both=both, is_asked_for=is_asked_for)
                if rank is None:
                    continue
                told = {"base": base, "mine": mine, "means": known.means, "source": known.source}
                facts = {WEAK: True} if rank >= _SIGN_OF_ANY_PLAN and not is_asked_for else {}
                command = self.trial(_back(name, base, mine, known.back if self.is_worse else ""))
                yield (
                    rank - _ASKED_FOR * is_asked_for,
                    self.new(Kind.SETTING, name, command=command, facts=facts, **told),
                )
                break

    def _changed_without(self, name: str) -> bool:
        """Whether another target of that build changed nearly as much, though its config asks for what the base's does."""
        base = self.pair.facts[0]
        without = [one.label for one in self.pair.of_the_build if asks_the_same(one, base, name)]
        changed = (self.seen.others.get(label, {}).get(self.most.metric) for label in without)
        least = NEARLY_AS_MUCH * size(self.most)
        return any(one and one.counted is self.most.counted and size(one) >= least for one in changed)

    def _acts(self, known: SettingMeaning, *, is_asked_for: bool) -> bool:
        """Whether it can act on such a test."""
        acting = {
            "all": is_asked_for,
            "connects": self.seen.connects,
            "writes": self.seen.writes,
            "reads": not self.seen.writes,
        }
        return acting.get(known.tests, False)

    def _threads_act(self, known: SettingMeaning) -> bool:
        """Whether its threads make up a part of the change in CPU time. Versions name threads otherwise, and one that does fewer
        operations may do as much in the background by the second: so its own threads are compared, and not all of them."""
        if self.most.metric == IO_BYTES or not self.moved_as_much(self.seen.findings.get(CPU)):
            return False
        base, mine = (
            sum(us for name, us in side.items() if name.startswith(BACKGROUND) and is_named(name, known.counters))
            for side in (self.seen.base, self.seen.mine)
        )
        cpu_base, cpu_mine = self.amounts(CPU)
        return (mine - base) / (cpu_mine - cpu_base) >= LEAST_SHARE

    def _sign(
        self,
        known: SettingMeaning,
        shapes: Sequence[Difference],
        counters: Sequence[str],
        *,
        both: bool,
        is_asked_for: bool,
    ) -> float | None:
        """The rank of what it shows; None where it shows nothing. `both`: both versions have it; else it may only be new."""
        may_tell = both or bool(known.back)
        if known.answers in counters and max(self.amounts(f"{COUNTER}{known.answers}")) > _MOST:
            return _SIGN_OF_ANSWERS
        if may_tell and any(shape.tells(pattern) for shape in shapes for pattern in known.operators):
            return _SIGN_OF_PLAN
        if self._threads_act(known):
            return _SIGN_OF_TELLING
        moved = [meaning_of(counter) for counter in counters if is_named(counter, known.counters)]
        if moved:
            return _SIGN_OF_TELLING if any(one and one.telling for one in moved) else _SIGN_OF_COUNTER
        if both and known.has and any(re.search(known.has, plan) for plan in self.seen.same_plans.values()):
            return _SIGN_OF_SAME_PLAN
        if not may_tell:
            return None
        if shapes and ANY_PLAN in known.operators:
            return _SIGN_OF_ANY_PLAN
        if both and self._acts(known, is_asked_for=is_asked_for):
            return _SIGN_OF_TESTS
        return None


def _back(name: str, base: str | None, mine: str | None, back: str) -> str:
    """The setting that brings the base's behaviour to the target: `work_mem=4MB`, `optimizer_switch=mrr=off`; empty where
    none is known, or where only leaving out a config would."""
    if mine is None or base == AS_SUITE or name.startswith("sql_mode."):
        return ""
    if "=" in back:
        return back
    value = back if base is None else base
    option = name.replace(".", "=", 1) if name.startswith("optimizer_switch.") else name
    return f"{option}={value}" if value else ""
