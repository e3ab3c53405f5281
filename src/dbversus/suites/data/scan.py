"""A data file through DuckDB, and what DuckDB says of a file that it cannot read, in one sentence."""

import contextlib
import os
import re
from collections.abc import Iterator, Mapping

import duckdb

from dbversus.errors import RunError, UsageError
from dbversus.home import home_dir
from dbversus.suites.data.file import DataFile, make_dir
from dbversus.suites.data.forms import READ_AS, text

_LINE = re.compile(r"CSV Error on Line: (\d+)")
_CONVERSION = re.compile(r'column "([^"]*)"\. Could not convert string "(.*?)" to \'(.*?)\'', re.DOTALL)
_KIND = re.compile(r"^[\w ]+ Error: ")


@contextlib.contextmanager
def connection(file: DataFile) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that reads; what DuckDB refuses is a UsageError with the suite's line and the file's."""
    with duckdb.connect() as opened:
        opened.execute("SET TimeZone = 'UTC'")
        opened.execute(f"SET temp_directory = {text(_spill_dir())}")
        try:
            yield opened
        except duckdb.Error as error:
            raise _mistake(file, str(error)) from error


def _spill_dir() -> str:
    """Where rows go that memory has no room for: DuckDB's own place is in the working directory, for all to read.

    Empty, for none, where the home cannot be written to.
    """
    try:
        make_dir(home_dir() / "data")
    except RunError:
        return ""
    return str(home_dir() / "data" / f".spill-{os.getpid()}")


def rows_of(file: DataFile, types: Mapping[str, str] | None = None) -> str:
    """SQL of all rows of a file. Columns of text files are read as `types` (DuckDB's), and as texts where these are silent."""
    if file.is_parquet:
        return f"read_parquet({text(str(file.path))})"
    columns = {name: (types or {}).get(name, "VARCHAR") for name in file.names}
    options = {
        "delim": text(file.delimiter),
        "quote": "'\"'",
        "escape": "'\"'",
        "header": "false" if file.place.has("columns") else "true",
        "auto_detect": "false",
        "nullstr": text(file.null),
        "allow_quoted_nulls": "false",
        "encoding": text(file.encoding),
        "columns": "{" + ", ".join(f"{text(name)}: {text(type_)}" for name, type_ in columns.items()) + "}",
    }
    settings = ", ".join(f"{name} = {value}" for name, value in options.items())
    return f"read_csv({text(str(file.path))}, {settings})"


def shown(value: object) -> str:
    """A value in a sentence."""
    words = " ".join(f"'{value}'".split()) if isinstance(value, str) else str(value)
    return words if len(words) <= 60 else f"{words[:57]}…'"


def _neutral(duck_type: str) -> str:
    names = {"TIMESTAMP WITH TIME ZONE": "timestamp"} | {read_as: name for name, read_as in READ_AS.items()}
    return names.get(duck_type, duck_type.lower())


def _mistake(file: DataFile, words: str) -> UsageError:
    line = _LINE.search(words)
    where = f"{file.path}:{line[1]}" if line else str(file.path)
    if found := _CONVERSION.search(words):
        return file.place.mistake(
            f"{where}: column '{found[1]}' is {shown(found[2])}, which is no {_neutral(found[3])}."
        )
    said = [one.strip() for one in words.partition("\nPossible ")[0].splitlines() if one.strip()]
    # of a line of a CSV file the reason comes after that line, which may have several
    reason = _KIND.sub("", said[-1 if line else 0]) if said else "DuckDB does not say why"
    return file.place.mistake(f"{where} cannot be read: {reason.rstrip('.')}.")
