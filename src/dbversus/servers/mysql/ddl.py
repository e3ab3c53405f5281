"""Tables in the dialect of the MySQL family."""

from dbversus.dbms.flavour import Flavour
from dbversus.dbms.sql.ddl import AS_SUITE, PRIMARY_KEY, TABLE, Ddl
from dbversus.dbms.sql.session import UTF8_NAMES
from dbversus.dbms.sql.table import Column, Table
from dbversus.dbms.sql.types import Names
from dbversus.servers.ddl import column_type, constraints, create_indexes

TYPES = {
    "int2": "SMALLINT",
    "int4": "INTEGER",
    "int8": "BIGINT",
    "float4": "FLOAT",
    "float8": "DOUBLE",
    "decimal": "DECIMAL({})",
    "bool": "BOOLEAN",
    "date": "DATE",
    "timestamp": "DATETIME",
    "timestamp6": "DATETIME(6)",
    "char": "CHAR({})",
    "varchar": "VARCHAR({})",
    "text": "TEXT",
    "json": "JSON",
    "uuid": "CHAR(36)",
    "bytes": "VARBINARY({})",
}


def types_of(flavour: Flavour) -> Names:
    """Those that this server has."""
    lacking = set()
    if not (flavour.mysql_since(5, 7, 8) or flavour.mariadb_since(10, 2, 7)):
        lacking.add("json")
    if not (flavour.mysql_since(5, 6, 4) or flavour.is_mariadb):
        lacking.add("timestamp6")
    return {name: spelled for name, spelled in TYPES.items() if name not in lacking}


def table_sql(
    table: Table, dbms: str, engine: str, types: Names = TYPES, ddl: Ddl = AS_SUITE
) -> tuple[list[str], list[str]]:
    """Statements before the rows, and after them. `engine`: the storage engine.

    Secondary indexes come after the rows, as in the reference method; rows are stored by primary key anyway.
    """
    if table.made_by_scripts:
        return [UTF8_NAMES], []
    parts = [_column(column, dbms, types) for column in table.columns]
    if table.key and not ddl.omits(PRIMARY_KEY, table.stem):
        columns = ", ".join(table.primary_key)
        parts.append(ddl.create_statement(PRIMARY_KEY, table, table.name, columns, f"PRIMARY KEY ({columns})"))
    columns = ", ".join(parts)
    usual = f"CREATE TABLE {table.name} ({columns}) ENGINE={ddl.engine(table, engine)}"
    create = ddl.create_statement(TABLE, table, table.name, columns, usual) + _partitions(
        table.key, ddl.partition_bounds(table)
    )
    return [create, *ddl.while_empty(table)], create_indexes(table, ddl)


def _partitions(key: str, bounds: list[int]) -> str:
    if not bounds:
        return ""
    ends = [*(f"({bound})" for bound in bounds), "MAXVALUE"]
    parts = ", ".join(f"PARTITION p{number} VALUES LESS THAN {end}" for number, end in enumerate(ends))
    return f" PARTITION BY RANGE ({key}) ({parts})"


def _column(column: Column, dbms: str, types: Names) -> str:
    words = f"{column.name} {column_type(column, dbms, types)}"
    return f"{words} NOT NULL AUTO_INCREMENT" if column.identity else f"{words}{constraints(column, dbms)}"
