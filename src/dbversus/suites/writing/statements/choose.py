"""Which of the statements seen can be tests, and why the others cannot."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dbversus.suites.writing.relations import plain
from dbversus.suites.writing.sql_tokens import Dialect, Token
from dbversus.suites.writing.statements.normal import (
    MARK,
    Normal,
    Slot,
    Template,
    make_template,
    shape,
)
from dbversus.suites.writing.statements.observed import Observed
from dbversus.suites.writing.statements.trim import Unclear, is_whole, statement_tokens

_VERBS = {"select", "with", "insert", "update", "delete", "replace", "merge", "values", "table"}
_OF_SERVER = {"information_schema", "performance_schema", "pg_catalog", "mysql", "sys"}
"""Databases and schemas."""
_ASKS = "it asks about the server"
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
    forms = _Forms()
    for one in observed:
        try:
            form = forms.of(one)
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


class _Forms:
    """Normal forms. Texts that differ in literals alone, as most in a log do, are taken apart once."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], list[Template | str]] = {}

    def of(self, one: Observed) -> Normal:
        """Raises Unclear when this cannot be a test. An example that was cut off does not count."""
        if one.database.lower() in _OF_SERVER:
            raise Unclear(_ASKS)
        if not one.example or one.example == one.text:
            return self._form(one.text, bool(one.example), one.dialect)
        try:
            return self._form(one.example, True, one.dialect)
        except Unclear:
            return self._form(one.text, False, one.dialect)

    def _form(self, given: str, has_values: bool, dialect: Dialect) -> Normal:
        sql = given.replace(MARK, "\ufffd")
        tokens = statement_tokens(sql, dialect)
        known = self._known.setdefault((dialect, has_values, shape(sql, tokens)), [])
        if known and isinstance(known[0], str):
            raise Unclear(known[0])
        fitting = next((one for one in known if isinstance(one, Template) and one.fits(tokens)), None)
        if not fitting:
            try:
                fitting = _template(sql, tokens, has_values, dialect)
            except Unclear as reason:
                known.insert(0, str(reason))
                raise
            known.append(fitting)
        return fitting.filled(tokens, dialect)


def _template(sql: str, tokens: list[Token], has_values: bool, dialect: Dialect) -> Template:
    verb = next((token.word for token in tokens if token.text != "("), "")
    if verb not in _VERBS:
        raise Unclear("no query and no change of rows")
    if not is_whole(tokens):
        raise Unclear("its text was cut off")
    if any(_is_of_server(tokens, at) for at in range(len(tokens))):
        raise Unclear(_ASKS)
    if verb == "select" and not any(token.word == "from" or token.text == "(" for token in tokens):
        raise Unclear("it reads no table")
    if any(token.word in ("outfile", "dumpfile") for token in tokens):
        raise Unclear("it writes a file of the server")
    template = make_template(sql, tokens, has_values, dialect)
    if len(template.slots) > _MOST_VALUES:
        raise Unclear(f"it has {len(template.slots)} values")
    if _SURROGATES.search(template.text):
        raise Unclear("it is not in the file's encoding (--encoding)")
    return template


def _is_of_server(tokens: Sequence[Token], at: int) -> bool:
    token = tokens[at]
    if token.text.startswith("@@"):
        return True
    name = plain(token) if token.is_name else ""
    is_qualifier = at + 1 < len(tokens) and tokens[at + 1].text == "."
    is_call = at + 1 < len(tokens) and tokens[at + 1].text == "("
    return (
        (is_qualifier and name in _OF_SERVER) or name.startswith("pg_stat") or (name.startswith("pg_") and not is_call)
    )


def _together(left_out: Sequence[LeftOut]) -> list[LeftOut]:
    """Equal texts once."""
    found: dict[tuple[str, str], int] = {}
    for one in left_out:
        key = " ".join(one.text.split()), one.reason
        found[key] = found.get(key, 0) + one.calls
    return [LeftOut(text, calls, reason) for (text, reason), calls in found.items()]
