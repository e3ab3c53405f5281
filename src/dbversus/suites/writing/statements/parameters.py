"""Names for the values of a statement, from what stands before them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dbversus.suites.sql import placeholders
from dbversus.suites.writing.sql_text import unique, verb
from dbversus.suites.writing.sql_tokens import Dialect, scan
from dbversus.suites.writing.statements.guess import Guess, guess
from dbversus.suites.writing.statements.literals import Value
from dbversus.suites.writing.statements.normal import MARK, Slot, fill
from dbversus.suites.writing.statements.trim import Unclear

_COLUMN = r"(?<![:\w])([A-Za-z_]\w*)[`\"]?\s*"
_BEFORE = (
    (re.compile(_COLUMN + r"BETWEEN\s*$", re.IGNORECASE), "{}_from"),
    (re.compile(_COLUMN + r"BETWEEN\s+\S+\s+AND\s*$", re.IGNORECASE), "{}_to"),
    (re.compile(_COLUMN + r">=?\s*$"), "{}_from"),
    (re.compile(_COLUMN + r"<=?\s*$"), "{}_to"),
    (re.compile(_COLUMN + r"(?:NOT\s+)?IN\s*\(\s*$", re.IGNORECASE), "{}_list"),
    (re.compile(_COLUMN + r"(?:NOT\s+)?I?LIKE\s*$", re.IGNORECASE), "{}_like"),
    (re.compile(_COLUMN + r"!?~~?\*?\s*$"), "{}_like"),
    (re.compile(_COLUMN + r"(?:=|<>|!=|[-+*/%]|\|\|)\s*(?:ANY\s*\(\s*)?$", re.IGNORECASE), "{}"),
    (re.compile(r"\b(LIMIT|OFFSET)\s*$", re.IGNORECASE), "{}"),
    (re.compile(r"\b(LIMIT)\s+\S+\s*,\s*$", re.IGNORECASE), "{}"),
    (re.compile(r"\b(INTERVAL|DATE|TIMESTAMP)\s*$", re.IGNORECASE), "{}"),
)
_LIMIT = re.compile(r"\bLIMIT\s*$", re.IGNORECASE)
_NOT_COLUMNS = {"and", "or", "not", "where", "on", "when", "then", "select"}
_INSERT = re.compile(r"\(([^()]*)\)\s*VALUES?\s*\(", re.IGNORECASE)


@dataclass(frozen=True)
class Named:
    """A statement's text with names of parameters, and what is guessed of their values."""

    sql: str
    guesses: dict[str, Guess]


def name_parameters(text: str, seen: Sequence[tuple[Slot, ...]], dialect: Dialect = "postgres") -> Named:
    """Of a normal form, with the slots of each time that it was seen. Raises Unclear."""
    guesses: dict[str, Guess] = {}
    names: list[str] = []
    of_key: dict[str, str] = {}
    behind = text.split(MARK)[1:]

    def named(number: int, before: str) -> str:
        slots = [some[number] for some in seen]
        if (literal := _always_the_same(slots, dialect)) is not None:
            return literal
        name = of_key.get(slots[0].key) or _guessed(_name(before, behind[number], text), slots, verb(text), guesses)
        if slots[0].key:
            of_key[slots[0].key] = name
        names.append(name)
        return f":{name}"

    sql = _castable(fill(text, named), dialect)
    _check(sql, names, guesses, dialect)
    return Named(sql, guesses)


def _guessed(plain: str, slots: Sequence[Slot], statement: str, guesses: dict[str, Guess]) -> str:
    """A name that is new, and among the guesses now."""
    name = unique(plain, guesses, "_")
    begins = f"{plain.removesuffix('_to')}_from"
    if plain.endswith("_to") and begins in guesses and guesses[begins].generator["gen"] == "uniform":
        guesses[name] = Guess({"gen": "ref", "of": begins, "add": 10})
    else:
        guesses[name] = guess(plain, slots, statement in ("insert", "replace"))
    return name


def _check(sql: str, names: Sequence[str], guesses: dict[str, Guess], dialect: Dialect) -> None:
    """What is written has the names that are defined, each as often as values came out; the engine finds the same."""
    written = [token.text[1:] for token in scan(sql, dialect) if token.kind == "mark" and token.text.startswith(":")]
    if written != list(names) or set(placeholders(sql)) != guesses.keys() or set(names) != guesses.keys():
        raise Unclear("its text cannot be written with names for its values")


def _always_the_same(slots: Sequence[Slot], dialect: Dialect) -> str | None:
    """The literal, where several executions had the same: it is no parameter then. One is enough for what is no condition."""
    first = slots[0]
    if (len(slots) < 2 and not first.is_fixed) or first.count is not None or any(slot != first for slot in slots):
        return None
    return _literal(first.values[0], dialect)


def _literal(value: Value, dialect: Dialect) -> str | None:
    match value:
        case str():
            escaped = value.replace("\\", "\\\\") if dialect == "mysql" else value
            return "'" + escaped.replace("'", "''") + "'"
        case bytes():
            return f"x'{value.hex()}'"
        case None:
            return None
        case _:
            return str(value)


def _name(before: str, behind: str, text: str) -> str:
    name = "offset" if _LIMIT.search(before) and behind.startswith(",") else _of_insert(before, text)
    for pattern, form in _BEFORE if not name else ():
        found = pattern.search(before)
        if found and found[1].lower() not in _NOT_COLUMNS:
            name = form.format(found[1])
            break
    lower = re.sub("[^a-z0-9_]", "", name.lower()).lstrip("_0123456789")
    return lower or "value"


def _of_insert(before: str, text: str) -> str:
    """The column to which the next value of an INSERT goes."""
    columns = _INSERT.search(before)
    if not columns or verb(text) not in ("insert", "replace"):
        return ""
    depth = position = 0
    for sign in before[columns.end() :]:
        depth += {"(": 1, ")": -1}.get(sign, 0)
        position += sign == "," and depth == 0
        if depth < 0:  # behind the row
            return ""
    names = [name.strip(' `"') for name in columns[1].split(",")]
    return names[position] if position < len(names) else ""


def _castable(sql: str, dialect: Dialect) -> str:
    """Servers count `interval '1 day'` as `interval $1`, which they do not accept themselves."""
    sql = re.sub(
        r"\b(interval|date|timestamp|timestamptz|time)\s+(:\w+)\b(?!\s+\w*(?:DAY|HOUR|MINUTE|SECOND|MONTH|YEAR|WEEK))",
        r"CAST(\2 AS \1)",
        sql,
        flags=re.IGNORECASE,
    )
    return (
        re.sub(r"(CAST\(:\w+ AS) timestamp\)", r"\1 datetime)", sql, flags=re.IGNORECASE) if dialect == "mysql" else sql
    )
