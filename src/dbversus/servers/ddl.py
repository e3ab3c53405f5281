"""What the SQL of tables has in common in all dialects."""

from collections.abc import Iterable

from dbversus.dbms.known import find_dbms
from dbversus.dbms.sql.ddl import INDEX, Ddl, kept_indexes
from dbversus.dbms.sql.literals import literal
from dbversus.dbms.sql.table import Column, Index, Table
from dbversus.dbms.sql.types import Names, TypeLacking, spell


def column_type(column: Column, dbms: str, names: Names) -> str:
    """Raises TypeLacking where the DBMS has no such type and the suite does not say what stands for it."""
    if own := column.own_types.get(dbms):
        return own
    try:
        return spell(column.type, names)
    except KeyError:
        words = f"column '{column.name}': this version of {find_dbms(dbms).title} has no type for {column.type}"
        raise TypeLacking(column.name, f'{words}; type_{dbms} = "…" says what stands for it.') from None


def constraints(column: Column, dbms: str) -> str:
    """` NOT NULL DEFAULT 0`"""
    words = "" if column.nullable else " NOT NULL"
    if column.default is None:
        return words
    return f"{words} DEFAULT {literal(column.default, column.type, find_dbms(dbms).family)}"


def columns_of(names: Iterable[str]) -> str:
    return f"({', '.join(names)})"


def create_indexes(table: Table, ddl: Ddl, storage: str = "") -> list[str]:
    """`storage`: a clause of those that `ddl` leaves alone."""
    return [_create_index(index, table, ddl, storage) for index in kept_indexes(table, ddl)]


def _create_index(index: Index, table: Table, ddl: Ddl, storage: str) -> str:
    usual = f"CREATE {'UNIQUE ' if index.unique else ''}INDEX {index.name} ON {table.name} {columns_of(index.columns)}"
    return ddl.create_statement(INDEX, index, table.name, ", ".join(index.columns), usual, storage)
