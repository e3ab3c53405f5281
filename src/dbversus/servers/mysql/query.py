"""Administrators' connections to servers of the MySQL family."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pymysql
from pymysql import connections

if TYPE_CHECKING:  # generic for type checkers only
    from pymysql.cursors import Cursor

    Connection = connections.Connection[Cursor]
else:
    Connection = connections.Connection
Row = tuple[Any, ...]

ACCESS_DENIED = 1045
SYNTAX_ERROR = 1064


def connect(socket: Path, user: str, database: str | None = None) -> Connection:
    """In autocommit, as a user without a password; without TLS, for which every connection would read all of the host's CAs."""
    return pymysql.connect(
        unix_socket=str(socket),
        user=user,
        database=database,
        autocommit=True,
        connect_timeout=10,
        charset="utf8mb4",
        ssl_disabled=True,
    )


def rows(connection: Connection, statement: str) -> list[Row]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall())


def scalar(connection: Connection, statement: str) -> Any:
    found = rows(connection, statement)
    return found[0][0] if found else None


def variables(connection: Connection, pattern: str = "%") -> dict[str, str]:
    """Global settings by name; `pattern` in the sense of LIKE."""
    return dict(rows(connection, f"SHOW GLOBAL VARIABLES LIKE '{pattern}'"))


def status(connection: Connection, pattern: str = "%") -> dict[str, str]:
    """Global status counters by name."""
    return dict(rows(connection, f"SHOW GLOBAL STATUS LIKE '{pattern}'"))


def folder_name(database: str) -> str:
    """The folder of a database, in which a server has other characters than letters and digits as numbers."""
    return re.sub(r"[^A-Za-z0-9_]", lambda found: f"@{ord(found[0]):04x}", database)


def identifier(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def words(error: pymysql.MySQLError) -> str:
    """The server's own words, with its number for them."""
    if len(error.args) == 2:
        return f"{error.args[1]} (error {error.args[0]})"
    return str(error)


def error_number(error: pymysql.MySQLError) -> int:
    return error.args[0] if error.args and isinstance(error.args[0], int) else 0
