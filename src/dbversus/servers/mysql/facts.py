"""What a running server of the MySQL family tells about itself: plans and counters; and warming its cache."""

import re
import time
from collections.abc import Sequence
from dataclasses import replace

import pymysql

from dbversus.dbms.flavour import NOT_EXPLAINED, Flavour, explain_formats, statement_limit
from dbversus.errors import RunError
from dbversus.servers.base import Executed, Execution
from dbversus.servers.mysql.query import SYNTAX_ERROR, Connection, Row, error_number, identifier, rows, status, words
from dbversus.servers.objects import Moment, ObjectFigures, object_figures
from dbversus.suites.sql import is_query

# Status variables that go down again, or are no counts at all: beginnings of names, and words in them.
_GAUGES = re.compile(
    r"(?:uptime|open_(?!ed)|threads_(?!created)|max_|acl_|stack|slave|ssl_|tls_|rpl_|wsrep|mysqlx|key_blocks|delayed|not_flushed|"
    r"qcache_(?:free|total|queries)|feature|tc_log_(?:max|page_size)|binlog_snapshot|performance_schema|aria_pagecache_blocks|"
    r"innodb_(?:buffer_pool_(?:pages_(?:data|dirty|free|misc|total|latched|old)|bytes|load|dump|resize)|num_open|available|"
    r"undo_tablespaces|ibuf_(?:size|free|segment)|checkpoint|lsn|history|max_trx|mem_|redo_log|have|master|purge|scrub|encryption))|"
    r".*(?:memory|_current|_pending|_pct|_usage|_page_size|_instances|_progress|_time_(?:avg|max)|_lsn|_size$|prepared_stmt_count)"
)
# kinds of a statement that has one part; their names changed in 5.7
_PLAIN = ("SIMPLE", "UPDATE", "DELETE", "INSERT", "REPLACE")
_PLANNING_STAGES = ("optimizing", "statistics", "preparing")
"""Of a profile, in either case of letters, between what has the tables opened and what executes."""
_PLANNED_TIMES, _PLANNED_S = 30, 0.5
_FORMAT = "--- FORMAT="
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
# Classes of files by the last word of their instrument, and what is counted of each.
_FILE_COLUMNS = {
    "count_read": "reads",
    "count_write": "writes",
    "sum_number_of_bytes_read": "read_bytes",
    "sum_number_of_bytes_write": "write_bytes",
}


def plan(connection: Connection, flavour: Flavour, statement: str) -> str:
    """The plan as the table of EXPLAIN, a line per row, and the same in more detail where the version has such a format.

    The table comes first because all versions have it, so that plans of two versions can be compared.
    """
    formats = explain_formats(flavour)
    # where there are formats, the default may be another than the table
    table = _plan_table(connection, f"EXPLAIN FORMAT=TRADITIONAL {statement}" if formats else f"EXPLAIN {statement}")
    detail = next((text for name in formats if (text := _plan_as(connection, name, statement))), "")
    return f"{table}\n{detail}" if detail else table


def executed_plans(connection: Connection, flavour: Flavour, statements: Sequence[Execution]) -> list[Executed]:
    """As `plan`; with what each operator took and gave where the version can execute a statement to tell that.

    MySQL does so since 8.0.18 with queries alone, MariaDB since 10.1 with changes, too, which are rolled back. Of statements that
    are not executed there is nothing more to tell than `plan` does, and what planning takes, which all versions tell.
    """
    connection.begin()
    try:
        return [_with_planning(connection, _executed(connection, flavour, one), one.sql) for one in statements]
    finally:
        connection.rollback()


def _with_planning(connection: Connection, executed: Executed, sql: str) -> Executed:
    return executed if executed.refused else replace(executed, planning_ms=_planning_ms(connection, sql))


def _planning_ms(connection: Connection, sql: str) -> float | None:
    """The least of several EXPLAINs, by the profile of the session: in all others something came in between.

    None where the server explains or profiles nothing.
    """
    until = time.monotonic() + _PLANNED_S
    stages = ", ".join(f"'{stage}'" for stage in _PLANNING_STAGES)
    taken = f"SELECT sum(duration) * 1000 FROM information_schema.profiling WHERE state IN ({stages}) GROUP BY query_id"  # noqa: S608
    try:
        rows(connection, f"SET SESSION profiling_history_size = {_PLANNED_TIMES}")
        rows(connection, "SET SESSION profiling = 1")
        for _ in range(_PLANNED_TIMES):
            rows(connection, f"EXPLAIN {sql}")
            if time.monotonic() > until:
                break
        rows(connection, "SET SESSION profiling = 0")
        found = [float(row[0]) for row in rows(connection, taken)]
    except pymysql.MySQLError:
        return None
    return min(found, default=None)


def _executed(connection: Connection, flavour: Flavour, statement: Execution) -> Executed:
    if limit := statement_limit(flavour, statement.limit_s):
        rows(connection, limit)
    try:
        if flavour.mariadb_since(10, 1):
            table = _plan_table(connection, f"ANALYZE {statement.sql}")
            return Executed(f"{table}\n{_plan_as(connection, 'JSON', statement.sql, verb='ANALYZE')}".rstrip())
        if not flavour.mysql_since(8, 0, 18) or not is_query(statement.sql):
            return Executed()
        table = _plan_table(connection, f"EXPLAIN FORMAT=TRADITIONAL {statement.sql}")
        tree = str(rows(connection, f"EXPLAIN ANALYZE {statement.sql}")[0][0]).strip()
        return Executed(f"{table}\n{_FORMAT}TREE, executed\n{tree}")
    except pymysql.MySQLError as error:
        return Executed(refused=words(error))


def _plan_table(connection: Connection, explain: str) -> str:
    """Without the estimates, and the columns that only some versions have."""
    with connection.cursor() as cursor:
        try:
            cursor.execute(explain)
        except pymysql.ProgrammingError as error:
            if error_number(error) != SYNTAX_ERROR or "SELECT" in explain.upper():
                raise
            return NOT_EXPLAINED
        names = [column[0] for column in cursor.description or ()]
        found = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    return "\n".join(_plan_line(row) for row in found)


def _plan_line(row: dict[str, object]) -> str:
    """`sbtest1 range key=PRIMARY key_len=4 rows=100 (Using where)`, and what kind of part it is where there are several."""
    words = [str(row[name]) for name in ("select_type", "table", "type") if row.get(name) not in (None, *_PLAIN)]
    words += [f"{name}={row[name]}" for name in ("key", "key_len", "rows", "r_rows") if row.get(name) is not None]
    return " ".join([*words, f"({row['Extra']})"] if row.get("Extra") else words)


def _plan_as(connection: Connection, name: str, statement: str, verb: str = "EXPLAIN") -> str:
    """Empty where the server has no plan of this statement in this format."""
    try:
        text = str(rows(connection, f"{verb} FORMAT={name} {statement}")[0][0])
    except pymysql.MySQLError:
        return ""
    return "" if "not executable by iterator executor" in text else f"{_FORMAT}{name}\n{text.strip()}"


def counters(connection: Connection, database: str) -> dict[str, float]:
    """Monotonic counters by flat name; what this version does not show is left out.

    `status.<name>`: SHOW GLOBAL STATUS. `innodb.<name>`: InnoDB's metrics that are enabled. `file.<class>.*`: input and
    output by class of file (`innodb_data_file`, `innodb_log_file`, `binlog`, …). `index.<table>.<index>.*`: rows read
    and written through an index. The last two come from the performance schema.
    """
    found = {
        f"status.{name.lower()}": float(value)
        for name, value in status(connection).items()
        if _NUMBER.fullmatch(value) and not _GAUGES.match(name.lower())
    }
    found |= _metrics(connection)
    if _exists(connection, "performance_schema", "file_summary_by_event_name"):
        found |= _files(connection)
    if _exists(connection, "performance_schema", "table_io_waits_summary_by_index_usage"):
        found |= _indexes(connection, database)
    return found


def _exists(connection: Connection, schema: str, table: str) -> bool:
    condition = f"table_schema = '{schema}' AND table_name = '{table}'"
    return bool(rows(connection, f"SELECT 1 FROM information_schema.tables WHERE {condition}"))  # noqa: S608


def _metrics(connection: Connection) -> dict[str, float]:
    """Names of columns differ: `status` is text in MySQL, and MariaDB has a column `enabled` since 10.6."""
    try:
        found = rows(
            connection,
            "SELECT name, count FROM information_schema.innodb_metrics "
            "WHERE type IN ('counter', 'status_counter') AND time_enabled IS NOT NULL AND count > 0",
        )
    except pymysql.MySQLError:  # none before 5.6
        return {}
    return {f"innodb.{name}": float(count) for name, count in found}


def _files(connection: Connection) -> dict[str, float]:
    columns = ", ".join(_FILE_COLUMNS)
    found: dict[str, float] = {}
    for name, *values in rows(
        connection,
        f"SELECT event_name, {columns} FROM performance_schema.file_summary_by_event_name "  # noqa: S608
        "WHERE count_read + count_write > 0 AND (event_name LIKE '%/innodb/%' OR event_name LIKE '%rocks%' "
        "OR event_name IN ('wait/io/file/sql/binlog', 'wait/io/file/sql/io_cache'))",
    ):
        kind = name.rpartition("/")[2]
        found |= {
            f"file.{kind}.{word}": float(value) for word, value in zip(_FILE_COLUMNS.values(), values, strict=True)
        }
    return found


def _indexes(connection: Connection, database: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for table, index, read, written in rows(
        connection,
        "SELECT object_name, index_name, count_read, count_write "  # noqa: S608
        "FROM performance_schema.table_io_waits_summary_by_index_usage "
        f"WHERE object_schema = '{database}' AND count_star > 0",
    ):
        prefix = f"index.{table}.{index or 'none'}"
        found |= {f"{prefix}.reads": float(read), f"{prefix}.writes": float(written)}
    return found


def objects(connection: Connection, moment: Moment, dbms: str, version: str) -> ObjectFigures:
    """Figures of tables, indexes, files and caches (objects.toml)."""

    def ask(statement: str) -> list[Row]:
        try:
            return rows(connection, statement)
        except pymysql.MySQLError as error:
            raise RunError(words(error)) from error

    return object_figures("mysql", moment, dbms, version, ask)


def warm(connection: Connection, database: str, tables: Sequence[str]) -> None:
    """Reads tables through each of their indexes, the primary one, which holds the rows, first."""
    for table in tables:
        last = f"SUM(LENGTH({identifier(_last_column(connection, database, table))}))"
        indexes = _indexed_columns(connection, database, table)
        if "PRIMARY" not in dict(indexes):  # rows are stored by a number of the server's own
            rows(connection, f"SELECT {last} FROM {identifier(table)}")  # noqa: S608
        for index, column in indexes:
            of_index = f"SUM(LENGTH({identifier(column)}))" if column else "COUNT(*)"
            wanted = last if index == "PRIMARY" else of_index
            rows(connection, f"SELECT {wanted} FROM {identifier(table)} FORCE INDEX ({identifier(index)})")  # noqa: S608


def _last_column(connection: Connection, database: str, table: str) -> str:
    """Whoever reads it has read the row: it is in no index by itself, as a rule."""
    found = rows(
        connection,
        "SELECT column_name FROM information_schema.columns "  # noqa: S608
        f"WHERE table_schema = '{database}' AND table_name = '{table}' ORDER BY ordinal_position DESC LIMIT 1",
    )
    return str(found[0][0])


def _indexed_columns(connection: Connection, database: str, table: str) -> list[tuple[str, str]]:
    """Indexes of a table with their first columns; "" where that is an expression (MySQL 8)."""
    found = rows(
        connection,
        "SELECT index_name, column_name FROM information_schema.statistics WHERE seq_in_index = 1 "  # noqa: S608
        f"AND table_schema = '{database}' AND table_name = '{table}' ORDER BY index_name <> 'PRIMARY', index_name",
    )
    return [(str(index), str(column or "")) for index, column in found]


def table_engines(connection: Connection, database: str) -> dict[str, str]:
    """The storage engine that each table has got."""
    found = rows(
        connection,
        f"SELECT table_name, engine FROM information_schema.tables WHERE table_schema = '{database}'",  # noqa: S608
    )
    return {str(table): str(engine) for table, engine in found}
