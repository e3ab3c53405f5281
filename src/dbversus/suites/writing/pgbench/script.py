r"""A script of pgbench taken apart: backslash commands and SQL statements, in order, as pgbench's own scanner ends them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dbversus.names import did_you_mean
from dbversus.suites.writing.place import Line
from dbversus.suites.writing.sql_text import QUOTED

_TOKEN = re.compile(rf"{QUOTED}|[();\\]", re.DOTALL)
_META = re.compile(r"\\(?P<command>\S*)(?P<rest>(?:[^\n\\]|\\\r?\n|\\)*)")


@dataclass(frozen=True)
class Sql:
    r"""A statement without the semicolon; `prefix`: of the variables that `\gset` makes of its row, None without one."""

    text: str
    line: Line
    prefix: str | None = None


@dataclass(frozen=True)
class Set:
    r"""`\set name expression`."""

    name: str
    expression: str
    line: Line


@dataclass(frozen=True)
class If:
    r"""`\if expression` or `\elif expression`, whose word is `word`; `\else` and `\endif` have none."""

    word: str
    expression: str
    line: Line


Command = Set | Sql | If

_NO_WAY = {
    "sleep": "a test's clients do not wait; leave it out, or give a role of a step a `pause` (docs/suites/clients.md, Pauses)",
    "shell": "the clients run statements alone; leave it out",
    "setshell": "the clients run statements alone; -D NAME=… gives the variable one value for all",
    "startpipeline": "a client sends a statement when the last one is answered; leave it out, and \\endpipeline too",
    "endpipeline": "a client sends a statement when the last one is answered; leave it out, and \\startpipeline too",
    "syncpipeline": "a client sends a statement when the last one is answered; leave it out",
    ";": "a client sends one statement at a time; write a semicolon alone",
    "aset": "the last row of several results has no counterpart in a suite; \\gset keeps that of one statement",
}
_KNOWN = ("set", "setrandom", "gset", "if", "elif", "else", "endif")


def read_script(path: str, text: str) -> list[Command]:
    r"""The commands of a script; raises UsageError with file and line for those that have no counterpart in a suite."""
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
            line, rest = _line(path, text, end), re.sub(r"\\\r?\n", " ", meta["rest"]).strip()
            command = ";" if meta["command"].startswith(";") else meta["command"].lower()
            if command == "gset":
                _keep_row(commands, rest, line)
            else:
                commands += _meta(command, rest, line)
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


def _keep_row(commands: list[Command], prefix: str, line: Line) -> None:
    """Of the statement before it, whether a semicolon has ended that or not."""
    last = commands[-1] if commands else None
    if not isinstance(last, Sql) or last.prefix is not None:
        raise line.mistake(r"\gset keeps the row of the statement before it, and there is none.")
    commands[-1] = Sql(last.text, last.line, prefix)


def _meta(command: str, rest: str, line: Line) -> Iterator[Command]:
    match command:
        case "set":
            name, expression = (*rest.split(None, 1), "", "")[:2]
            if not expression:
                raise line.mistake(r"\set needs a name and an expression, such as \set aid random(1, 100000 * :scale).")
            yield Set(name, expression, line)
        case "setrandom":
            yield _set_random(rest, line)
        case "if" | "elif" | "else" | "endif":
            if bool(rest) != (command in ("if", "elif")):
                raise line.mistake(f"\\{command} {'takes no' if rest else 'needs an'} expression.")
            yield If(command, rest, line)
        case _ if command in _NO_WAY:
            raise line.mistake(f"\\{command} has no counterpart in a suite: {_NO_WAY[command]}.")
        case _:
            known = ", ".join(f"\\{one}" for one in _KNOWN)
            raise line.mistake(
                f"pgbench has no \\{command}.{did_you_mean(command, [*_KNOWN, *_NO_WAY])} Accepted: SQL statements, {known}."
            )


def _set_random(rest: str, line: Line) -> Set:
    r"""`\setrandom` of versions before 9.6, as the `\set` that means the same."""
    match rest.split():
        case [name, low, high] | [name, low, high, "uniform"]:
            return Set(name, f"random({low}, {high})", line)
        case [name, low, high, ("gaussian" | "exponential") as distribution, shape]:
            return Set(name, f"random_{distribution}({low}, {high}, {shape})", line)
    raise line.mistake(r"\setrandom needs a name, the least and the greatest value, such as \setrandom aid 1 100000.")


def _line(path: str, text: str, position: int) -> Line:
    return Line(path, text.count("\n", 0, position) + 1)
