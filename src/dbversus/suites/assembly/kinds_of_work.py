"""What the clients of a test do, where all their statements do the same: rows inserted and queries are counted apart."""

import re
from collections.abc import Sequence

from dbversus.suites.model import Statement, Test
from dbversus.suites.sql import is_query

INSERT, DELETE, UPDATE, QUERY, INDEX = "insert", "delete", "update", "query", "index"
_KINDS = {
    INSERT: re.compile(r"\s*INSERT\b", re.IGNORECASE),
    DELETE: re.compile(r"\s*DELETE\b", re.IGNORECASE),
    UPDATE: re.compile(r"\s*UPDATE\b", re.IGNORECASE),
    INDEX: re.compile(
        r"\s*(CREATE\s+(UNIQUE\s+)?INDEX\b|ALTER\s+TABLE\b.*\bADD\s+(INDEX|KEY)\b)", re.IGNORECASE | re.DOTALL
    ),
}


def kinds_of_work(test: Test) -> dict[str, str]:
    """Role, "" for a test without roles → what it does; those that do several things, or anything else, are left out.

    A role that builds indexes may insert some rows too, as the reference does before it builds them.
    """
    of_roles = {role.name: role.statements for role in test.roles} or {"": test.statements}
    return {role: kind for role, statements in of_roles.items() if (kind := _kind(statements))}


def _kind(statements: Sequence[Statement]) -> str | None:
    texts = [text for statement in statements for text in statement.sql.values()]
    found = {_kind_of(text) for text in texts}
    if found == {INSERT, INDEX}:
        return INDEX
    return found.pop() if len(found) == 1 else None


def _kind_of(text: str) -> str | None:
    return QUERY if is_query(text) else next((kind for kind, begins in _KINDS.items() if begins.match(text)), None)
