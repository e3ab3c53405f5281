"""Some columns of a data file, written once into the home as the engine reads them (`forms`)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import duckdb

from dbversus.dbms.sql.types import is_integer
from dbversus.errors import RunError
from dbversus.files import whole_file, why_refused
from dbversus.home import home_dir
from dbversus.suites.data.columns import contents_of
from dbversus.suites.data.file import DataFile, make_dir, where
from dbversus.suites.data.forms import Form, is_nested, misfit, neutral, quoted, staged
from dbversus.suites.data.scan import connection, rows_of, shown
from dbversus.suites.file.source import Place

LAYOUT_VERSION = 1


@dataclass(frozen=True)
class Unique:
    """A key of a table: names of the columns in the file whose values together do not repeat."""

    what: str
    columns: tuple[str, ...]
    place: Place


@dataclass(frozen=True)
class Staged:
    """Columns of a file. `places`: of each form, where the suite gives its type; `keys` are checked when it is written."""

    file: DataFile
    forms: tuple[Form, ...]
    places: tuple[Place, ...]
    keys: tuple[Unique, ...] = ()

    @property
    def name(self) -> str:
        """Told from all others by content, columns, types and keys; the engine looks for it in the home's folder `data`."""
        forms = [(form.column, form.type) for form in self.forms]
        keys = [key.columns for key in self.keys]
        key = json.dumps([LAYOUT_VERSION, self.file.sha256, self.file.options, forms, keys])
        return f"{self.file.folder}/{sha256(key.encode()).hexdigest()[:24]}.tsv"

    @property
    def rows(self) -> int:
        return contents_of(self.file).rows

    @property
    def types_of_file(self) -> list[str]:
        """Of the columns, as the file alone describes them."""
        known = {column.name: column.type for column in contents_of(self.file).columns}
        return [known[form.column] for form in self.forms]

    @property
    def path(self) -> Path:
        return home_dir() / "data" / self.name

    @property
    def folder(self) -> Path:
        """That of all that is made of its file."""
        return self.path.parent

    def write(self) -> None:
        """Writes it unless it is there. UsageError for a value that its type does not take and for a key that repeats."""
        if self.path.is_file():
            return
        with connection(self.file) as opened:
            self._check_values(opened)
            self._check_keys(opened)
            self._copy(opened)

    def _copy(self, opened: duckdb.DuckDBPyConnection) -> None:
        """Into its place at once, when it is whole."""
        values = ", ".join(staged(form, self._is_blob(form)) for form in self.forms)
        options = r"FORMAT csv, DELIMITER '\t', QUOTE '', ESCAPE '', NULLSTR '\N', HEADER false, USE_TMP_FILE false"
        make_dir(self.folder)
        try:
            with whole_file(self.path, private=True) as file:
                target = f"/proc/self/fd/{file.fileno()}"
                opened.execute(f"COPY (SELECT {values} FROM {self._rows}) TO '{target}' ({options})")  # noqa: S608
        except duckdb.IOException as error:
            raise RunError(f"{self.path} cannot be written: {why_refused(error)}.") from error

    def _check_values(self, opened: duckdb.DuckDBPyConnection) -> None:
        """Names the first row with a value that reading takes and the type does not."""
        for form, place in zip(self.forms, self.places, strict=True):
            if found := self._first(opened, form.column, self._misfit(form)):
                row, value = found
                raise place.mistake(
                    f"{where(self.file, row)}: column '{form.column}' is {shown(value)}, which is no {form.type}."
                )

    def _misfit(self, form: Form) -> str:
        """SQL that is true of a value that does not fit. Text files were read as the type already, Parquet as it is."""
        if is_nested(self._types[form.column]):
            return "" if form.base == "json" else "true"
        column = quoted(form.column)
        if self._is_cut(form):
            return f"TRY_CAST({column} AS {form.read_as}) IS NULL OR TRY_CAST({column} AS DOUBLE) % 1 <> 0"
        cast = f"TRY_CAST({column} AS {form.read_as}) IS NULL" if self.file.is_parquet else ""
        return misfit(form, self._is_blob(form)) or cast

    def _is_cut(self, form: Form) -> bool:
        """Whether the file has other than integers where integers are asked for: DuckDB would round them."""
        return is_integer(form.type) and not is_integer(neutral(self._types[form.column], 0, False))

    def _first(self, opened: duckdb.DuckDBPyConnection, name: str, condition: str) -> tuple[int, object] | None:
        """Number (from 1) and value of the first row of which `condition` is true; None without one."""
        if not condition:
            return None
        column = quoted(name)
        numbered = f"SELECT row_number() OVER () AS row_, {column} FROM {self._source}"  # noqa: S608
        where = f"{column} IS NOT NULL AND ({condition})"
        found = opened.execute(f"SELECT row_, {self._shown(name)} FROM ({numbered}) WHERE {where} LIMIT 1")  # noqa: S608
        row: tuple[int, object] | None = found.fetchone()
        return row

    def _check_keys(self, opened: duckdb.DuckDBPyConnection) -> None:
        for key in self.keys:
            names = ", ".join(map(quoted, key.columns))
            values = ", ".join(map(self._shown, key.columns))
            numbered = f"SELECT row_number() OVER () AS row_, {names} FROM {self._source}"  # noqa: S608
            present = " AND ".join(f"{quoted(name)} IS NOT NULL" for name in key.columns)
            twice = opened.execute(
                f"SELECT min(row_), max(row_), {values} FROM ({numbered}) WHERE {present} GROUP BY {names} "  # noqa: S608
                "HAVING count(*) > 1 ORDER BY 1 LIMIT 1"
            ).fetchone()
            if twice:
                first, last, *found = twice
                repeated = ", ".join(map(shown, found))
                raise key.place.mistake(
                    f"{key.what} repeats: {repeated} is at {where(self.file, first)} and {where(self.file, last)}."
                )

    def _shown(self, name: str) -> str:
        """SQL of a value to be named in a sentence. Python takes times with a zone only with a package more."""
        form = next(form for form in self.forms if form.column == name)
        read_as = self._types[name] if self.file.is_parquet else form.read_as
        has_zone = read_as in ("TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE")
        return f"CAST({quoted(name)} AS TIMESTAMP)" if has_zone else quoted(name)

    @property
    def _source(self) -> str:
        return rows_of(self.file, {form.column: form.read_as for form in self.forms if not self._is_cut(form)})

    @property
    def _rows(self) -> str:
        """All rows with the values in the types that are asked for."""
        if not self.file.is_parquet:
            return self._source
        return f"(SELECT {', '.join(map(self._cast, self.forms))} FROM {self._source})"  # noqa: S608

    def _cast(self, form: Form) -> str:
        column = quoted(form.column)
        if self._is_blob(form):
            return column
        value = f"to_json({column})" if is_nested(self._types[form.column]) else column
        if form.base == "text" and self._types[form.column] == "TIMESTAMP WITH TIME ZONE":
            value = f"CAST({column} AS TIMESTAMP)"  # in UTC; not every server takes a zone
        return f"CAST({value} AS {form.read_as}) AS {column}"

    def _is_blob(self, form: Form) -> bool:
        return self._types[form.column] == "BLOB"

    @property
    def _types(self) -> Mapping[str, str]:
        return {column.name: column.duck_type for column in contents_of(self.file).columns}
