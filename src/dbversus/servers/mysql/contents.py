"""What is in the tables of a server of the MySQL family."""

from collections.abc import Callable

from dbversus.dbms.sql.table import Table
from dbversus.servers.data.contents import TableState
from dbversus.servers.mysql.query import Connection, identifier, rows, scalar

StatisticsRows = Callable[[Connection, str, str], int | None]

# types of keys whose lowest and highest value are told
_KEYS = "'tinyint', 'smallint', 'mediumint', 'int', 'bigint', 'char', 'varchar'"


def table_state(
    connection: Connection, database: str, table: str, key: str, statistics: StatisticsRows, *, counted: bool
) -> TableState:
    """`counted`: rows are counted, which reads an index of the table; else their number is that of the statistics."""
    name = identifier(table)
    ends = f"SELECT MIN({identifier(key)}), MAX({identifier(key)}) FROM {name}"  # noqa: S608
    lowest, highest = rows(connection, ends)[0] if key else (None, None)
    statistics_rows = statistics(connection, database, table)
    found = int(scalar(connection, f"SELECT COUNT(*) FROM {name}")) if counted else statistics_rows  # noqa: S608
    return TableState(
        rows=found,
        rows_counted=counted,
        lowest_id=lowest,
        highest_id=highest,
        columns=_columns(connection, database, table),
        indexes=_indexes(connection, database, table),
        statistics_rows=statistics_rows,
    )


def own_tables(connection: Connection, database: str) -> list[Table]:
    """All tables of a database, with the first column of their primary key if it is an integer or a text."""
    found = rows(
        connection,
        "SELECT t.table_name, c.column_name FROM information_schema.tables t "  # noqa: S608
        "LEFT JOIN information_schema.statistics s ON s.table_schema = t.table_schema AND s.table_name = t.table_name "
        "AND s.index_name = 'PRIMARY' AND s.seq_in_index = 1 "
        "LEFT JOIN information_schema.columns c ON c.table_schema = t.table_schema AND c.table_name = t.table_name "
        f"AND c.column_name = s.column_name AND c.data_type IN ({_KEYS}) "
        f"WHERE t.table_schema = '{database}' AND t.table_type = 'BASE TABLE' ORDER BY 1",
    )
    return [Table(_text(name), (), (_text(key),) if key else ()) for name, key in found]


def innodb_statistics_rows(connection: Connection, database: str, table: str) -> int | None:
    """From the persistent statistics, which 5.5 does not have."""
    if not scalar(connection, "SELECT count(*) FROM information_schema.tables WHERE table_name = 'innodb_table_stats'"):
        return None
    found = rows(
        connection,
        "SELECT n_rows FROM mysql.innodb_table_stats "  # noqa: S608
        f"WHERE database_name = '{database}' AND table_name = '{table}'",
    )
    return int(found[0][0]) if found else None


def rocksdb_statistics_rows(connection: Connection, database: str, table: str) -> int | None:
    """From what RocksDB writes into each file of the primary index; a row with several versions counts several times."""
    found = scalar(
        connection,
        "SELECT sum(f.num_rows) FROM information_schema.rocksdb_ddl d "  # noqa: S608
        "JOIN information_schema.rocksdb_index_file_map f "
        "ON f.column_family = d.column_family AND f.index_number = d.index_number "
        f"WHERE d.table_schema = '{database}' AND d.table_name = '{table}' AND (d.index_type = 1 OR d.index_name = 'PRIMARY')",
    )
    return int(found) if found else None


def _columns(connection: Connection, database: str, table: str) -> tuple[str, ...]:
    found = rows(
        connection,
        "SELECT column_name, column_type, is_nullable FROM information_schema.columns "  # noqa: S608
        f"WHERE table_schema = '{database}' AND table_name = '{table}' ORDER BY ordinal_position",
    )
    return tuple(f"{name} {_text(kind)}{'' if nullable == 'YES' else ' NOT NULL'}" for name, kind, nullable in found)


def _indexes(connection: Connection, database: str, table: str) -> tuple[str, ...]:
    """`PRIMARY (id) UNIQUE`."""
    found = rows(
        connection,
        "SELECT index_name, non_unique, GROUP_CONCAT(COALESCE(column_name, 'expression') ORDER BY seq_in_index) "  # noqa: S608
        f"FROM information_schema.statistics WHERE table_schema = '{database}' AND table_name = '{table}' "
        "GROUP BY index_name, non_unique",
    )
    return tuple(
        sorted(f"{name} ({_text(columns)}){'' if int(repeats) else ' UNIQUE'}" for name, repeats, columns in found)
    )


def _text(value: str | bytes) -> str:
    """8.0 gives some texts of its dictionary as binary."""
    return value.decode() if isinstance(value, bytes) else value
