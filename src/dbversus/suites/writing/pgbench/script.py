r"""A script of pgbench taken apart: `\set` commands and SQL statements, in order, as pgbench's own scanner ends them."""

import re
from dataclasses import dataclass

from dbversus.suites.writing.place import Line
from dbversus.suites.writing.sql_text import QUOTED

_TOKEN = re.compile(rf"{QUOTED}|[();\\]", re.DOTALL)
_META = re.compile(r"\\(?P<command>\S*)(?P<rest>(?:[^\n\\]|\\\r?\n|\\)*)")


@dataclass(frozen=True)
class Set:
    r"""`\set name expression`."""

    name: str
    expression: str
    line: Line


@dataclass(frozen=True)
class Sql:
    """A statement without the semicolon."""

    text: str
    line: Line


Command = Set | Sql


def read_script(path: str, text: str) -> list[Command]:
    r"""The commands of a script; raises UsageError with file and line for backslash commands other than `\set`."""
    commands: list[Command] = []
    position = 0
    while position < len(text):
        end = _end_of_sql(text, position)
        sql = _without_comments(text[position:end])
        if sql:
            commands.append(Sql(sql, _line(path, text, text.index(sql, position))))
        position = end + 1
        if text[end : end + 1] == "\\":
            meta = _META.match(text, end)
            assert meta
            commands.append(_set(meta, _line(path, text, end)))
            position = meta.end()
    return commands


def _end_of_sql(text: str, position: int) -> int:
    """Where the statement ends that begins at `position`: at a semicolon outside of parentheses, or at a backslash."""
    depth = 0
    for token in _TOKEN.finditer(text, position):
        match token[0]:
            case "(":
                depth += 1
            case ")":
                depth -= 1
            case "\\":
                return token.start()
            case ";" if depth <= 0:
                return token.start()
    return len(text)


def _without_comments(sql: str) -> str:
    """What follows the comments before the statement."""
    return re.sub(r"\A(?:\s+|--[^\n]*(?:\n|\Z)|/\*.*?\*/)+", "", sql, flags=re.DOTALL).rstrip()


def _set(meta: re.Match[str], line: Line) -> Set:
    command, rest = meta["command"], re.sub(r"\\\r?\n", " ", meta["rest"]).strip()
    if command != "set":
        raise line.mistake(f"\\{command} has no counterpart in a suite; accepted are SQL statements and \\set.")
    name, _, expression = rest.partition(" ")
    if not name or not expression.strip():
        raise line.mistake(r"\set needs a name and an expression, such as \set aid random(1, 100000 * :scale).")
    return Set(name, expression.strip(), line)


def _line(path: str, text: str, position: int) -> Line:
    return Line(path, text.count("\n", 0, position) + 1)
