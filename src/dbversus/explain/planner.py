"""Plans of one statement on two servers, without measuring: what differs, and settings that may bring the old plan back."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

from dbversus.dbms.known import family_name
from dbversus.dbms.versions import in_range
from dbversus.explain.known import is_named
from dbversus.explain.operators import Difference, difference
from dbversus.explain.plan_diff import normalise_plan
from dbversus.explain.settings_diff import by_item
from dbversus.suites.file.generators import Shape
from dbversus.suites.file.reading import read_shape
from dbversus.suites.file.source import read_source

OTHER_ESTIMATE = 2.0
"""From this factor on, rows count as estimated otherwise."""

_SWITCH = "optimizer_switch"
_FLIPPED = {"on": "off", "off": "on", "1": "0", "0": "1"}
_DETAIL = "\n--- FORMAT="
_ESTIMATE = re.compile(r"^(?P<operator>.*?)\s*(?:\(cost=\S+ rows=| rows=)(?P<rows>\d+)", re.MULTILINE)
_INDEX = re.compile(r" by (?P<index>\S+)|(?:USING (?:COVERING )?INDEX )(?P<sqlite>\S+)")


class Kind(StrEnum):
    """What is other in a plan, the least first."""

    SAME = "same"
    ESTIMATES = "estimates"
    INDEX = "index"
    SHAPE = "shape"


@dataclass(frozen=True)
class Estimate:
    """Rows that both expect of one operator."""

    operator: str
    base: int
    mine: int

    @property
    def factor(self) -> float:
        return max(self.mine, 1) / max(self.base, 1)


@dataclass(frozen=True)
class PlanChange:
    """Of one statement. `estimate`: of a plan of equal shape, the one that differs most; None: servers tell none."""

    difference: Difference
    estimate: Estimate | None

    @property
    def kind(self) -> Kind:
        if self.difference:
            return Kind.INDEX if _only_indexes(self.difference) else Kind.SHAPE
        return Kind.ESTIMATES if self.estimate else Kind.SAME

    @property
    def words(self) -> str:
        found = self.difference
        match self.kind:
            case Kind.SAME:
                return "same plan"
            case Kind.ESTIMATES:
                assert self.estimate
                one = self.estimate
                factor = one.factor if one.factor >= 1 else 1 / one.factor
                more = "more" if one.factor >= 1 else "fewer"
                return f"same plan; {factor:,.0f} times {more} rows expected of {one.operator}: {one.base:,} → {one.mine:,}"
            case Kind.INDEX:
                return f"other index: {'; '.join(found.gone)} → {'; '.join(found.new)}"
        if found.reordered:
            return f"joined in another order: {' → '.join(found.new)}"
        sides = (("new", found.new), ("gone", found.gone))
        return "; ".join(f"{side}: {', '.join(operators)}" for side, operators in sides if operators)


def plan_change(base: str, mine: str, dbms: str) -> PlanChange:
    """Of two plans as servers word them."""
    found = difference(normalise_plan(base), normalise_plan(mine), dbms)
    return PlanChange(found, None if found else _other_estimate(base, mine))


def _only_indexes(found: Difference) -> bool:
    """Whether nothing but the names of indexes differs."""
    stripped = [sorted(_INDEX.sub("", operator) for operator in side) for side in (found.gone, found.new)]
    return not found.reordered and stripped[0] == stripped[1]


def _other_estimate(base: str, mine: str) -> Estimate | None:
    pairs = list(zip(_estimates(base), _estimates(mine), strict=False))
    found = [Estimate(operator, before, after) for (operator, before), (_, after) in pairs]
    most = max(found, key=_distance, default=None)
    return most if most and _distance(most) >= OTHER_ESTIMATE else None


def _distance(one: Estimate) -> float:
    return max(one.factor, 1 / one.factor)


def _estimates(plan: str) -> list[tuple[str, int]]:
    """Operators with rows, top down; the same once more in another format is left out."""
    found = _ESTIMATE.finditer(plan.partition(_DETAIL)[0])
    return [(one["operator"].strip(" ->"), int(one["rows"])) for one in found]


class PlannerSetting(Shape):
    """One of planner.toml."""

    dbms: list[str]
    names: list[str]
    values: list[str]
    means: str
    source: str
    since: str = ""
    analyze: bool = False

    def is_new_between(self, versions: tuple[str, str]) -> bool:
        """Whether the newer of two versions has it and the older one not."""
        return bool(self.since) and in_range(versions[1], self.since, "") and not in_range(versions[0], self.since, "")


class _Planner(Shape):
    settings: list[PlannerSetting]


@dataclass(frozen=True, eq=False)
class Trial:
    """A setting with a value that it does not have. `new_in`: the version that it came with, where the other has it not."""

    name: str
    value: str
    known: PlannerSetting
    new_in: str = ""

    @property
    def item(self) -> str:
        """As a target has it: `enable_memoize=off`, `optimizer_switch=mrr=off`."""
        return f"{self.name.replace('.', '=', 1)}={self.value}"

    def sql(self, dbms: str) -> list[str]:
        """What a connection executes before it is asked for a plan; what it changes is gone with the connection."""
        name, _, switch = self.name.partition(".")
        value = f"{switch}={self.value}" if switch else self.value
        match family_name(dbms):
            case "sqlite":
                return [f"PRAGMA {name} = {value}"]
            case "mysql":
                return [f"SET SESSION {name} = {value if value.isdigit() else repr(value)}"]
        if self.known.analyze:
            return ["BEGIN", f"SET LOCAL {name} = '{value}'", "ANALYZE"]
        return [f"SET {name} = '{value}'"]


@cache
def _known() -> Sequence[PlannerSetting]:
    return read_shape(_Planner, read_source(Path(__file__).with_name("planner.toml"))).settings


def trials(dbms: str, versions: tuple[str, str], base: Mapping[str, str], mine: Mapping[str, str]) -> list[Trial]:
    """What to try on the server with settings `mine`: what is new in its version first, what collects statistics last.

    `versions`: of the other server, and of this one; `base`: settings of the other one.
    """
    theirs, ours = by_item(base), by_item(mine)
    found = [trial for name in ours for trial in _of_setting(name, dbms, versions, theirs, ours)]
    rank = {id(one): number for number, one in enumerate(_known())}
    return sorted(found, key=lambda one: (one.known.analyze, not one.new_in, rank[id(one.known)], one.name))


def _of_setting(
    name: str, dbms: str, versions: tuple[str, str], base: Mapping[str, str], mine: Mapping[str, str]
) -> Iterator[Trial]:
    known = next((one for one in _known() if dbms in one.dbms and is_named(name, one.names)), None)
    if known is None:
        return
    own = mine[name].lower()
    new_in = known.since if known.is_new_between(versions) else ""
    special = {"flip": _FLIPPED.get(own), "base": base.get(name)}
    for value in dict.fromkeys(special.get(value, value) for value in known.values):
        if value is not None and value.lower() != own:
            yield Trial(name, value, known, new_in)


def items_of(chosen: Sequence[Trial]) -> list[str]:
    """Settings of a target; several switches of one list are one setting."""
    switches = [one for one in chosen if one.name.startswith(f"{_SWITCH}.")]
    items = [one.item for one in chosen if one not in switches]
    if switches:
        items.append(f"{_SWITCH}={','.join(one.item.partition('=')[2] for one in switches)}")
    return items
