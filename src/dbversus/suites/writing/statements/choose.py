"""Which of the statements seen can be tests, and why the others cannot."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dbversus.suites.writing.relations import plain
from dbversus.suites.writing.sql_tokens import Dialect, Token
from dbversus.suites.writing.statements.normal import MARK, Normal, Slot, Unclear, normal_form, statement_tokens
from dbversus.suites.writing.statements.observed import Observed

_VERBS = {"select", "with", "insert", "update", "delete", "replace", "merge", "values", "table"}
_OF_SERVER = {"information_schema", "performance_schema", "pg_catalog", "mysql", "sys"}
"""Databases and schemas."""
_CATALOG = {
    "pg_settings", "pg_class", "pg_database", "pg_locks", "pg_namespace", "pg_attribute", "pg_type", "pg_roles", "pg_index",
    "pg_proc", "pg_constraint",
}  # fmt: skip
_MOST_VALUES = 500
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass
class Chosen:
    """A statement in its normal form, and all that was seen of it: `slots` of each of its texts."""

    text: str
    slots: list[tuple[Slot, ...]]
    databases: set[str]
    dialect: Dialect
    calls: int = 0
    total_ms: float = 0.0


@dataclass(frozen=True)
class LeftOut:
    text: str
    calls: int
    reason: str


def choose(observed: Iterable[Observed], top: int) -> tuple[list[Chosen], list[LeftOut]]:
    """The `top` statements that take most time, most first (those called most, where no times are known), and the rest."""
    found: dict[tuple[str, Dialect], Chosen] = {}
    left_out: list[LeftOut] = []
    for one in observed:
        try:
            form = _form(one)
        except Unclear as reason:
            left_out.append(LeftOut(one.text, one.calls, str(reason)))
            continue
        chosen = found.setdefault((form.text, one.dialect), Chosen(form.text, [], set(), one.dialect))
        chosen.slots.append(form.slots)
        chosen.databases |= set(form.databases)
        chosen.calls += one.calls
        chosen.total_ms += one.total_ms
    ranked = sorted(found.values(), key=lambda one: (-one.total_ms, -one.calls))
    less = [
        LeftOut(one.text.replace(MARK, "?"), one.calls, f"not among the first {top} (--top)") for one in ranked[top:]
    ]
    return ranked[:top], [*_together(left_out), *less]


def _form(one: Observed) -> Normal:
    """Raises Unclear when this cannot be a test. An example that was cut off does not count."""
    if not one.example or one.example == one.text:
        return _checked(one, one.text, bool(one.example))
    try:
        return _checked(one, one.example, True)
    except Unclear:
        return _checked(one, one.text, False)


def _checked(one: Observed, sql: str, has_values: bool) -> Normal:
    tokens = statement_tokens(sql, one.dialect)
    verb = next((token.word for token in tokens if token.text != "("), "")
    if verb not in _VERBS:
        raise Unclear("no query and no change of rows")
    if one.database.lower() in _OF_SERVER or any(_is_of_server(tokens, at) for at in range(len(tokens))):
        raise Unclear("it asks about the server")
    if verb == "select" and not any(token.word == "from" or token.text == "(" for token in tokens):
        raise Unclear("it reads no table")
    form = normal_form(sql, has_values, one.dialect)
    if len(form.slots) > _MOST_VALUES:
        raise Unclear(f"it has {len(form.slots)} values")
    if _SURROGATES.search(form.text):
        raise Unclear("it is not in the file's encoding (--encoding)")
    return form


def _is_of_server(tokens: Sequence[Token], at: int) -> bool:
    token = tokens[at]
    if token.text.startswith("@@"):
        return True
    name = plain(token) if token.is_name else ""
    is_qualifier = at + 1 < len(tokens) and tokens[at + 1].text == "."
    return (is_qualifier and name in _OF_SERVER) or name.startswith("pg_stat") or name in _CATALOG


def _together(left_out: Sequence[LeftOut]) -> list[LeftOut]:
    """Equal texts once."""
    found: dict[tuple[str, str], int] = {}
    for one in left_out:
        key = " ".join(one.text.split()), one.reason
        found[key] = found.get(key, 0) + one.calls
    return [LeftOut(text, calls, reason) for (text, reason), calls in found.items()]
