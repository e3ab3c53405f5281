"""Runs administrators' statements on a SQLite database: in an engine of its own, with the rights of the servers' user alone."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dbversus.errors import RunError
from dbversus.host.program import check_allowed
from dbversus.host.user import server_user
from dbversus.servers.base import Query
from dbversus.servers.process.engine import ask_engine

BUNDLED = "bundled"
"""The engine's own words for the library compiled into it."""
_TARGET = "t"


def engine_query(library: str, database: Path, session_sql: Sequence[str]) -> Query:
    """Each call opens the database with `library`, runs `session_sql` and one statement, and closes it again."""

    def query(statement: str) -> list[list[str | None]]:
        command = {"cmd": "query", "target": _TARGET, "sql": statement}
        rows: list[list[str | None]] = _ask(library, database, session_sql, command)["rows"]
        return rows

    return query


def prepare_times_ms(
    library: str, database: Path, session_sql: Sequence[str], statement: str, times: int
) -> list[float]:
    """Of a statement that is prepared one time after another on one connection; the first time also reads the schema."""
    command = {"cmd": "prepare", "target": _TARGET, "sql": statement, "times": times}
    return [taken / 1e6 for taken in _ask(library, database, session_sql, command)["prepare_ns"]]


def counted(
    library: str, database: Path, session_sql: Sequence[str], statements: Sequence[str], limit_s: float
) -> list[dict[str, Any]]:
    """What each took, with what the library counts of it, up to the first that fails. What they change is rolled back.

    `limit_s`: of one. As the engine tells it (docs/engine-protocol.md, `query`).
    """
    command = {"cmd": "query", "target": _TARGET, "sql": "\n;\n".join(statements), "counted_s": limit_s}
    found: list[dict[str, Any]] = _ask(library, database, session_sql, command)["statements"]
    return found


def _ask(library: str, database: Path, session_sql: Sequence[str], command: dict[str, Any]) -> dict[str, Any]:
    if library != BUNDLED:
        check_allowed([library])
    address = {"path": str(database), "library": library}
    target = {"cmd": "target", "name": _TARGET, "wire": "sqlite", "address": address, "session_sql": [*session_sql]}
    reply = ask_engine(server_user(), target, command)
    if error := reply.get("error"):
        is_its_own = error["kind"] == "server"
        raise RunError(f"SQLite: {error['message']} ({command['sql']})." if is_its_own else f"{error['message']}.")
    return reply
