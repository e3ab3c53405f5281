"""Tables in SQLite's dialect."""

from dbversus.dbms.table import Column, Table
from dbversus.dbms.types import is_integer
from dbversus.servers.ddl import column_type, columns_of, constraints, create_index

_TYPES = {
    "int2": "INTEGER",
    "int4": "INTEGER",
    "int8": "INTEGER",
    "char": "CHAR({})",
    "varchar": "VARCHAR({})",
    "text": "TEXT",
}


def table_sql(table: Table) -> tuple[list[str], list[str]]:
    """Statements before the rows, and after them. A single integer as primary key is SQLite's own number of the row."""
    row_id = table.key if len(table.primary_key) == 1 and is_integer(_type_of(table, table.key)) else ""
    parts = [f"{one.name} INTEGER PRIMARY KEY" if one.name == row_id else _column(one) for one in table.columns]
    if table.key and not row_id:
        parts.append(f"PRIMARY KEY {columns_of(table.primary_key)}")
    create = f"CREATE TABLE {table.name} ({', '.join(parts)})"
    return [create], [create_index(index, table.name) for index in table.indexes]


def _column(column: Column) -> str:
    return f"{column.name} {column_type(column, 'sqlite', _TYPES)}{constraints(column)}"


def _type_of(table: Table, name: str) -> str:
    return next(column.type for column in table.columns if column.name == name)
