"""Puts data files into a suite: columns with types and values for tables, and generators that draw from files."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from dbversus.dbms.sql.types import is_integer, is_text, is_time, why_not
from dbversus.names import did_you_mean
from dbversus.suites.data.columns import Contents, FileColumn, contents_of
from dbversus.suites.data.file import DataFile, Origin, find_file
from dbversus.suites.data.forms import Form
from dbversus.suites.data.generators import FromFile, FromLoaded, FromRow
from dbversus.suites.data.staged import Staged, Unique
from dbversus.suites.file import shape
from dbversus.suites.file.draft import Draft, Named, Placed
from dbversus.suites.file.generators import AnyOf, FromData, Generator, Sequence, Uniform, Zipfian
from dbversus.suites.file.source import Place
from dbversus.suites.model import Parameter, Script


@dataclass(frozen=True)
class Filled:
    """A table with the types and values of all its columns. `staged`: of what it takes from its file."""

    table: shape.Table
    columns: Named[shape.Column]
    staged: Staged | None = None


@dataclass(frozen=True)
class _Taken:
    """A column of a table that is a column of its file."""

    name: str
    column: shape.Column
    of_file: FileColumn
    place: Place
    type: str
    made_by_scripts: bool

    @property
    def form(self) -> Form:
        return Form(self.of_file.name, self.type)


class Files:
    """The files of `[data]`, found and read once. Raises UsageError with the suite's line for what does not fit."""

    def __init__(self, draft: Draft, origins: Mapping[str, Origin], scripts: Iterable[Script] = ()):
        self._files = {
            name: find_file(name, placed.value, placed.place, origins) for name, placed in draft.data.items()
        }
        self._tables = draft.tables
        self._generators = draft.generators
        self._scripts = list(scripts)

    @property
    def all(self) -> list[DataFile]:
        return list(self._files.values())

    def fill(self, name: str, placed: Placed[shape.Table], columns: Named[shape.Column]) -> Filled:
        """The table with what its file says of it; one without `data` has to say all itself. `columns`: all of them."""
        table, place = placed.value, placed.place
        if table.data is None:
            _check_whole(name, columns, place)
            return _filled(table, _open_to_null(columns) if table.made_by else columns)
        file, contents = self._read(table.data, place.at("data"))
        if place.has("rows"):
            raise place.at("rows").mistake(
                f"table {name} has the rows of its data; `rows` in [data.{table.data}] takes fewer of them."
            )
        columns = columns or _all_of(file, contents, place)
        taken = list(_taken(file, contents, columns, made_by_scripts=table.made_by is not None))
        keys = tuple(_keys(table, taken, place))
        made = _open_to_null(columns) if table.made_by else dict(columns)
        for index, one in enumerate(taken):
            whole = _column(one, index, one.name in table.primary_key, file)
            made[one.name] = Placed(whole, columns[one.name].place)
        rows = contents.rows if file.rows is None else file.rows
        staged = Staged(file, tuple(one.form for one in taken), tuple(one.place for one in taken), keys)
        return _filled(table.model_copy(update={"rows": rows}), made, staged)

    def resolved(self, parameters: Mapping[str, Parameter]) -> dict[str, Parameter]:
        """Parameters, those that draw from data with the file and the type of what they draw."""
        return {name: self._resolve(name, parameter) for name, parameter in parameters.items()}

    def _resolve(self, name: str, parameter: Parameter) -> Parameter:
        given, place = parameter.generator, parameter.generator_place
        if isinstance(given, AnyOf):
            given = self._any_of(given, parameter)
        if not isinstance(given, FromData):
            return replace(parameter, generator=given)
        if given.of is None:
            raise place.mistake(
                f"{name}: `of` is missing; accepted: {', '.join(self._files) or '(no [data] is there)'}."
            )
        file, contents = self._read(given.of, place.at("of"))
        column = _find(given.column, file, contents, place.at("column"))
        if column.example is None:
            raise place.at("column").mistake(f"column '{column.name}' of {file.path} has no value that could be drawn.")
        wanted = parameter.column_type or given.type
        form = Form(column.name, wanted or self._type_in_tables(given.of, column) or column.type)
        staged = Staged(file, (form,), (place,))
        made = FromFile(
            round=None,
            nulls=given.nulls,
            file=staged.name,
            rows=contents.rows if file.rows is None else file.rows,
            pick=given.pick or "uniform",
            exponent=given.exponent,
            count=given.count,
            type=form.type,
            staged=staged,
            example=form.example(column.example),
        )
        return replace(parameter, generator=made)

    def _any_of(self, given: AnyOf, parameter: Parameter) -> Generator:
        """What draws from the rows of a table, as far as the suite tells where they come from."""
        place = parameter.generator_place
        if placed := self._tables.get(given.of):
            return self._of_described(given, placed, place)
        if not self._scripts:
            known = ", ".join(self._tables) or "(none)"
            raise place.at("of").mistake(
                f"unknown table '{given.of}'.{did_you_mean(given.of, self._tables)} Accepted: {known}."
            )
        type_ = given.type or "int8"
        if parameter.column_type or not (is_integer(type_) or is_text(type_)):
            raise place.mistake(
                'gen = "any" of a table that scripts fill draws integers or texts (type = "text"), and for parameters alone.'
            )
        sources = [*(sha for one in self._scripts for sha in one.sha256s), *(one.sha256 for one in self.all)]
        sources += [str(one.rows) for one in self.all]
        return FromLoaded(
            round=None,
            nulls=given.nulls,
            count=given.count,
            type=type_,
            file=f"loaded-{sha256(json.dumps(sources).encode()).hexdigest()[:24]}/{given.of}.{given.column}.tsv",
            pick=given.pick or "uniform",
            exponent=given.exponent,
            table=given.of,
            column=given.column,
            place=place,
        )

    def _of_described(self, given: AnyOf, placed: Placed[shape.Table], place: Place) -> Generator:
        """Of a table whose rows the suite describes: from its file, or by a number of its own for each row."""
        table = placed.value
        column = table.columns.get(given.column)
        values: str | Generator | None = column.values if column else "" if table.data and not table.columns else None
        values = self._generators[values].value if isinstance(values, str) and values in self._generators else values
        shared: dict[str, Any] = {"count": given.count, "nulls": given.nulls, "round": None, "type": given.type}
        if table.data and (values == "" or (isinstance(values, FromData) and values.of is None)):
            name = values.column if isinstance(values, FromData) else given.column
            return FromData(gen="data", of=table.data, column=name, pick=given.pick, exponent=given.exponent, **shared)
        if isinstance(values, Sequence) and values.step in (None, 1):
            first = 1 if values.start is None else values.start
            ends: dict[str, Any] = {"low": first, "high": f"({table.rows}) + ({first}) - 1"}
            if given.pick == "zipfian":
                return Zipfian(gen="zipfian", **ends, **shared, exponent=given.exponent or 0.8)
            return Uniform(gen="uniform", **ends, **shared)
        if values is None:
            raise place.at("column").mistake(
                f"table {given.of} has no column '{given.column}'.{did_you_mean(given.column, table.columns)} "
                f"Accepted: {', '.join(table.columns)}."
            )
        raise place.at("column").mistake(
            f"the values of column '{given.column}' of table {given.of} are neither numbered nor of a file; a generator like the "
            "column's own is accepted."
        )

    def _type_in_tables(self, data: str, column: FileColumn) -> str:
        """The type that a table of the same data gives the column; "" when it is left to the file."""
        for placed in self._tables.values():
            for name, one in placed.value.columns.items() if placed.value.data == data else ():
                source = one.values.column if isinstance(one.values, FromData) else name
                if source in (column.name, column.sql_name) and one.type:
                    return one.type
        return ""

    def _read(self, name: str, place: Place) -> tuple[DataFile, Contents]:
        if name not in self._files:
            known = ", ".join(self._files) or "(there is none)"
            raise place.mistake(f"unknown data '{name}'.{did_you_mean(name, self._files)} Accepted: {known}.")
        return self._files[name], contents_of(self._files[name])


def _all_of(file: DataFile, contents: Contents, place: Place) -> Named[shape.Column]:
    """A column for each of the file's. Raises UsageError where two would have the same name."""
    names: dict[str, str] = {}
    for one in contents.columns:
        if other := names.get(one.sql_name):
            raise place.at("data").mistake(
                f"'{other}' and '{one.name}' of {file.path} would both be columns called {one.sql_name}; "
                'name the columns, with values = { gen = "data", column = "…" }.'
            )
        names[one.sql_name] = one.name
    return {name: Placed(shape.Column(), place) for name in names}


def _filled(table: shape.Table, columns: Named[shape.Column], staged: Staged | None = None) -> Filled:
    named = {name: one.value for name, one in columns.items()}
    return Filled(table.model_copy(update={"columns": named}), columns, staged)


def _open_to_null(columns: Named[shape.Column]) -> Named[shape.Column]:
    """Whether NULL is taken is for a table that scripts make to say."""
    return {name: Placed(one.value.model_copy(update={"nullable": True}), one.place) for name, one in columns.items()}


def _check_whole(name: str, columns: Named[shape.Column], place: Place) -> None:
    if not columns:
        raise place.mistake(f"tables.{name} has no `columns`, which are needed, or `data` that has some.")
    for key, placed in columns.items():
        column, at = placed.value, placed.place
        for what, given in (("type", column.type), ("values", column.values)):
            if given == "":
                raise at.mistake(f"tables.{name}.columns.{key} has no `{what}`, which is needed.")
        if isinstance(column.values, FromData) and column.values.of is None:
            raise at.at("values").mistake(
                f"column '{key}': `of` is missing, since table {name} has no `data` of its own."
            )


def _taken(
    file: DataFile, contents: Contents, columns: Named[shape.Column], *, made_by_scripts: bool
) -> Iterator[_Taken]:
    """The columns whose values are those of the file's rows."""
    seen: dict[str, str] = {}
    for name, placed in columns.items():
        column, at = placed.value, placed.place
        own = isinstance(column.values, FromData) and column.values.of is None
        if column.values != "" and not own:
            if not column.type:
                raise at.mistake(f"column '{name}' has no `type`, which is needed where values are not the file's.")
            continue
        wanted = column.values.column if isinstance(column.values, FromData) else name
        found = _find(wanted, file, contents, at)
        if found.name in seen:
            raise at.mistake(f"columns '{seen[found.name]}' and '{name}' both take '{found.name}' of {file.path}.")
        seen[found.name] = name
        if column.type and (words := why_not(column.type)):
            raise at.at("type").mistake(f"column '{name}': {words}.")
        type_ = column.type or (_as_sent(file, found) if made_by_scripts else found.type)
        yield _Taken(name, column, found, at.at("type") if at.has("type") else at, type_, made_by_scripts)


def _as_sent(file: DataFile, column: FileColumn) -> str:
    """As what values go to a column whose type scripts have given: as they are written, for that type to read.

    Of Parquet all but times is what it is.
    """
    return "text" if is_time(column.type) or not file.is_parquet else column.type


def _find(name: str, file: DataFile, contents: Contents, place: Place) -> FileColumn:
    for match in ("name", "sql_name"):
        if found := next((one for one in contents.columns if getattr(one, match) == name), None):
            return found
    known = [one.name for one in contents.columns]
    raise place.mistake(f"{file.path} has no column '{name}'.{did_you_mean(name, known)} Accepted: {', '.join(known)}.")


def _column(one: _Taken, index: int, in_key: bool, file: DataFile) -> shape.Column:
    """With all that the file knows better. Without a word on NULL a column takes it where the file has it."""
    says_so = "nullable" in one.column.model_fields_set
    nullable = one.column.nullable if says_so else one.of_file.nulls > 0 or one.made_by_scripts
    if one.of_file.nulls and (in_key or not nullable):
        why = "it is part of the primary key" if in_key else "`nullable = true` takes that"
        raise one.place.mistake(
            f"column '{one.name}': '{one.of_file.name}' of {file.path} has no value in {one.of_file.nulls} rows; {why}."
        )
    value = FromRow(index=index, type=one.form.type, round=None, nulls=None)
    return one.column.model_copy(update={"type": one.form.type, "values": value, "nullable": nullable})


def _keys(table: shape.Table, taken: list[_Taken], place: Place) -> Iterator[Unique]:
    """Keys whose columns all come from the file, which can be checked before anything is loaded."""
    names = {one.name: one.of_file.name for one in taken}
    keys = [("the primary key", table.primary_key, place.at("primary_key"))]
    keys += [
        (f"the key of index {index.name}", index.columns, place.at("indexes", number))
        for number, index in enumerate(table.indexes)
        if index.unique
    ]
    for what, columns, at in keys:
        if columns and all(name in names for name in columns):
            words = f"{what} ({', '.join(columns)})"
            yield Unique(words, tuple(names[name] for name in columns), at)
