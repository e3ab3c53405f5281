"""What the text of a statement tells: its kind, its tables, and a name for it."""

import re
from collections.abc import Container

from dbversus.suites.writing.relations import relations
from dbversus.suites.writing.sql_tokens import Dialect, tokens

# strings with backslashes, strings, quoted names, dollar quotes and comments: nothing in them is SQL
QUOTED = r"""[eE]'(?:\\.|[^'\\])*'|'(?:[^']|'')*'|"[^"]*"|`[^`]*`|\$(?P<tag>[A-Za-z_]\w*|)\$.*?\$(?P=tag)\$|--[^\n]*|/\*.*?\*/"""
_LEADING = re.compile(r"(?:\s+|--[^\n]*(?:\n|$)|#[^\n]*(?:\n|$)|/\*.*?\*/|\()+", re.DOTALL)


def verb(sql: str) -> str:
    """The first word, in lower case: `select`, `update`."""
    start = _LEADING.match(sql)
    word = re.match(r"[A-Za-z]+", sql[start.end() if start else 0 :])
    return word[0].lower() if word else ""


def tables(sql: str, dialect: Dialect = "postgres") -> list[str]:
    """Names of the tables that it reads or changes, in lower case, without schema and quotes, each once."""
    return list(dict.fromkeys(one.name for one in relations(tokens(sql, dialect))))


def name_of(sql: str, taken: Container[str], prefix: str = "", dialect: Dialect = "postgres") -> str:
    """A name that nobody has yet: `update-accounts`, `select-orders-2`; `prefix` of tables is left out."""
    found = tables(sql, dialect)
    of_table = found[0].removeprefix(prefix) if found else ""
    plain = "-".join(part for part in (verb(sql) or "statement", re.sub(r"[^a-z0-9_]", "", of_table)) if part)
    return unique(plain, taken)


def unique(name: str, taken: Container[str], separator: str = "-") -> str:
    """`name`, or `name-2` and so on."""
    number, tried = 1, name
    while tried in taken:
        number += 1
        tried = f"{name}{separator}{number}"
    return tried
