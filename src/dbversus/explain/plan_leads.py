"""Plans of a test's statements that differ between the two, with what they took and the rows that moved with them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dbversus.dbms.known import family_name
from dbversus.explain.cause import COUNT, ROWS, SIDES, Cause, Fact, Kind
from dbversus.explain.change import Change
from dbversus.explain.costs import Means
from dbversus.explain.executed import COUNTED, operators_took, other_count, total_ms
from dbversus.explain.known import meaning_of, planned_otherwise
from dbversus.explain.operators import Difference, difference
from dbversus.explain.plan_diff import PlanDifference
from dbversus.stats.metrics import COUNTER

_READS = ".reads"
_KEY = re.compile(r"\bkey=(\w+)")
"""An index in a line of MySQL's EXPLAIN; no other DBMS counts reads by index among its counters."""
_LEAST_ROWS = 10.0
"""Per operation: fewer tell nothing of a plan."""


@dataclass(frozen=True)
class PlanLeads(Change):
    """Plans of statements, for one test."""

    def leads(self) -> Iterator[tuple[Cause, Difference]]:
        for plan in self.seen.plans:
            base, mine = (plan.plans[place] for place in self.pair.places)
            if base is None or mine is None or not (found := difference(base, mine, self.pair.target.dbms)):
                continue
            if not plan.executed and (_is_contradicted(base, self.seen.base) or _is_contradicted(mine, self.seen.mine)):
                continue
            is_tree = family_name(self.pair.target.dbms) == "postgres"
            facts: dict[str, Fact] = {
                "reordered": found.reordered,
                "is_tree": is_tree,
                **self._took(plan, found),
                **self._rows(),
            }
            gone, new = ("\n".join(side) for side in (found.gone, found.new))
            versions = self.pair.base.version, self.pair.target.version
            known = planned_otherwise(self.pair.target.dbms, versions, found)
            means, source = (known.means, known.source) if known else ("", "")
            told = {"base": gone, "mine": new, "means": means, "source": source, "facts": facts}
            yield self.new(Kind.PLAN, plan.statement, **told), found

    def _took(self, plan: PlanDifference, found: Difference) -> dict[str, Fact]:
        """Of the first operator that is gone and the first that is new, in the plans that ran, or of the whole statements."""
        if not plan.executed:
            return {}
        facts: dict[str, Fact] = {}
        for side, place, names in zip(SIDES, self.pair.places, (found.gone, found.new), strict=True):
            text = plan.executed[place] or ""
            took = operators_took(text, self.pair.target.dbms).get(names[0]) if names else None
            facts[f"{side}_rows"] = took.rows if took else None
            facts[f"{side}_ms"] = took.ms if took else None
            facts[f"{side}_total_ms"] = total_ms(text)
        if self._is_against_the_change(*(facts[f"{side}_total_ms"] for side in SIDES)):
            facts |= dict.fromkeys((f"{side}_total_ms" for side in SIDES), None)
        if counted := other_count(*(plan.executed[place] or "" for place in self.pair.places)):
            name, facts["base_count"], facts["mine_count"] = counted
            facts[COUNT] = COUNTED[name]
        return facts

    def _is_against_the_change(self, base: Fact, mine: Fact) -> bool:
        """Whether times of one execution on each say the opposite of the verdict, which many have made."""
        return isinstance(base, float) and isinstance(mine, float) and (mine > base) != self.is_worse

    def _rows(self) -> dict[str, Fact]:
        """The costliest count of rows or pages that moved with the change: what a plan has to do more, or less."""
        found = []
        for name, finding in self.seen.findings.items():
            known = meaning_of(name.removeprefix(COUNTER)) if name.startswith(COUNTER) else None
            amounts = self.amounts(name)
            if (
                known
                and known.rows
                and self.moved_as_much(finding)
                and min(amounts) >= 1
                and max(amounts) >= _LEAST_ROWS
            ):
                found.append((max(amounts) * known.us_each, name))
        if not found:
            return {}
        name = max(found)[1]
        base, mine = self.amounts(name)
        return {ROWS: name.removeprefix(COUNTER), "rows_base": base, "rows_mine": mine}


def _is_contradicted(plan: str, means: Means) -> bool:
    """Whether it names an index that was not read, though reads by index were counted: then it is not the plan that ran."""
    reads = {name.removesuffix(_READS).rpartition(".")[2]: value for name, value in means.items() if _is_of_index(name)}
    named = _KEY.findall(plan)
    return any(reads.values()) and any(not reads.get(index) for index in named)


def _is_of_index(counter: str) -> bool:
    return counter.startswith(f"{COUNTER}index.") and counter.endswith(_READS)
