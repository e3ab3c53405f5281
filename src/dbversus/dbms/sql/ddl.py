"""What a target changes in how the suite's tables and indexes are made: the lines of [ddl] in its configs (docs/configs.md)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dbversus.dbms.sql.table import Index, Table

NONE = "none"
ENGINE, TABLE, PRIMARY_KEY, INDEX, EMPTY, LOADED = "engine", "table", "primary_key", "index", "empty", "loaded"
PARTITIONS = "partitions"
_OMITTABLE = (PRIMARY_KEY, INDEX)
_OF_TABLES = (ENGINE, TABLE, PRIMARY_KEY, EMPTY, PARTITIONS)
_MOST_PARTITIONS = 1024
MARKS = ("name", "table", "columns")
"""In braces in a value, each stands for something of the object that is made."""

_CREATE_INDEX = re.compile(r"\s*CREATE\s+(?:UNIQUE\s+)?INDEX\s+(\w+?)(?:_\{table\}|_\d+)?\s", re.IGNORECASE)

ACCEPTED = (
    "table, primary_key, index, empty, each for all or for one (index.NAME), engine and engine.TABLE in the MySQL family, "
    "partitions and partitions.TABLE but on SQLite, and loaded"
)


@dataclass(frozen=True)
class Ddl:
    """`said`: by what it is about, `index` for all indexes, `index.NAME` for one, which goes before that for all."""

    said: Mapping[str, str] = field(default_factory=dict)

    def of(self, kind: str, name: str) -> str:
        return self.said.get(f"{kind}.{name}", self.said.get(kind, ""))

    def omits(self, kind: str, name: str) -> bool:
        return self.of(kind, name).lower() == NONE

    def engine(self, table: Table, usual: str) -> str:
        """The storage engine of a table."""
        return self.of(ENGINE, table.stem) or usual

    @property
    def engines(self) -> set[str]:
        """All storage engines that are named, in lower case."""
        return {value.lower() for name, value in self.said.items() if name.partition(".")[0] == ENGINE}

    def create_statement(
        self, kind: str, what: Table | Index, table: str, columns: str, usual: str, storage: str = ""
    ) -> str:
        """The statement that makes `what`: the `usual` one with a clause at its end, or another one in its place.

        `table`, `columns`: what `{table}` and `{columns}` stand for. `storage`: a clause for what this says nothing of.
        """
        said = filled(self.of(kind, what.stem), {"name": what.name, "table": table, "columns": columns})
        if not said:
            return usual + storage
        return said if _is_statement(said) else f"{usual} {said}"

    def in_statement(self, sql: str) -> str:
        """A statement of a test; one that creates an index has the clause for indexes at its end, as those of tables have."""
        found = _CREATE_INDEX.match(sql)
        clause = self.of(INDEX, found[1]) if found else ""
        usual = not clause or clause.lower() == NONE or _is_statement(clause)
        return sql if usual else f"{sql.rstrip()} {clause}"

    def while_empty(self, table: Table) -> list[str]:
        """What is run when a table was made and has no rows yet."""
        said = self.of(EMPTY, table.stem)
        return [filled(said, {"name": table.name, "table": table.name})] if said else []

    def partition_bounds(self, table: Table) -> list[int]:
        """Where each range of the primary key ends and the next one begins: with an equal share of the rows in each at the end,
        if numbers begin at 1, and the last one open. Empty: the table has no partitions."""
        said = self.of(PARTITIONS, table.stem)
        count = int(said) if said else 1
        share = max(1, table.rows_at_end // count)
        return [number * share + 1 for number in range(1, count)]

    @property
    def when_loaded(self) -> list[str]:
        """What is run, in the order written, when everything has been loaded."""
        return [value for name, value in self.said.items() if name.partition(".")[0] == LOADED]


AS_SUITE = Ddl()
"""Everything is made as the suite says."""


def filled(text: str, marks: Mapping[str, str]) -> str:
    for mark, value in marks.items():
        text = text.replace(f"{{{mark}}}", value)
    return text


def _is_statement(text: str) -> bool:
    return text.split(None, 1)[0].upper() in ("CREATE", "ALTER")


def kept_indexes(table: Table, ddl: Ddl) -> list[Index]:
    return [index for index in table.indexes if not ddl.omits(INDEX, index.stem)]


def why_not(name: str, value: str, *, has_engines: bool, has_partitions: bool = True) -> str:
    """Why a line of [ddl] cannot be taken, whatever the suite; empty when it can."""
    kind = name.partition(".")[0]
    if kind not in (*_OF_TABLES, INDEX, LOADED) or name.endswith("."):
        return f"'{name}' is not accepted in [ddl]; accepted are {ACCEPTED}"
    if kind == ENGINE and not has_engines:
        return f"'{name}': only the MySQL family has storage engines; accepted are {ACCEPTED}"
    if not value:
        return f"'{name}' has no value; a clause of SQL is accepted, or a statement"
    if kind == PARTITIONS and not has_partitions:
        return f"'{name}': tables of SQLite have no partitions; accepted are {ACCEPTED}"
    if kind == PARTITIONS and not (value.isascii() and value.isdecimal() and 2 <= int(value) <= _MOST_PARTITIONS):
        return f"'{name}' is {value}; a number of partitions from 2 to {_MOST_PARTITIONS} is accepted"
    if value.lower() == NONE and kind not in _OMITTABLE:
        return f"'{name}' cannot be none; only indexes and primary keys can be left out"
    return ""


def unknown(name: str, tables: Sequence[Table]) -> str:
    """Why a line of [ddl] has nothing to act on among the tables of a suite; empty when it has."""
    kind, dot, about = name.partition(".")
    stems = [table.stem for table in tables]
    if not stems and kind != LOADED:
        return "the suite has no tables of its own; what its scripts make can be changed by `loaded` alone"
    if kind == LOADED or not dot:
        return _no_key(kind, tables)
    if kind == INDEX:
        stems = [index.stem for table in tables for index in table.indexes]
    known = list(dict.fromkeys(stems))
    if about in known:
        return _no_key(kind, [table for table in tables if table.stem == about])
    what = "index" if kind == INDEX else "table"
    return f"the suite has no {what} '{about}'; it has {', '.join(known) or 'none'}"


def _no_key(kind: str, tables: Sequence[Table]) -> str:
    """Why tables cannot be parted into ranges; empty where that is not asked."""
    unkeyed = [table.stem for table in tables if kind == PARTITIONS and not table.numbered_key]
    return (
        f"table '{unkeyed[0]}' has no primary key of one integer column, by which it could be parted" if unkeyed else ""
    )
