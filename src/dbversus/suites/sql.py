"""The two placeholders of a statement's text, `:name` and `{table}`, found as the engine finds them."""

import re
from collections.abc import Mapping

# quoted texts, quoted names, comments and casts come first: a colon inside them is no placeholder
_TOKEN = re.compile(
    r"""'[^']*'|"[^"]*"|`[^`]*`|--[^\n]*|/\*.*?\*/|::|:(?P<name>[A-Za-z_][A-Za-z0-9_]*(?:\.(?:from|to)\b)?)""",
    re.DOTALL,
)
_IN_ROW = re.compile(rf"{_TOKEN.pattern}|(?P<values>\bvalues\s*\()|[()]", re.DOTALL | re.IGNORECASE)


def placeholders(sql: str) -> list[str]:
    """Names of the `:placeholders`, in order, each once; `::type` is a cast."""
    names = (match["name"] for match in _TOKEN.finditer(sql))
    return list(dict.fromkeys(name for name in names if name))


def values_row(sql: str) -> tuple[int, int] | None:
    """Where the row after VALUES begins and ends; None when there is none, or more than one."""
    start, depth = None, 0
    for match in _IN_ROW.finditer(sql):
        mark = match[0][-1]
        if start is None:
            if match["values"]:
                start, depth = match.end() - 1, 1
        elif match[0] in "()":
            depth += 1 if mark == "(" else -1
            if depth == 0:
                return None if sql[match.end() :].lstrip().startswith(",") else (start, match.end())
    return None


def fill(sql: str, table: int, values: Mapping[str, str]) -> str:
    """The statement with these literals and the table's number in place of the placeholders."""

    def value(match: re.Match[str]) -> str:
        return values[match["name"]] if match["name"] else match[0]

    return _TOKEN.sub(value, sql).replace("{table}", str(table))
