"""What a statement's text tells: its placeholders, `:name` and `{table}`, as the engine finds them; whether it only reads."""

import re
from collections.abc import Mapping, Sequence

# quoted texts, quoted names, comments and casts come first: a colon inside them is no placeholder
_TOKEN = re.compile(
    r"""'[^']*'|"[^"]*"|`[^`]*`|--[^\n]*|/\*.*?\*/|::|:(?P<name>[A-Za-z_][A-Za-z0-9_]*(?:\.(?:from|to)\b)?)""",
    re.DOTALL,
)
# texts, quoted names and comments; what MySQL runs of a comment stays: /*! … */
_NO_WORDS = re.compile(
    r"""[eE]'(?:\\.|[^'\\])*'|'[^']*'|"[^"]*"|`[^`]*`|\$(?P<tag>[A-Za-z_]\w*|)\$.*?\$(?P=tag)\$"""
    r"""|--[^\n]*|/\*(?!M?!).*?\*/|^\s*\#[^\n]*""",
    re.DOTALL | re.MULTILINE,
)
_QUERY = "select|with|values|table|show"
_NO_CHANGE = (
    "explain|describe|desc|fetch|pragma|begin|start|commit|end|abort|rollback|savepoint|release|set|reset|declare|close"
)
_OPENING = r"(?:/\*M?!\d*|[\s(])*"
_QUERIES = re.compile(rf"{_OPENING}(?:{_QUERY})\b", re.IGNORECASE)
_READS = re.compile(rf"{_OPENING}(?:{_QUERY}|{_NO_CHANGE})\b", re.IGNORECASE)
_EXPLAINS = re.compile(r"\s*(?:explain|describe|desc)\b(?!.*\banalyze\b)", re.DOTALL | re.IGNORECASE)
# a statement begins by itself, in a CTE, after the CTEs, or after EXPLAIN ANALYZE; REPLACE( and INSERT( are functions
_WRITES = re.compile(
    r"(?:^|[()]|/\*M?!\d*|\b(?:analyze|verbose)\b|\bformat\s*=\s*\w+)\s*"
    r"(?:insert|update|delete|merge|replace|truncate|create|drop|alter)\b(?!\s*\()|\binto\b"
    r"|\bfor\s+(?:(?:no\s+key\s+)?update|(?:key\s+)?share)\b|\b(?:nextval|setval)\s*\(|\bnext\s+value\s+for\b"
    r"|^\s*pragma\b.*(?:=|\b(?:wal_checkpoint|optimize|incremental_vacuum)\b)",
    re.IGNORECASE | re.DOTALL,
)
_IN_ROW = re.compile(rf"{_TOKEN.pattern}|(?P<values>\bvalues\s*\()|[()]", re.DOTALL | re.IGNORECASE)


def insert_sql(table: str, columns: Sequence[str]) -> str:
    """An INSERT of one row, with a placeholder of the same name for each column."""
    values = ", ".join(f":{column}" for column in columns)
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({values})"  # noqa: S608 names of the suite's own tables


def placeholders(sql: str) -> list[str]:
    """Names of the `:placeholders`, in order, each once; `::type` is a cast."""
    names = (match["name"] for match in _TOKEN.finditer(sql))
    return list(dict.fromkeys(name for name in names if name))


def only_reads(sql: str) -> bool:
    """Whether no statement of the text changes data, as far as its words tell; what is not known (CALL, DO) may change it.

    Rows that are locked (FOR UPDATE) are changed, in PostgreSQL also on disk.
    """
    parts = [part for part in _NO_WORDS.sub(" ", sql).split(";") if part.strip()]
    return bool(parts) and all(_only_reads(part) for part in parts)


def _only_reads(words: str) -> bool:
    """Of one statement, without its texts, quoted names and comments."""
    return bool(_EXPLAINS.match(words) or (_READS.match(words) and not _WRITES.search(words)))


def is_query(sql: str) -> bool:
    """Whether it asks for rows; also one that locks them."""
    words = _NO_WORDS.sub(" ", sql)
    return bool(_QUERIES.match(words)) and (words.lstrip(" \n\t(")[:6].lower() == "select" or only_reads(sql))


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
