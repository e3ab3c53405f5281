"""What a value of each type looks like in a staged file, and how DuckDB gets there from the user's file.

A staged file is text: a line per row, a tab between columns, `\\N` for NULL; in texts `\\\\`, `\\t`, `\\n` and `\\r` stand for a
backslash, a tab and line ends. Times are integers: days or microseconds since 1970-01-01 UTC; decimals are
integers of their last digit, bytes hexadecimal.
"""

import re
from dataclasses import dataclass
from datetime import datetime

from dbversus.dbms.sql.literals import microseconds
from dbversus.dbms.sql.types import has_fractions, is_float, is_integer, is_time

READ_AS = {
    "int2": "SMALLINT",
    "int4": "INTEGER",
    "int8": "BIGINT",
    "float4": "FLOAT",
    "float8": "DOUBLE",
    "bool": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMPTZ",
    "uuid": "UUID",
}
# of DuckDB's types, as they come from Parquet files
_NEUTRAL = {
    "TINYINT": "int2",
    "SMALLINT": "int2",
    "UTINYINT": "int2",
    "INTEGER": "int4",
    "USMALLINT": "int4",
    "BIGINT": "int8",
    "UINTEGER": "int8",
    "UBIGINT": "decimal(18,0)",
    "HUGEINT": "decimal(18,0)",
    "FLOAT": "float4",
    "DOUBLE": "float8",
    "BOOLEAN": "bool",
    "DATE": "date",
    "UUID": "uuid",
    "JSON": "json",
}
_NESTED = re.compile(r"\[|^(STRUCT|MAP|UNION|LIST)\b")
# lengths of texts that a column is given when its type is left to the file: beyond the last it is a `text`
_MOST_DIGITS = 18  # of a decimal, as the engine has them
_LENGTHS = (16, 32, 64, 128, 255)


@dataclass(frozen=True)
class Form:
    """One column to be staged: its name in the file and its neutral type."""

    column: str
    type: str

    @property
    def base(self) -> str:
        return self.type.partition("(")[0]

    @property
    def length(self) -> int | None:
        """Most characters or bytes of a value, where the type has such a limit."""
        return int(self.type[self.type.index("(") + 1 : -1]) if self.base in ("char", "varchar", "bytes") else None

    @property
    def read_as(self) -> str:
        """The type that DuckDB reads the column as."""
        if self.base == "decimal":
            return f"DECIMAL{self.type.removeprefix('decimal')}"
        return READ_AS.get(self.base, "VARCHAR")

    def example(self, written: str) -> int | float | str:
        """A value of the file as literals of SQL are made of: a number or microseconds, where it is one.

        What the type does not take stays a text; it is refused when the column is staged.
        """
        try:
            if is_time(self.type):
                return microseconds(datetime.fromisoformat(written))
            if self.base == "bool":
                return int(written[:1] in "tT1")
            if is_integer(self.type):
                return int(written)
            return float(written) if has_fractions(self.type) else written
        except ValueError:
            return written


def escaped(value: str) -> str:
    """A text as it stands in a staged file."""
    for raw, mark in (("\\", r"\\"), ("\t", r"\t"), ("\n", r"\n"), ("\r", r"\r")):
        value = value.replace(raw, mark)
    return value


def quoted(name: str) -> str:
    """A name or a text in DuckDB's SQL."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def staged(form: Form, is_blob: bool) -> str:
    """SQL of a value as it stands in a staged file. `is_blob`: the file has bytes, not hexadecimal digits."""
    column = quoted(form.column)
    match form.base:
        case "bool":
            return f"CAST({column} AS INTEGER)"
        case "date":
            return f"{column} - DATE '1970-01-01'"
        case "timestamp":
            micros = f"epoch_us({column})"
            return micros if form.type == "timestamp(6)" else f"{micros} // 1000000 * 1000000"
        case "decimal":
            return f"replace(CAST({column} AS VARCHAR), '.', '')"
        case "bytes":
            return f"hex({column})" if is_blob else _digits(column)
        case "char" | "varchar" | "text" | "json":
            return _escaped(f"CAST({column} AS VARCHAR)")
        case _:
            return column


def _digits(column: str) -> str:
    """The hexadecimal digits of `\\x00ff` and `0x00ff`."""
    return rf"regexp_replace({column}, '^(\\x|0x)', '')"


def _escaped(sql: str) -> str:
    for raw, mark in ((r"'\'", r"'\\'"), ("chr(9)", r"'\t'"), ("chr(10)", r"'\n'"), ("chr(13)", r"'\r'")):
        sql = f"replace({sql}, {raw}, {mark})"
    return sql


def is_nested(duck_type: str) -> bool:
    """Whether values are lists or structures, which JSON can hold."""
    return _NESTED.search(duck_type) is not None


def misfit(form: Form, is_blob: bool) -> str:
    """SQL that is true of a value that reading did not refuse and the type does not take; "" when there is none."""
    column = quoted(form.column)
    if form.base == "json":
        return f"NOT json_valid({column})"
    if form.base == "bytes" and is_blob:
        return f"octet_length({column}) > {form.length}"
    if form.base == "bytes":
        digits = _digits(column)
        return f"NOT regexp_full_match({digits}, '([0-9a-fA-F]{{2}})*') OR length({digits}) > 2 * {form.length}"
    if is_float(form.type):
        return f"coalesce(NOT isfinite(TRY_CAST({column} AS {form.read_as})), true)"
    if is_time(form.type):
        return f"coalesce(year(TRY_CAST({column} AS {form.read_as})) NOT BETWEEN 1000 AND 9999, true)"
    return f"length(CAST({column} AS VARCHAR)) > {form.length}" if form.length is not None else ""


def neutral(duck_type: str, longest: int, has_fractions: bool) -> str:
    """The type of a column that the file alone describes. `longest`: characters of its longest text, bytes of bytes."""
    if duck_type in _NEUTRAL:
        return _NEUTRAL[duck_type]
    if duck_type.startswith("DECIMAL"):
        precision, scale = duck_type.removeprefix("DECIMAL(").rstrip(")").split(",")
        return f"decimal({min(int(precision), _MOST_DIGITS)},{scale})"
    if duck_type.startswith("TIMESTAMP"):
        return "timestamp(6)" if has_fractions else "timestamp"
    if is_nested(duck_type):
        return "json"
    size = next((length for length in _LENGTHS if longest <= length), None)
    if duck_type == "BLOB":
        return f"bytes({size or longest})"
    return f"varchar({size})" if size else "text"
