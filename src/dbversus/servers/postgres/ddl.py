"""Tables in PostgreSQL's dialect."""

from dbversus.dbms.table import Column, Table
from dbversus.servers.ddl import column_type, columns_of, constraints, create_index

_TYPES = {
    "int2": "SMALLINT",
    "int4": "INTEGER",
    "int8": "BIGINT",
    "char": "CHAR({})",
    "varchar": "VARCHAR({})",
    "text": "TEXT",
}
_SERIAL = {"int2": "SMALLSERIAL", "int4": "SERIAL", "int8": "BIGSERIAL"}


def table_sql(table: Table, storage: str) -> tuple[list[str], list[str]]:
    """Statements before the rows, and after them. `storage`: the clause ` WITH (…)`, or nothing.

    Indexes come after the rows, which is faster; sequences go on after the numbers that the load has given.
    """
    create = f"CREATE TABLE {table.name} ({', '.join(map(_column, table.columns))}){storage}"
    after = [f"ALTER TABLE {table.name} ADD PRIMARY KEY {columns_of(table.primary_key)}{storage}"] if table.key else []
    after += [_set_sequence(table.name, column.name) for column in table.columns if column.identity]
    return [create], after + [create_index(index, table.name) + storage for index in table.indexes]


def _column(column: Column) -> str:
    if column.identity:
        return f"{column.name} {_SERIAL[column.type]}"
    return f"{column.name} {column_type(column, 'postgres', _TYPES)}{constraints(column)}"


def _set_sequence(table: str, column: str) -> str:
    highest = f"(SELECT coalesce(max({column}), 1) FROM {table})"  # noqa: S608
    return f"SELECT setval(pg_get_serial_sequence('{table}', '{column}'), {highest})"
