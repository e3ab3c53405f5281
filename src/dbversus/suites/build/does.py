"""What the clients of a test do, where all their statements do the same: rows inserted and queries are counted apart."""

import re
from collections.abc import Sequence

from dbversus.suites.model import Statement, Test

_KINDS = {
    "insert": re.compile(r"\s*INSERT\b", re.IGNORECASE),
    "query": re.compile(r"\s*SELECT\b", re.IGNORECASE),
    "index": re.compile(
        r"\s*(CREATE\s+(UNIQUE\s+)?INDEX\b|ALTER\s+TABLE\b.*\bADD\s+(INDEX|KEY)\b)", re.IGNORECASE | re.DOTALL
    ),
}


def does_of(test: Test) -> dict[str, str]:
    """Role, "" for a test without roles → `insert`, `query` or `index`; those that do several, or anything else, are left out."""
    of_roles = {role.name: role.statements for role in test.roles} or {"": test.statements}
    return {role: kind for role, statements in of_roles.items() if (kind := _kind(statements))}


def _kind(statements: Sequence[Statement]) -> str | None:
    texts = [text for statement in statements for text in statement.sql.values()]
    return next((kind for kind, begins in _KINDS.items() if texts and all(map(begins.match, texts))), None)
