"""Tables in PostgreSQL's dialect."""

from itertools import pairwise

from dbversus.dbms.sql.ddl import AS_SUITE, PRIMARY_KEY, TABLE, Ddl
from dbversus.dbms.sql.table import Column, Table
from dbversus.servers.ddl import column_type, constraints, create_indexes

_TYPES = {
    "int2": "SMALLINT",
    "int4": "INTEGER",
    "int8": "BIGINT",
    "float4": "REAL",
    "float8": "DOUBLE PRECISION",
    "decimal": "NUMERIC({})",
    "bool": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP(0)",
    "timestamp6": "TIMESTAMP(6)",
    "char": "CHAR({})",
    "varchar": "VARCHAR({})",
    "text": "TEXT",
    "json": "JSONB",
    "uuid": "UUID",
    "bytes": "BYTEA",
}
_SET_ALL_SEQUENCES = """DO $$ DECLARE named text; BEGIN
  FOR named IN SELECT attname FROM pg_attribute WHERE attrelid = '{table}'::regclass AND attnum > 0 AND NOT attisdropped
    AND pg_get_serial_sequence('{table}', attname) IS NOT NULL LOOP
    EXECUTE format('SELECT setval(pg_get_serial_sequence(%L, %L), coalesce(max(%I), 1)) FROM {table}', '{table}', named, named);
  END LOOP; END $$"""
"""Of a table whose columns are not known here."""
_SERIAL = {"int2": "SMALLSERIAL", "int4": "SERIAL", "int8": "BIGSERIAL"}


def table_sql(table: Table, storage: str, ddl: Ddl = AS_SUITE) -> tuple[list[str], list[str]]:
    """Statements before the rows, and after them. `storage`: the clause ` WITH (…)`, or nothing, of what `ddl` leaves alone.

    Indexes come after the rows, which is faster; sequences go on after the numbers that the load has given.
    """
    if table.made_by_scripts:
        return [], [_SET_ALL_SEQUENCES.format(table=table.name)]
    columns = ", ".join(map(_column, table.columns))
    bounds = ddl.partition_bounds(table)
    create = ddl.create_statement(
        TABLE, table, table.name, columns, f"CREATE TABLE {table.name} ({columns})", "" if bounds else storage
    )
    parts = []
    if bounds:
        create += f" PARTITION BY RANGE ({table.key})"
        parts = _partitions(table.name, bounds, storage)
    after = []
    if table.key and not ddl.omits(PRIMARY_KEY, table.stem):
        columns = ", ".join(table.primary_key)
        usual = f"ALTER TABLE {table.name} ADD PRIMARY KEY ({columns})"
        after.append(ddl.create_statement(PRIMARY_KEY, table, table.name, columns, usual, storage))
    after += [_set_sequence(table.name, column.name) for column in table.columns if column.identity]
    return [create, *parts, *ddl.while_empty(table)], after + create_indexes(table, ddl, storage)


def _partitions(table: str, bounds: list[int], storage: str) -> list[str]:
    """What makes each; a table with partitions has no storage of its own."""
    ends = ["MINVALUE", *map(str, bounds), "MAXVALUE"]
    ranges = enumerate(pairwise(ends))
    return [
        f"CREATE TABLE {table}_p{number} PARTITION OF {table} FOR VALUES FROM ({low}) TO ({high}){storage}"
        for number, (low, high) in ranges
    ]


def _column(column: Column) -> str:
    if column.identity:
        return f"{column.name} {_SERIAL[column.type]}"
    return f"{column.name} {column_type(column, 'postgres', _TYPES)}{constraints(column, 'postgres')}"


def _set_sequence(table: str, column: str) -> str:
    highest = f"(SELECT coalesce(max({column}), 1) FROM {table})"  # noqa: S608
    return f"SELECT setval(pg_get_serial_sequence('{table}', '{column}'), {highest})"
