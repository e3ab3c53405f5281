"""Is the data the same at the start of every block, and on all targets? Figures of other data cannot be compared."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass

from dbversus.experiment.rig.recovery import ask
from dbversus.experiment.rig.rig import Rig, Target
from dbversus.results.records import DataState, State, TableFacts
from dbversus.suites.model import LOADED
from dbversus.suites.row_bytes import bytes_of_tables

COUNTED_ROWS_AT_MOST = 10_000_000
"""Rows of all tables of a target. Counting a million takes some 0.1 s; beyond this the statistics have to do."""
TOLERATED_SHARE = 0.02
"""By which sizes, and rows in statistics, may differ between blocks."""
_SIZES_COMPARED = ("table.", "index.", "database")


@dataclass(frozen=True)
class Difference:
    """`grave`: the target's figures would be of other data than those they are compared with."""

    words: str
    grave: bool


def check_state(
    rig: Rig, block: int, debt: Mapping[str, Mapping[str, int]], fresh: set[str], data: str = LOADED
) -> None:
    """Journals what is in the targets that are up, and in what they differ from their first block and from the base.

    `debt`: what each owed before anybody looked, since looking writes a little too. `fresh`: names of those whose data was
    restored for this block. One of these whose rows or structure are not what they
    have to be is out; other differences are for the report.
    """
    data += rig.size_suffix
    states = {target.name: state for target in rig.alive if (state := _look(rig, target, block, debt))}
    differences = {name: _differences(rig, block, name, states, name in fresh, data) for name in states}
    told = {name: [one.words for one in found] for name, found in differences.items() if found}
    rig.note(State(block, data, states, told, **rig.tag))
    for name, found in differences.items():
        if grave := [one.words for one in found if one.grave]:
            message = f"state differs, block {block + 1}: {'; '.join(grave)}"
            rig.failure(rig.by_name(name), "state", message, final=True, block=block)


def _look(rig: Rig, target: Target, block: int, debt: Mapping[str, Mapping[str, int]]) -> DataState | None:
    """None when the target cannot tell its state, and is out for that."""
    return ask(rig, target, lambda: _state_of(rig, target, debt[target.name]), "state", block=block)


def _state_of(rig: Rig, target: Target, debt: Mapping[str, int]) -> DataState:
    counted = rig.suite.usual_rows(rig.spec.table_size, rig.spec.tables) <= COUNTED_ROWS_AT_MOST
    server = target.server
    made = rig.tables_of(target)
    row_bytes = bytes_of_tables(rig.suite, rig.spec.table_size, rig.spec.tables)
    told = {one.name: row_bytes.get(one.stem) for one in made}
    states = server.state(made, counted=counted)
    tables = {name: TableFacts(**asdict(state), row_bytes=told.get(name)) for name, state in states.items()}
    return DataState(tables, server.sizes(), dict(debt))


def _differences(
    rig: Rig, block: int, name: str, states: Mapping[str, DataState], fresh: bool, data: str
) -> list[Difference]:
    now = states[name]
    first_block, first = rig.progress.states.setdefault((name, data), (block, now))
    found = [*changes(now, first, first_block, fresh=fresh), *owed(now)]
    base = states.get(rig.base.name)
    return [*found, *unlike_base(now, base, fresh=fresh)] if base and name != rig.base.name else found


def changes(now: DataState, first: DataState, first_block: int, *, fresh: bool) -> Iterator[Difference]:
    """What is not as it was in the target's first block. Data that is not `fresh` may have changed; its structure may not."""
    then = f"block {first_block + 1} had"
    for table, state in now.tables.items():
        before = first.tables.get(table)
        if before is None:
            continue
        yield from _structure(table, state.columns, before.columns, "columns", then)
        yield from _structure(table, state.indexes, before.indexes, "indexes", then)
        if fresh:
            yield from _rows(table, state, before, then, grave=True)
            yield from _statistics(table, state, before, then)
    if fresh:
        yield from _sizes(now.sizes_bytes, first.sizes_bytes, then)


def unlike_base(now: DataState, base: DataState, *, fresh: bool) -> Iterator[Difference]:
    """What is not as on the base: rows and names of columns, since DBMSs have names of their own for all else.

    In data that is not `fresh`, rows may differ where clients met in conflicts.
    """
    for table, state in now.tables.items():
        other = base.tables.get(table)
        if other is not None:
            yield from _structure(table, state.column_names, other.column_names, "columns", "the base has")
            yield from _rows(table, state, other, "the base has", grave=fresh)


def owed(now: DataState) -> Iterator[Difference]:
    """Work that should have been done before the block began."""
    if kinds := [f"{kind} {count:,}" for kind, count in now.debt.items() if count]:
        yield Difference(f"it owes {', '.join(kinds)}", grave=False)


def _structure(table: str, mine: tuple[str, ...], other: tuple[str, ...], what: str, who: str) -> Iterator[Difference]:
    if mine != other:
        yield Difference(f"{table} has the {what} {_listed(mine)}; {who} {_listed(other)}", grave=True)


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "none"


def _rows(table: str, mine: TableFacts, other: TableFacts, who: str, *, grave: bool) -> Iterator[Difference]:
    """Estimates are not compared here: `_statistics` does that, and two servers estimate in two ways."""
    if not (mine.rows_counted and other.rows_counted):
        return
    if mine.rows != other.rows:
        yield Difference(f"{table} has {mine.rows:,} rows, {who} {other.rows:,}", grave)
    elif (mine.lowest_id, mine.highest_id) != (other.lowest_id, other.highest_id):
        yield Difference(f"{table} has the ids {_span(mine)}, {who} {_span(other)}", grave)


def _span(state: TableFacts) -> str:
    return "of no row" if state.lowest_id is None else f"{_shown(state.lowest_id)} to {_shown(state.highest_id)}"


def _statistics(table: str, mine: TableFacts, other: TableFacts, who: str) -> Iterator[Difference]:
    now, before = mine.statistics_rows, other.statistics_rows
    if now is None or before is None:
        if now != before:
            yield Difference(f"{table} has {_known(now)}, {who} {_known(before)}", grave=False)
    elif _apart(now, before):
        yield Difference(f"the statistics of {table} say {now:,} rows, {who} {before:,}", grave=False)


def _known(rows: int | None) -> str:
    return "no statistics" if rows is None else "statistics"


def _sizes(now: Mapping[str, int], before: Mapping[str, int], who: str) -> Iterator[Difference]:
    for name in sorted(now.keys() & before.keys()):
        if name.startswith(_SIZES_COMPARED) and _apart(now[name], before[name]):
            yield Difference(f"{name} takes {now[name]:,} bytes, {who} {before[name]:,}", grave=False)


def _apart(one: int, other: int) -> bool:
    return abs(one - other) > TOLERATED_SHARE * max(one, other)


def _shown(key: int | str | None) -> str:
    return f"{key:,}" if isinstance(key, int) else str(key)
