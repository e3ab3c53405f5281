"""Runs administrators' statements on a SQLite database: in an engine of its own, with the rights of the servers' user alone."""

from collections.abc import Sequence
from pathlib import Path

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
        if library != BUNDLED:
            check_allowed([library])
        address = {"path": str(database), "library": library}
        target = {"cmd": "target", "name": _TARGET, "wire": "sqlite", "address": address, "session_sql": [*session_sql]}
        reply = ask_engine(server_user(), target, {"cmd": "query", "target": _TARGET, "sql": statement})
        if error := reply.get("error"):
            is_its_own = error["kind"] == "server"
            raise RunError(f"SQLite: {error['message']} ({statement})." if is_its_own else f"{error['message']}.")
        rows: list[list[str | None]] = reply["rows"]
        return rows

    return query
