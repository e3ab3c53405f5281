"""The two placeholders of a statement's text, `:name` and `{table}`, found as the engine finds them."""

import re
from collections.abc import Mapping

Value = int | str | list[int]

# quoted texts, quoted names, comments and casts come first: a colon inside them is no placeholder
_TOKEN = re.compile(r"""'[^']*'|"[^"]*"|`[^`]*`|--[^\n]*|/\*.*?\*/|::|:(?P<name>[A-Za-z_][A-Za-z0-9_]*)""", re.DOTALL)


def placeholders(sql: str) -> list[str]:
    """Names of the `:placeholders`, in order, each once; `::type` is a cast."""
    names = (match["name"] for match in _TOKEN.finditer(sql))
    return list(dict.fromkeys(name for name in names if name))


def fill(sql: str, table: int, values: Mapping[str, Value]) -> str:
    """The statement with literal values and the table's number in place of the placeholders."""

    def value(match: re.Match[str]) -> str:
        return _literal(values[match["name"]]) if match["name"] else match[0]

    return _TOKEN.sub(value, sql).replace("{table}", str(table))


def _literal(value: Value) -> str:
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"
