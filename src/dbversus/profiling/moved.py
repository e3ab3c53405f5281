"""Cost that moved between functions: renamed, split, merged or inlined ones, which are told together, with the sum.

Two builds do not cut the same work into the same functions. What one of them does not have is not blamed before it is held
against what took its place: a function of a similar name, or of the same caller, what it calls itself, or the caller that it was
inlined into. All else that only one of the two has stands under the nearest caller that both have, with the sum.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import pairwise

from dbversus.profiling.script import Stack
from dbversus.profiling.symbols import KERNEL

LEAST_SHARE = 0.003
"""Of an operation's CPU time: less did not move, as far as can be told."""
ABSENT = 0.05
"""A function is gone, or new, where the other side has no more than this of its cost."""
MOSTLY = 0.8
"""Of a function's cost comes from one caller, which is then its caller."""
SIMILAR = 0.6
SIMILAR_BY_NAME_ALONE = 0.75
INLINED = 0.25
"""Of what is gone, at least, has come to its caller's own cost."""
_LEAST_PREFIX = 5

Cost = Mapping[str, float]


@dataclass(frozen=True)
class Group:
    """Functions that are told together; `gone`: those of the base alone, `new`: of the target alone."""

    names: tuple[str, ...]
    gone: tuple[str, ...]
    new: tuple[str, ...]
    under: str | None


def move_together(base: Mapping[Stack, float], mine: Mapping[Stack, float], surely: float = 0.0) -> list[Group]:
    """From microseconds per operation of each stack on the two; groups of two functions or more.

    `surely`: so much has what is not missing on the other side by chance.
    """
    own = _own(base), _own(mine)
    least = LEAST_SHARE * max(sum(base.values()), sum(mine.values()))
    linked = _linked((base, mine), own, least)
    known = {name for group in linked for name in group.names}
    return [*linked, *_under_callers((base, mine), own, (least, surely), known)]


Sides = tuple[Mapping[Stack, float], Mapping[Stack, float]]


def _linked(sides: Sides, own: tuple[Cost, Cost], least: float) -> list[Group]:
    """Functions that took each other's place, one by one."""
    base, mine = sides
    gone = _absent(own[0], own[1], least)
    new = _absent(own[1], own[0], least)
    callers = _callers(base), _callers(mine)
    links = _Links()
    for name in gone:
        for other in new:
            if _took_its_place(name, other, callers):
                links.join(name, other)
    calls = [name for side in (0, 1) for name in _absent(own[side], own[1 - side], least, kernel=True)]
    for name in calls[1:]:  # another system call for the same
        links.join(calls[0], name)
    for names, of_side, here, there in ((gone, callers[0], own[0], own[1]), (new, callers[1], own[1], own[0])):
        for name in names:
            caller = of_side.get(name)
            if caller and (caller in names or _is_inlined(name, caller, here, there)):
                links.join(name, caller)
    only = {*gone, *calls}, {*new, *calls}
    return [_group(names, own, only, sides) for names in links.groups() if _moves(names, own)]


def _under_callers(
    sides: Sides, own: tuple[Cost, Cost], bounds: tuple[float, float], known: Collection[str]
) -> Iterator[Group]:
    """What only one side has, and was not linked, by the nearest caller that both have."""
    least, surely = bounds
    gone, new = ({name for name in _absent(own[side], own[1 - side], surely) if name not in known} for side in (0, 1))
    costs = _costs(sides[0]), _costs(sides[1])
    common = {name for name, cost in costs[0].items() if min(cost, costs[1].get(name, 0.0)) >= least}
    callers: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for side, only in zip(sides, (gone, new), strict=True):
        for stack, cost in side.items():
            if stack[-1] in only and (caller := next((name for name in stack[-2::-1] if name in common), None)):
                callers[stack[-1]][caller] += cost  # type: ignore[assignment]
    by_caller: defaultdict[str, list[str]] = defaultdict(list)
    for name, counts in callers.items():
        by_caller[counts.most_common(1)[0][0]].append(name)
    for caller, names in by_caller.items():
        if len(names) > 1:
            yield replace(_group(names, own, (gone, new), sides), under=caller)


def _costs(stacks: Mapping[Stack, float]) -> Counter[str]:
    """Of each function with what it calls."""
    costs: Counter[str] = Counter()
    for stack, cost in stacks.items():
        for name in set(stack):
            costs[name] += cost  # type: ignore[assignment]
    return costs


def _moves(names: Sequence[str], own: tuple[Cost, Cost]) -> bool:
    """Whether some of it rose and some of it fell: else nothing moved between them."""
    changes = [own[1].get(name, 0.0) - own[0].get(name, 0.0) for name in names]
    return min(changes) < 0 < max(changes)


def _own(stacks: Mapping[Stack, float]) -> Counter[str]:
    own: Counter[str] = Counter()
    for stack, cost in stacks.items():
        own[stack[-1]] += cost  # type: ignore[assignment]
    return own


def _absent(here: Cost, there: Cost, least: float, *, kernel: bool = False) -> list[str]:
    """Functions of the one side alone: those of the `kernel`, or all others."""
    return [
        name
        for name, cost in here.items()
        if cost >= least and there.get(name, 0.0) <= ABSENT * cost and name.startswith(KERNEL) == kernel
    ]


def _callers(stacks: Mapping[Stack, float]) -> dict[str, str]:
    """Function → the one that calls it in most of its cost, where there is such a one."""
    edges: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for stack, cost in stacks.items():
        for name, caller in {name: caller for caller, name in pairwise(stack)}.items():
            edges[name][caller] += cost  # type: ignore[assignment]
    found = {}
    for name, counts in edges.items():
        caller, cost = counts.most_common(1)[0]
        if cost >= MOSTLY * sum(counts.values()) and caller != name and not caller.startswith(KERNEL):
            found[name] = caller
    return found


def _took_its_place(gone: str, new: str, callers: tuple[Mapping[str, str], Mapping[str, str]]) -> bool:
    ours, theirs = callers[0].get(gone), callers[1].get(new)
    if ours and theirs and (ours == theirs or _are_similar(ours, theirs, SIMILAR_BY_NAME_ALONE)):
        return True
    has_callers = bool(callers[0] or callers[1])
    return _are_similar(
        gone, new, SIMILAR if has_callers and (ours is None or theirs is None) else SIMILAR_BY_NAME_ALONE
    )


def _are_similar(one: str, other: str, least: float) -> bool:
    short, long = sorted((one, other), key=len)
    if len(short) >= _LEAST_PREFIX and long.startswith(short):
        return True
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= least


def _is_inlined(name: str, caller: str, here: Cost, there: Cost) -> bool:
    """Whether the caller has, on the other side, much of the cost as its own."""
    return there.get(caller, 0.0) - here.get(caller, 0.0) >= INLINED * here[name]


class _Links:
    """Sets of names that are joined, one by one."""

    def __init__(self) -> None:
        self._root: dict[str, str] = {}

    def _find(self, name: str) -> str:
        while (above := self._root.setdefault(name, name)) != name:
            name = above
        return name

    def join(self, one: str, other: str) -> None:
        self._root[self._find(one)] = self._find(other)

    def groups(self) -> list[tuple[str, ...]]:
        found: defaultdict[str, list[str]] = defaultdict(list)
        for name in self._root:
            found[self._find(name)].append(name)
        return [tuple(sorted(names)) for names in found.values() if len(names) > 1]


def _group(
    names: Sequence[str], own: tuple[Cost, Cost], only: tuple[Collection[str], Collection[str]], sides: Sides
) -> Group:
    """`only`: functions that the base, and the target, has alone."""
    base, mine = own
    by_cost = sorted(names, key=lambda name: (-max(base.get(name, 0.0), mine.get(name, 0.0)), name))
    return Group(
        tuple(by_cost),
        tuple(name for name in by_cost if name in only[0] and base.get(name, 0.0) > mine.get(name, 0.0)),
        tuple(name for name in by_cost if name in only[1] and mine.get(name, 0.0) > base.get(name, 0.0)),
        _common_caller(set(names), sides),
    )


def _common_caller(names: set[str], sides: Sides) -> str | None:
    """The innermost function that stands above most of their cost on both sides."""
    covered: list[Counter[str]] = []
    depth: Counter[str] = Counter()
    whole = []
    for side in sides:
        counts: Counter[str] = Counter()
        stacks = {stack: cost for stack, cost in side.items() if stack[-1] in names}
        for stack, cost in stacks.items():
            for place, name in enumerate(stack):
                if name not in names and name not in stack[:place]:
                    counts[name] += cost  # type: ignore[assignment]
                    depth[name] += place * cost  # type: ignore[assignment]
        covered.append(counts)
        whole.append(sum(stacks.values()))
    above = [
        name
        for name in covered[0]
        if all(counts[name] >= MOSTLY * total for counts, total in zip(covered, whole, strict=True))
    ]
    return max(above, key=lambda name: depth[name] / sum(counts[name] for counts in covered), default=None)
