"""What is in the tables of a SQLite database."""

from dbversus.dbms.sql.table import Table
from dbversus.servers.base import Query
from dbversus.servers.data.contents import TableState


def table_state(query: Query, table: str, key: str, *, counted: bool) -> TableState:
    """`counted`: rows are counted, which reads an index; else their number is that of the statistics."""
    ends = f'SELECT min("{key}"), max("{key}") FROM "{table}"'  # noqa: S608
    lowest, highest = query(ends)[0] if key else (None, None)
    statistics_rows = _statistics_rows(query, table)
    rows = _number(query(f'SELECT count(*) FROM "{table}"')[0][0]) if counted else statistics_rows  # noqa: S608
    return TableState(
        rows=rows,
        rows_counted=counted,
        lowest_id=_value(lowest),
        highest_id=_value(highest),
        columns=_columns(query, table),
        indexes=_indexes(query, table),
        statistics_rows=statistics_rows,
    )


def own_tables(query: Query) -> list[Table]:
    """All tables but SQLite's own, with the first column of their primary key."""
    names = [
        str(row[0]) for row in query("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 ORDER BY 1")
    ]
    return [Table(name, (), _key(query, name)) for name in names if not name.startswith("sqlite_")]


def _key(query: Query, table: str) -> tuple[str, ...]:
    found = query(f'PRAGMA table_info("{table}")')
    return tuple(str(name) for _, name, *_, place in found if place == "1")


def _value(text: str | None) -> int | str | None:
    """Of a key, which may be a text."""
    return int(text) if text is not None and text.lstrip("-").isdigit() else text


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)


def _statistics_rows(query: Query, table: str) -> int | None:
    """The first number of each line of sqlite_stat1, which ANALYZE makes."""
    if not query("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_stat1'"):
        return None
    found = query(f"SELECT stat FROM sqlite_stat1 WHERE tbl = '{table}'")  # noqa: S608
    return max((int(str(row[0]).split()[0]) for row in found), default=None)


def _columns(query: Query, table: str) -> tuple[str, ...]:
    found = query(f'PRAGMA table_info("{table}")')
    return tuple(f"{name} {kind}{'' if not_null == '0' else ' NOT NULL'}" for _, name, kind, not_null, *_ in found)


def _indexes(query: Query, table: str) -> tuple[str, ...]:
    """Without those that have no statement of their own, such as that of a primary key."""
    found = query(f"SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = '{table}' AND sql IS NOT NULL")  # noqa: S608
    return tuple(sorted(str(row[0]) for row in found))
