"""What the text of a statement tells without a parser: its kind, its tables, and a name for it."""

import re
from collections.abc import Container

# strings with backslashes, strings, quoted names, dollar quotes and comments: nothing in them is SQL
QUOTED = r"""[eE]'(?:\\.|[^'\\])*'|'(?:[^']|'')*'|"[^"]*"|`[^`]*`|\$(?P<tag>[A-Za-z_]\w*|)\$.*?\$(?P=tag)\$|--[^\n]*|/\*.*?\*/"""
_TABLE = re.compile(
    r"\b(?:(?:DELETE\s+)?FROM|JOIN|INTO|UPDATE(?:\s+ONLY)?)\s+((?:[`\"]?[A-Za-z_]\w*[`\"]?\s*\.\s*)?[`\"]?[A-Za-z_]\w*[`\"]?)(?![\w`\"]|\s*\()",
    re.IGNORECASE,
)
_INTO = re.compile(r"\bINTO\s+((?:[`\"]?\w+[`\"]?\s*\.\s*)?[`\"]?[A-Za-z_]\w*[`\"]?)", re.IGNORECASE)
_LEADING = re.compile(r"(?:\s+|--[^\n]*(?:\n|$)|/\*.*?\*/|\()+", re.DOTALL)
_NO_TABLE = {"select", "lateral", "unnest", "values", "skip", "set", "of", "nowait", "dual"}


def verb(sql: str) -> str:
    """The first word, in lower case: `select`, `update`."""
    start = _LEADING.match(sql)
    word = re.match(r"[A-Za-z]+", sql[start.end() if start else 0 :])
    return word[0].lower() if word else ""


def tables(sql: str) -> list[str]:
    """Names that follow FROM, JOIN, INTO and UPDATE, without schema and quotes, each once."""
    found = [*_INTO.findall(sql), *_TABLE.findall(sql)] if verb(sql) in ("insert", "replace") else _TABLE.findall(sql)
    names = (re.sub(r"[`\"\s]", "", name).rpartition(".")[2].lower() for name in found)
    return list(dict.fromkeys(name for name in names if name not in _NO_TABLE))


def name_of(sql: str, taken: Container[str], prefix: str = "") -> str:
    """A name that nobody has yet: `update-accounts`, `select-orders-2`; `prefix` of tables is left out."""
    found = tables(sql)
    of_table = found[0].removeprefix(prefix) if found else ""
    plain = "-".join(part for part in (verb(sql) or "statement", re.sub(r"[^a-z0-9_]", "", of_table)) if part)
    return unique(plain, taken)


def unique(name: str, taken: Container[str]) -> str:
    """`name`, or `name-2` and so on."""
    number, tried = 1, name
    while tried in taken:
        number += 1
        tried = f"{name}-{number}"
    return tried
