"""Cost that moved between functions: renamed, split, merged or inlined ones, which are told together, with the sum.

Two builds do not cut the same work into the same functions. What one of them does not have is not blamed before it is held
against what took its place. A function stands in one group at most:

- with all else that only one side has and that comes from the same caller, the nearest that both have;
- of another caller, with the one function whose name is most like its own, of the same class or namespace;
- with its caller, where that costs less by what the function costs more, or the other way: it was inlined, or is no longer.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from dbversus.profiling.script import Stack
from dbversus.profiling.symbols import KERNEL, parts_of

LEAST_SHARE = 0.003
"""Of an operation's CPU time: less did not move, as far as can be told."""
ABSENT = 0.05
"""A function is gone, or new, where the other side has no more than this of its cost."""
HALF = 0.5
"""Of a function's cost comes from one caller; else it is called from all over, and stands below none."""
MOSTLY = 0.8
FEW = 4
"""Functions that are named one by one; more have the name of their caller, which may be one of them, and the costliest."""
SIMILAR = 0.75
"""Of two names is the same, as difflib counts it; `SIMILAR_BEGINNING` where the one begins with the other."""
SIMILAR_BEGINNING = 0.6
MOVED = 0.4
"""Of what some functions cost less, at least, others cost more."""

Cost = Mapping[str, float]
Stacks = Mapping[Stack, float]
Names = frozenset[str]


@dataclass(frozen=True)
class Group:
    """Functions that are told together; `gone`: those of the base alone, `new`: of the target alone; `under`: a caller."""

    names: tuple[str, ...]
    gone: tuple[str, ...]
    new: tuple[str, ...]
    under: str | None


def move_together(base: Stacks, mine: Stacks, surely: float = 0.0) -> list[Group]:
    """From microseconds per operation of each stack on the two; groups of two functions or more.

    `surely`: so much has what is not missing on the other side by chance.
    """
    pair = _see(base, mine, surely)
    new_names = _renamed(pair)
    as_one = _see(base, _with_names(mine, {new: old for old, new in new_names.items()}), surely, frozenset(new_names))
    return [_group(names, caller, new_names, pair, as_one) for names, caller in _moved(as_one)]


@dataclass(frozen=True)
class _Pair:
    """Two profiles. `only`: functions that the base, and the target, has alone; `homes`: of these, the nearest caller that both
    have; `renamed`: functions that are not alone for that reason, by their names on the base."""

    base: Stacks
    mine: Stacks
    own: tuple[Cost, Cost]
    only: tuple[Names, Names]
    homes: Mapping[str, str]
    renamed: Names
    least: float

    def change(self, name: str) -> float:
        return self.own[1].get(name, 0.0) - self.own[0].get(name, 0.0)


def _see(base: Stacks, mine: Stacks, surely: float, renamed: Names = frozenset()) -> _Pair:
    own = ours, theirs = _own(base), _own(mine)
    only = _absent(ours, theirs, surely) - renamed, _absent(theirs, ours, surely) - renamed
    least = LEAST_SHARE * max(sum(base.values()), sum(mine.values()))
    costs = _with_callees(base), _with_callees(mine)
    common = {name for name, cost in costs[0].items() if min(cost, costs[1].get(name, 0.0)) >= least}
    homes = _homes(base, only[0], common) | _homes(mine, only[1], common)
    return _Pair(base, mine, own, only, homes, renamed, least)


def _own(stacks: Stacks) -> Counter[str]:
    own: Counter[str] = Counter()
    for stack, cost in stacks.items():
        own[stack[-1]] += cost  # type: ignore[assignment]
    return own


def _with_callees(stacks: Stacks) -> Counter[str]:
    costs: Counter[str] = Counter()
    for stack, cost in stacks.items():
        for name in set(stack):
            costs[name] += cost  # type: ignore[assignment]
    return costs


def _absent(here: Cost, there: Cost, surely: float) -> Names:
    return frozenset(name for name, cost in here.items() if cost >= surely and there.get(name, 0.0) <= ABSENT * cost)


def _homes(stacks: Stacks, only: Names, common: Collection[str]) -> dict[str, str]:
    nearest: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for stack, cost in stacks.items():
        if stack[-1] in only:
            caller = next((name for name in stack[-2::-1] if name in common), "")
            nearest[stack[-1]][caller] += cost  # type: ignore[assignment]
    return {name: caller for name, costs in nearest.items() if (caller := _main(costs, HALF))}


def _main(costs: Counter[str], share: float) -> str:
    """The one that has so much of all; else empty."""
    name, most = costs.most_common(1)[0]
    return name if most >= share * sum(costs.values()) else ""


def _renamed(pair: _Pair) -> dict[str, str]:
    """Function of the base → that of the target which took its place, or a part of it, where the callers do not tell: of each the
    one that is most alike. One of the two is of one side alone; the other costs less, or more, by half at least."""
    fell, rose = (
        [name for name, cost in own.items() if cost >= pair.least and other.get(name, 0.0) <= HALF * cost]
        for own, other in (pair.own, pair.own[::-1])
    )
    alike = ((_alike(one, other), one, other) for one in fell for other in rose if _is_alone(pair, one, other))
    found: dict[str, str] = {}
    taken: set[str] = set()
    for _, one, other in sorted((each for each in alike if each[0]), key=lambda each: (-each[0], each[1:])):
        if one not in taken and other not in taken:
            taken |= {one, other}
            if pair.homes.get(one) is None or pair.homes.get(one) != pair.homes.get(other):
                found[one] = other
    return found


def _is_alone(pair: _Pair, one: str, other: str) -> bool:
    return (one in pair.only[0] or other in pair.only[1]) and not (one.startswith(KERNEL) or other.startswith(KERNEL))


def _alike(one: str, other: str) -> float:
    """How much of two names is the same; 0 where too little is, or where they are of different classes."""
    (scope, name), (other_scope, other_name) = parts_of(one), parts_of(other)
    if scope != other_scope:
        return 0.0
    short, long = sorted((name, other_name), key=len)
    least = SIMILAR_BEGINNING if long.startswith(short) else SIMILAR
    matcher = SequenceMatcher(None, name, other_name, autojunk=False)
    alike = matcher.ratio() if matcher.real_quick_ratio() >= least else 0.0
    return alike if alike >= least else 0.0


def _with_names(stacks: Stacks, names: Mapping[str, str]) -> Stacks:
    renamed: defaultdict[Stack, float] = defaultdict(float)
    for stack, cost in stacks.items():
        renamed[tuple(names.get(name, name) for name in stack)] += cost
    return renamed


def _moved(pair: _Pair) -> Iterator[tuple[Names, str]]:
    """Functions that are told together, and their caller, which may be one of them; those of the largest callers first."""
    own, callees = _below(pair, kernel=False), _callees(pair)
    taken: set[str] = set()
    for caller in sorted({*own, *callees, *pair.renamed}, key=lambda name: (-abs(pair.change(name)), name)):
        names = own.get(caller, frozenset()) - taken
        if caller not in taken and (not names or caller in pair.renamed or _took_up(pair, {caller}, names)):
            names |= {caller}
        beside = callees.get(caller, frozenset()) - taken
        if _took_up(pair, beside, names) and _took_up(pair, names, beside):
            names |= beside
        if len(names) > 1 or names & pair.renamed:
            taken |= names
            yield names, caller
    yield from ((names, caller) for caller, names in _below(pair, kernel=True).items() if len(names) > 1)


def _below(pair: _Pair, *, kernel: bool) -> dict[str, Names]:
    """What only one side has, by the caller: functions, or the `kernel`'s calls."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for name, caller in pair.homes.items():
        if name.startswith(KERNEL) == kernel:
            found[caller].add(name)
    return {caller: frozenset(names) for caller, names in found.items()}


def _callees(pair: _Pair) -> dict[str, Names]:
    """Functions that both have and whose cost changed, by the one caller that most of it comes from."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    callers = _callers(pair.base), _callers(pair.mine)
    for name in pair.own[0].keys() & pair.own[1].keys() - pair.homes.keys():
        change = pair.change(name)
        caller = callers[change > 0].get(name)
        if caller and abs(change) >= pair.least and not name.startswith(KERNEL):
            found[caller].add(name)
    return {caller: frozenset(names) for caller, names in found.items()}


def _callers(stacks: Stacks) -> dict[str, str]:
    """Function → the one that calls it in most of its cost, where there is such a one."""
    edges: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for stack, cost in stacks.items():
        for name, caller in {name: caller for caller, name in pairwise(stack) if caller != name}.items():
            edges[name][caller] += cost  # type: ignore[assignment]
    return {name: caller for name, costs in edges.items() if (caller := _main(costs, MOSTLY))}


def _took_up(pair: _Pair, names: Collection[str], of_others: Collection[str]) -> bool:
    """Whether these cost more by much of what the others cost less, or the other way."""
    change, of_them = (sum(pair.change(name) for name in some) for some in (names, of_others))
    return change * of_them < 0 and abs(change) >= max(MOVED * abs(of_them), pair.least)


def _group(names: Names, caller: str, new_names: Mapping[str, str], pair: _Pair, as_one: _Pair) -> Group:
    """`names` and `as_one`: by the names on the base. The costliest first."""
    ours, theirs = pair.own
    all_names = {*names, *(new_names[name] for name in names if name in new_names)}
    by_cost = sorted(all_names, key=lambda name: (-max(ours.get(name, 0.0), theirs.get(name, 0.0)), name))
    gone, new = (tuple(name for name in by_cost if name in only) for only in pair.only)
    sides = as_one.base, as_one.mine
    above: str | None = caller
    if caller in names and len(by_cost) <= FEW:
        above = _common_caller(names, sides, but=names)
    elif caller not in names and not (gone and new):
        # of one side alone, one that is gone or new itself may be nearer than the caller that both have
        above = _common_caller(names, sides[:1] if gone else sides[1:]) or caller
    return Group(tuple(by_cost), gone, new, above)


def _common_caller(names: Names, sides: Iterable[Stacks], but: Names = frozenset()) -> str | None:
    """The innermost function, none of `but`, that stands above most of their cost wherever they have some."""
    above: list[Names] = []
    depth: Counter[str] = Counter()
    costs: Counter[str] = Counter()
    for side in sides:
        stacks = {stack: cost for stack, cost in side.items() if stack[-1] in names}
        of_side: Counter[str] = Counter()
        for stack, cost in stacks.items():
            for name in {*stack[:-1]} - but:
                of_side[name] += cost  # type: ignore[assignment]
                depth[name] += stack.index(name) * cost  # type: ignore[assignment]
        whole = sum(stacks.values())
        above += [frozenset(name for name, cost in of_side.items() if cost >= MOSTLY * whole)] if stacks else []
        costs += of_side
    common = sorted(frozenset.intersection(*above)) if above else []
    return max(common, key=lambda name: depth[name] / costs[name], default=None)
