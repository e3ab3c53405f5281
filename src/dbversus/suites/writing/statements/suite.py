"""The suite that statements come to: each a test, and all of them a mix by calls."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dbversus.errors import UsageError
from dbversus.suites.sql import only_reads
from dbversus.suites.writing.missing import Written, missing_tables
from dbversus.suites.writing.sql_text import name_of, tables
from dbversus.suites.writing.statements.choose import Chosen, LeftOut, choose
from dbversus.suites.writing.statements.guess import Guess
from dbversus.suites.writing.statements.normal import MARK
from dbversus.suites.writing.statements.observed import Seen
from dbversus.suites.writing.statements.parameters import name_parameters
from dbversus.suites.writing.statements.trim import Unclear
from dbversus.suites.writing.toml_text import comment, excerpt, inline, text

MIX = "all"
_MOST_WEIGHT = 1_000_000
_AGGREGATES = re.compile(r"\bGROUP\s+BY\b|\b(?:count|sum|avg|min|max)\s*\(", re.IGNORECASE)
_RANGES = re.compile(r"\b(?:JOIN|BETWEEN|LIKE|ILIKE|LIMIT)\b|\bORDER\s+BY\b|[<>]", re.IGNORECASE)


@dataclass(frozen=True)
class Statement:
    """One statement as it is written."""

    name: str
    sql: str
    guesses: dict[str, Guess]
    calls: int
    total_ms: float
    tables: Sequence[str]

    @property
    def group(self) -> str:
        """A guess from the text; the file says so."""
        if not only_reads(self.sql):
            return "write"
        if _AGGREGATES.search(self.sql):
            return "range-aggregate"
        return "range" if _RANGES.search(self.sql) else "point"


def write_suite(seen: Seen, top: int, sources: Sequence[str]) -> Written:
    """The suite's text; raises UsageError when no statement can be a test."""
    if top < 1:
        raise UsageError(f"--top is {top}; 1 or more is accepted.")
    chosen, left_out = choose(seen.statements, top)
    statements = _named(chosen, left_out)
    if not statements:
        reasons = ", ".join(sorted({one.reason for one in left_out})) or "there is none"
        raise UsageError(" ".join([f"{', '.join(sources)}: no statement can be a test: {reasons}.", *seen.notes]))
    left = _left(statements)
    notes = [*seen.notes, *_removed(chosen), *_said_of(left_out)]
    parts = [
        _head(
            statements,
            sources,
            [*(f"Still to be done: {one}" for one in left), *seen.notes, *_removed(chosen)],
            left_out,
        ),
        *(_statement(one) for one in statements),
        _tests(statements),
    ]
    return Written("\n".join(parts), left, notes)


def _named(chosen: Sequence[Chosen], left_out: list[LeftOut]) -> list[Statement]:
    """Those that cannot be written are left out after all."""
    statements: list[Statement] = []
    for one in chosen:
        try:
            named = name_parameters(one.text, one.slots, one.dialect)
        except Unclear as reason:
            left_out.append(LeftOut(one.text.replace(MARK, "?"), one.calls, str(reason)))
            continue
        name = name_of(named.sql, {MIX, *(other.name for other in statements)}, dialect=one.dialect)
        used = tables(named.sql, one.dialect)
        statements.append(Statement(name, named.sql, named.guesses, one.calls, one.total_ms, used))
    return statements


def _removed(chosen: Sequence[Chosen]) -> list[str]:
    databases = sorted({name for one in chosen for name in one.databases})
    return (
        [f"left out before names of tables: {', '.join(databases)} (all tables are in one database)"]
        if databases
        else []
    )


def _left(statements: Sequence[Statement]) -> list[str]:
    used = list(dict.fromkeys(table for one in statements for table in one.tables))
    open_ones = [
        f"{one.name} ({', '.join(unknown)})"
        for one in statements
        if (unknown := [name for name, guess in one.guesses.items() if not guess.seen])
    ]
    values = (
        [f"say which values these parameters take, where the file says `fill in`: {', '.join(open_ones)}"]
        if open_ones
        else []
    )
    return [*missing_tables(used), *values]


def _said_of(left_out: Sequence[LeftOut]) -> list[str]:
    by_reason: dict[str, int] = {}
    for one in left_out:
        by_reason[one.reason] = by_reason.get(one.reason, 0) + 1
    return [
        f"left out: {number} {'statement' if number == 1 else 'statements'} ({reason})"
        for reason, number in by_reason.items()
    ]


def _head(
    statements: Sequence[Statement], sources: Sequence[str], said: Sequence[str], left_out: Sequence[LeftOut]
) -> str:
    calls = sum(one.calls for one in statements)
    seen = calls + sum(one.calls for one in left_out)
    words = [
        f"Written by `dbversus suites from-statements` from {', '.join(sources)}.",
        f"Statements: {len(statements)}, with {calls} of {seen} calls.",
        *said,
        *(f"Left out ({one.calls} calls, {one.reason}): {excerpt(one.text)}" for one in left_out),
    ]
    return comment("\n".join(words)) + f"title = {inline('Statements of ' + ', '.join(sources))}\n"


def _statement(one: Statement) -> str:
    time = f", {one.total_ms:.3g} ms in all" if one.total_ms else ""
    lines = [f"# {one.calls} calls{time}", f"[statements.{one.name}]", f"sql = {text(one.sql)}"]
    if one.guesses:
        lines.append(f"[statements.{one.name}.params]")
        lines += [
            f"{name} = {inline(guess.generator)}  # {guess.words}{_offer(one, name, guess)}"
            for name, guess in one.guesses.items()
        ]
    return "\n".join(lines) + "\n"


_NO_COLUMNS = ("limit", "offset", "interval", "date", "timestamp", "value")


def _offer(one: Statement, name: str, guess: Guess) -> str:
    """What draws from the column that the parameter is called after, where it is one of the only table."""
    column = name.removesuffix("_list")
    is_column = column not in _NO_COLUMNS and not column.endswith(("_from", "_to", "_like"))
    if guess.seen or not is_column or len(one.tables) != 1 or not one.sql.upper().startswith("SELECT"):
        return ""
    count = {"count": number} if (number := guess.generator.get("count")) else {}
    drawn: dict[str, Any] = {"gen": "any", "of": one.tables[0], "column": column, **count}
    return f"; of what the table holds: {inline(drawn)}"


def _tests(statements: Sequence[Statement]) -> str:
    """A test of each, and the mix; groups are guesses."""
    lines = ["# a test of each statement; `group` is a guess: point, range, range-aggregate or write"]
    for one in statements:
        title = inline(excerpt(one.sql).replace("{", "(").replace("}", ")"))
        lines += [
            f"[tests.{one.name}]",
            f"title = {title}",
            f'group = "{one.group}"',
            f'statements = ["{one.name}"]',
            "",
        ]
    group = "write" if any(one.group == "write" for one in statements) else "range"
    lines += ["# all of them, as often as they were called", f"[tests.{MIX}]", 'title = "All statements, by calls"']
    lines += [f'group = "{group}"', "statements = ["]
    lines += [
        f'  {{ use = "{one.name}", weight = {weight} }},'
        for one, weight in zip(statements, _weights(statements), strict=True)
    ]
    lines += ["]", ""]
    reads = [one.name for one in statements if one.group != "write"]
    writes = [one.name for one in statements if one.group == "write"]
    if reads:
        lines += ["[[phases]]", 'name = "reads"', "settle = true", f"tests = {_list(reads)}", ""]
    lines += [
        "[[phases]]",
        f'name = "{"writes and " if writes else ""}all together"',
        f"tests = {_list([*writes, MIX])}",
        "",
    ]
    return "\n".join(lines) + "\n"


def _list(names: Sequence[str]) -> str:
    return inline(names) if len(names) < 5 else "[\n" + "".join(f'  "{name}",\n' for name in names) + "]"


def _weights(statements: Sequence[Statement]) -> list[int]:
    """Calls, in smaller numbers where they are very many; 1 at least."""
    most = max(one.calls for one in statements)
    share = max(1, most // _MOST_WEIGHT)
    return [max(1, one.calls // share) for one in statements]
