"""Tables in the dialect of the MySQL family."""

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


def table_sql(table: Table, dbms: str, engine: str) -> tuple[list[str], list[str]]:
    """Statements before the rows, and after them. `engine`: the storage engine.

    Secondary indexes come after the rows, as in the reference method; rows are stored by primary key anyway.
    """
    parts = [_column(column, dbms) for column in table.columns]
    if table.key:
        parts.append(f"PRIMARY KEY {columns_of(table.primary_key)}")
    create = f"CREATE TABLE {table.name} ({', '.join(parts)}) ENGINE={engine}"
    return [create], [create_index(index, table.name) for index in table.indexes]


def _column(column: Column, dbms: str) -> str:
    words = f"{column.name} {column_type(column, dbms, _TYPES)}"
    return f"{words} NOT NULL AUTO_INCREMENT" if column.identity else f"{words}{constraints(column)}"
