"""What the SQL of tables has in common in all dialects."""

from collections.abc import Iterable

from dbversus.dbms.table import Column, Index
from dbversus.dbms.types import Names, spell


def column_type(column: Column, dbms: str, names: Names) -> str:
    return column.own_types.get(dbms) or spell(column.type, names)


def constraints(column: Column) -> str:
    """` NOT NULL DEFAULT 0`"""
    words = "" if column.nullable else " NOT NULL"
    return words if column.default is None else f"{words} DEFAULT {literal(column.default)}"


def literal(value: int | str) -> str:
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def columns_of(names: Iterable[str]) -> str:
    return f"({', '.join(names)})"


def create_index(index: Index, table: str) -> str:
    return f"CREATE {'UNIQUE ' if index.unique else ''}INDEX {index.name} ON {table} {columns_of(index.columns)}"
