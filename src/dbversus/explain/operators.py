"""Which operators of a plan are new, and which are gone: the first thing to say of two plans that differ."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dbversus.dbms.known import family_name

ANY_PLAN = "."
"""As a pattern of operators: whichever."""

GENERIC = "generic plan"
"""Of a prepared statement: the same for all values."""

_HASHED = "hashed SubPlan"
_PARAMETER = re.compile(r"(?<!returns )(\$\d+)")
_RETURNED = re.compile(r"returns (\$\d+)")
_NO_NODE = re.compile(r"^\s*(?:SubPlan|InitPlan|CTE (?!Scan))")
_BITMAP_INDEX = "Bitmap Index Scan on"
_POSTGRES_NODE = re.compile(r"^\s*(?:->\s*)?(?P<node>[A-Z][A-Za-z]+(?: [A-Za-z()]+)*?)(?P<rest>(?: using| on) .*)?$")
_CONDITION = re.compile(r"^\s*[A-Z][A-Za-z ]*(?: \?)?:")
_KEYS = re.compile(r"^\s*(?:Sort|Group) Key: (?P<keys>.*)$")
_INDEX = re.compile(r"(?:using (?P<index>\S+) )?on (?P<table>\S+)")
_MYSQL_SIZES = re.compile(r"\s(?:key_len|(?:r_)?rows)=\S+")
_MYSQL_EXTRA = re.compile(r"\s\(([^()]*(?:\([^()]*\)[^()]*)*)\)$")
_TELLING_EXTRA = (
    "Using temporary", "Using filesort", "Using join buffer", "Using index for group-by", "Using MRR", "Start temporary",
    "End temporary", "FirstMatch", "LooseScan", "Using index condition",
)  # fmt: skip


@dataclass(frozen=True)
class Difference:
    """Of two plans, in the order of each; both empty where they have the same operators in the same order.

    `reordered`: they have the same ones in another order, which is that of a join; all of them are here then. `by_keys`: they
    sort or group by others; these stand behind the operators.
    """

    gone: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    reordered: bool = False
    by_keys: bool = False

    def __bool__(self) -> bool:
        return bool(self.gone or self.new)

    def tells(self, pattern: str) -> bool:
        """Whether one side has it more often than the other, or by other keys."""
        if self.by_keys:
            return pattern != ANY_PLAN and any(re.search(pattern, one) for one in (*self.gone, *self.new))
        gone, new = (sum(bool(re.search(pattern, one)) for one in side) for side in (self.gone, self.new))
        return pattern != ANY_PLAN and gone != new


def difference(base: str, mine: str, dbms: str) -> Difference:
    """Of two normalised plans (plan_diff.py)."""
    ours, theirs = (list(operators(plan, dbms)) for plan in (mine, base))
    if ours == theirs and family_name(dbms) == "postgres":
        ours, theirs = (list(_with_keys(plan)) for plan in (mine, base))
        return Difference(_without(theirs, ours), _without(ours, theirs), by_keys=ours != theirs)
    gone, new = _without(theirs, ours), _without(ours, theirs)
    if not gone and not new and ours != theirs:
        return Difference(tuple(theirs), tuple(ours), reordered=True)
    return Difference(gone, new)


def _without(some: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    """Those of `some` that `others` do not have, or not so often."""
    left = Counter(others)
    kept = []
    for operator in some:
        if left[operator]:
            left[operator] -= 1
        else:
            kept.append(operator)
    return tuple(kept)


def operators(plan: str, dbms: str) -> Iterator[str]:
    """From the top down, each with its table and index."""
    match family_name(dbms):
        case "postgres":
            yield from _of_postgres(plan)
        case "mysql":
            yield from _of_mysql(plan)
        case _:
            yield from (line.strip(" `|-") for line in plan.splitlines() if line.strip(" `|-"))


def _of_postgres(plan: str) -> Iterator[str]:
    if _is_generic(plan):
        yield GENERIC
    yield from (operator for _, operator in postgres_operators(plan.splitlines()))


def _with_keys(plan: str) -> Iterator[str]:
    """Operators that sort or group, with what they do it by: `Sort by site, visitor`."""
    lines = plan.splitlines()
    for number, operator in postgres_operators(lines):
        if keys := _KEYS.match(lines[number + 1] if number + 1 < len(lines) else ""):
            yield f"{operator} by {keys['keys']}"


def _is_generic(plan: str) -> bool:
    """Whether it has parameters in place of values; results of other parts of the plan are written alike before 17."""
    return bool(set(_PARAMETER.findall(plan)) - set(_RETURNED.findall(plan)))


def postgres_operators(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Operators with the numbers of their lines."""
    for number, line in enumerate(lines):
        if line.strip() == "JIT:":
            yield number, "JIT"
        elif _CONDITION.match(line) or _NO_NODE.match(line):
            yield from [(number, _HASHED)] * line.count(_HASHED)
        elif (found := _POSTGRES_NODE.match(line)) and _BITMAP_INDEX not in line:
            yield number, _postgres_node(found["node"], found["rest"] or "", lines[number + 1 :])


def _postgres_node(node: str, rest: str, below: Sequence[str]) -> str:
    """`Index Scan of events by events_day`, `Sort`; a bitmap's index is named with its table."""
    found = _INDEX.search(rest)
    if found is None:
        return node
    if node == "Bitmap Heap Scan":
        index = " and ".join(_indexes_of_bitmap(below))
        return f"{node} of {found['table']}{f' by {index}' if index else ''}"
    return f"{node} of {found['table']}{f' by {index}' if (index := found['index']) else ''}"


def _indexes_of_bitmap(below: Sequence[str]) -> Iterator[str]:
    """Of the lines under a heap scan, up to the next table."""
    for line in below:
        if _BITMAP_INDEX in line:
            yield line.partition(" on ")[2].split()[0]
        elif " on " in line and not _CONDITION.match(line):
            return


def _of_mysql(plan: str) -> Iterator[str]:
    """`r: ALL (Using temporary)`, `c: ref by carriers_region`: in the order in which they are joined."""
    for line in plan.splitlines():
        extra = _MYSQL_EXTRA.search(line)
        words = _MYSQL_SIZES.sub("", line[: extra.start()] if extra else line).split()
        if len(words) < 2:
            yield line.strip()
            continue
        key = next((f" by {word.removeprefix('key=')}" for word in words if word.startswith("key=")), "")
        *before, table, access = [word for word in words if not word.startswith("key=")]
        hints = [hint for hint in (extra[1].split("; ") if extra else ()) if hint.startswith(_TELLING_EXTRA)]
        lead = f"{' '.join(before)} " if before and before != ["PRIMARY"] else ""
        shown = f" ({'; '.join(hints)})" if hints else ""
        yield f"{lead}{table}: {access}{key}{shown}"
