"""What is in a data file: its rows and columns, with the types that suit all values where the suite gives none."""

import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

import duckdb

from dbversus.home import home_dir
from dbversus.packed import Allowance, TooMuch
from dbversus.suites.data.file import DataFile, remember, unpacking
from dbversus.suites.data.forms import neutral, quoted
from dbversus.suites.data.scan import connection, rows_of

LAYOUT_VERSION = 1
_READ_BYTES = 1 << 20
# a text file's values are of the first of these types that all of them are written like
_INTEGER = r"-?(0|[1-9]\d{0,18})"
_PATTERNS = {
    "BIGINT": _INTEGER,
    # an integer of more digits would not come back as it was
    "DOUBLE": r"-?(0|[1-9]\d{0,14})?(\.\d*)?([eE][+-]?\d+)?",
    "BOOLEAN": r"(?i)true|false|t|f",
    "DATE": r"\d{4}-\d\d-\d\d",
    "TIMESTAMPTZ": r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d{1,9})?)?( ?(Z|[+-]\d\d(:?\d\d)?))?",
}


@dataclass(frozen=True)
class FileColumn:
    """One column. `duck_type`: DuckDB's type of its values; `nulls`: rows without a value; `example`: its first value."""

    name: str
    type: str
    duck_type: str
    nulls: int
    example: str | None

    @property
    def sql_name(self) -> str:
        """Its name as a column of a table: lower case, `_` for all but letters and digits."""
        plain = re.sub(r"\W", "_", self.name.strip().lower(), flags=re.ASCII)
        return f"_{plain}" if plain[:1].isdigit() else plain


@dataclass(frozen=True)
class Contents:
    rows: int
    columns: tuple[FileColumn, ...]


def contents_of(file: DataFile) -> Contents:
    """Reads the whole file once; what was found is kept in the home, by content. Raises UsageError where it cannot be read."""
    key = json.dumps([LAYOUT_VERSION, file.sha256, file.options])
    memory = home_dir() / "data" / file.folder / f"{sha256(key.encode()).hexdigest()[:24]}.json"
    try:
        known = json.loads(memory.read_text(encoding="utf-8"))
        return Contents(known["rows"], tuple(FileColumn(**column) for column in known["columns"]))
    except (OSError, ValueError):
        with connection(file) as opened:
            _check_size(opened, file)
            found = _look(opened, file)
        remember(memory, json.dumps(asdict(found)))
        return found


def _check_size(opened: duckdb.DuckDBPyConnection, file: DataFile) -> None:
    """What is staged is written out: UsageError where that would be more than is believed of such a file."""
    try:
        if file.is_parquet:
            found = opened.execute("SELECT sum(num_rows) FROM parquet_file_metadata(?)", [str(file.path)]).fetchone()
            columns = opened.execute(f"DESCRIBE SELECT * FROM {rows_of(file)}").fetchall()  # noqa: S608
            # each value takes a byte at least
            Allowance(file.path).take(int(found[0] or 0) * len(columns) if found else 0)
        elif file.path.suffix == ".gz":
            with unpacking(file.path) as content:
                while content.read(_READ_BYTES):
                    pass
    except TooMuch as error:
        raise file.place.at("file").mistake(str(error)) from error
    except (OSError, EOFError, zlib.error) as error:
        raise file.place.at("file").mistake(f"{file.path} cannot be read: {error}.") from error


def _look(opened: duckdb.DuckDBPyConnection, file: DataFile) -> Contents:
    types = _types(opened, file)
    source = rows_of(file)
    facts = [f"{{{', '.join(_facts(name, types[name]))}}}" for name in types]
    row = opened.execute(f"SELECT count(*), {', '.join(facts)} FROM {source}").fetchone()  # noqa: S608
    assert row is not None
    rows, *found = row
    columns = (_column(name, types[name], rows, one) for name, one in zip(types, found, strict=True))
    return Contents(rows, tuple(columns))


def _facts(name: str, duck_type: str) -> Sequence[str]:
    """What one pass over the file tells of a column."""
    column = quoted(name)
    longest = f"octet_length({column})" if duck_type == "BLOB" else f"length(CAST({column} AS VARCHAR))"
    fractions = f"bool_or(epoch_us(TRY_CAST({column} AS TIMESTAMPTZ)) % 1000000 <> 0)"
    return [
        f"'values': count({column})",
        f"'longest': max({longest})",
        f"'fractions': {fractions if duck_type.startswith('TIMESTAMP') else 'false'}",
        f"'example': CAST(first({column}) FILTER ({column} IS NOT NULL) AS VARCHAR)",
    ]


def _column(name: str, duck_type: str, rows: int, facts: Mapping[str, Any]) -> FileColumn:
    type_ = neutral(duck_type, facts["longest"] or 1, bool(facts["fractions"]))
    return FileColumn(name, type_, duck_type, rows - facts["values"], facts["example"])


def _types(opened: duckdb.DuckDBPyConnection, file: DataFile) -> dict[str, str]:
    """DuckDB's type of each column: as a Parquet file says, or the first that suits all values of a text file."""
    if file.is_parquet:
        described = opened.execute(f"DESCRIBE SELECT * FROM {rows_of(file)}").fetchall()  # noqa: S608
        return {str(name): str(type_) for name, type_, *_ in described}
    tests = [f"[{', '.join(_suits(name, type_) for type_ in _PATTERNS)}]" for name in file.names]
    row = opened.execute(f"SELECT {', '.join(tests)} FROM {rows_of(file)}").fetchone()  # noqa: S608
    assert row is not None
    return {
        name: next((type_ for type_, suits in zip(_PATTERNS, found, strict=True) if suits), "VARCHAR")
        for name, found in zip(file.names, row, strict=True)
    }


def _suits(name: str, type_: str) -> str:
    """Whether all values of a column are of a type; NULL when it has none, which leaves it a text."""
    column = quoted(name)
    written = f"regexp_full_match({column}, '{_PATTERNS[type_]}')"
    return f"bool_and({written} AND TRY_CAST({column} AS {type_}) IS NOT NULL) FILTER ({column} IS NOT NULL)"
