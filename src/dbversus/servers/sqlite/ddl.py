"""Tables in SQLite's dialect."""

from dbversus.dbms.sql.ddl import AS_SUITE, PRIMARY_KEY, TABLE, Ddl
from dbversus.dbms.sql.table import Column, Table
from dbversus.dbms.sql.types import is_integer
from dbversus.servers.ddl import column_type, constraints, create_indexes

_TYPES = {
    "int2": "INTEGER",
    "int4": "INTEGER",
    "int8": "INTEGER",
    "float4": "REAL",
    "float8": "REAL",
    "decimal": "DECIMAL({})",
    "bool": "INTEGER",
    "date": "TEXT",
    "timestamp": "INTEGER",
    "timestamp6": "INTEGER",
    "char": "CHAR({})",
    "varchar": "VARCHAR({})",
    "text": "TEXT",
    "json": "TEXT",
    "uuid": "TEXT",
    "bytes": "BLOB",
}


def table_sql(table: Table, ddl: Ddl = AS_SUITE) -> tuple[list[str], list[str]]:
    """Statements before the rows, and after them. A single integer as primary key is SQLite's own number of the row."""
    if table.made_by_scripts:
        return [], []
    has_key = bool(table.key) and not ddl.omits(PRIMARY_KEY, table.stem)
    row_id = table.key if has_key and len(table.primary_key) == 1 and is_integer(_type_of(table, table.key)) else ""
    parts = [f"{one.name} INTEGER PRIMARY KEY" if one.name == row_id else _column(one) for one in table.columns]
    if has_key and not row_id:
        columns = ", ".join(table.primary_key)
        parts.append(ddl.create_statement(PRIMARY_KEY, table, table.name, columns, f"PRIMARY KEY ({columns})"))
    columns = ", ".join(parts)
    create = ddl.create_statement(TABLE, table, table.name, columns, f"CREATE TABLE {table.name} ({columns})")
    return [create, *ddl.while_empty(table)], create_indexes(table, ddl)


def _column(column: Column) -> str:
    return f"{column.name} {column_type(column, 'sqlite', _TYPES)}{constraints(column, 'sqlite')}"


def _type_of(table: Table, name: str) -> str:
    return next(column.type for column in table.columns if column.name == name)
