"""The one statement that a text has: without what is set before it, further rows of an INSERT, and names of databases."""

import re
from collections.abc import Sequence

from dbversus.suites.writing.relations import chain_end, plain, relations
from dbversus.suites.writing.sql_tokens import Dialect, Token, scan

_REPEATED = re.compile(r"/\*\s*,\s*\.\.\.\s*\*/")
"""So PostgreSQL (from 18 on) writes a list of more values than the one before it."""


class Unclear(Exception):
    """A sentence of why this cannot be a test."""


def statement_tokens(sql: str, dialect: Dialect) -> list[Token]:
    """Those of the one statement: without what is set before it, and without comments. Raises Unclear."""
    found = [_unfolded(token, dialect) for token in scan(sql, dialect)]
    flat = [token for some in found for token in some]
    if any(token.kind == "open" for token in flat):
        raise Unclear("its text was cut off")
    statements = [one for one in _split(flat) if one]
    while len(statements) > 1 and statements[0][0].word in ("set", "use"):
        del statements[0]
    if not statements:
        return []
    first = _without_set_statement(statements[0])
    if len(statements) > 1 and first and first[0].word not in ("create", "begin", "alter"):
        raise Unclear("it is several statements")
    return first


def _unfolded(token: Token, dialect: Dialect) -> list[Token]:
    if token.kind != "comment":
        return [token]
    if dialect == "postgres" and _REPEATED.fullmatch(token.text):
        return [Token("sign", ",", token.start), Token("dots", "...", token.start)]
    return []


def _split(found: Sequence[Token]) -> list[list[Token]]:
    """At semicolons."""
    parts: list[list[Token]] = [[]]
    for token in found:
        if token.text == ";":
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _without_set_statement(found: list[Token]) -> list[Token]:
    """What follows MariaDB's SET STATEMENT … FOR."""
    if [token.word for token in found[:2]] == ["set", "statement"]:
        return next((found[at + 1 :] for at, token in enumerate(found) if token.word == "for"), [])
    return found


def is_whole(found: Sequence[Token]) -> bool:
    """Whether parentheses are closed, and dots stand only for values."""
    texts = [token.text for token in found]
    stray = any(token.kind == "dots" and texts[at - 1] not in ("(", ",") for at, token in enumerate(found))
    # in lists a comma follows its value at once, in what is cut off never
    cut = len(found) > 1 and texts[-1] == "..." and (texts[-2] != "," or found[-2].start != found[-3].end)
    return not stray and not cut and texts.count("(") == texts.count(")")


def first_row(found: list[Token]) -> list[Token]:
    """An INSERT with the first of the rows that follow VALUES."""
    if not found or found[0].word not in ("insert", "replace"):
        return found
    begins = next(
        (at for at, one in enumerate(found) if one.word in ("values", "value") and text_at(found, at + 1) == "("), None
    )
    if begins is None:
        return found
    first = last = _closing(found, begins + 1)
    while text_at(found, last + 1) == "," and text_at(found, last + 2) == "(":
        last = _closing(found, last + 2)
    return _row_of_columns(found, begins, found[: first + 1]) + found[last + 1 :]


def _row_of_columns(found: Sequence[Token], values: int, upto: list[Token]) -> list[Token]:
    """`(a, b) VALUES (...)` has as many values as columns."""
    if [token.text for token in upto[values + 1 :]] != ["(", "...", ")"] or found[values - 1].text != ")":
        return upto
    opening = max(at for at in range(values) if found[at].text == "(")
    columns = sum(token.text == "," for token in found[opening:values]) + 1
    at = upto[-1].start
    row = [Token("sign", ", ", at), Token("mark", "?", at)] * columns
    return [*upto[: values + 2], *row[1:], upto[-1]]


def _closing(found: Sequence[Token], opening: int) -> int:
    """Where the parenthesis ends, or all the text."""
    depth = 0
    for at in range(opening, len(found)):
        depth += {"(": 1, ")": -1}.get(found[at].text, 0)
        if depth == 0:
            return at
    return len(found) - 1


def unqualified(found: list[Token]) -> tuple[list[Token], tuple[str, ...]]:
    """Without names of databases or schemas before those of tables, and these."""
    named = relations(found)
    dropped: set[int] = set()
    databases: dict[str, set[str]] = {}
    for one in named:
        dropped |= set(range(one.first, one.last))
        databases.setdefault(one.name, set()).add(plain(found[one.last - 2]) if one.first < one.last else "")
    if any(len(some - {""}) > 1 for some in databases.values()):
        raise Unclear("it uses tables of one name from several databases")
    known = {name for some in databases.values() for name in some if name}
    at = 0
    while at < len(found):
        last = chain_end(found, at) if found[at].is_name else at
        if last > at and at not in dropped and text_at(found, last + 1) != "(":
            dropped |= _before_columns(found, at, last, known)
        at = last + 1
    return [token for at, token in enumerate(found) if at not in dropped], tuple(sorted(known))


def _before_columns(found: Sequence[Token], first: int, last: int, databases: set[str]) -> set[int]:
    """Of `shop.article.id` and `shop.article.*` what stands before the table."""
    parts = (last - first) // 2 + 1 + (text_at(found, last + 1) == "." and text_at(found, last + 2) == "*")
    is_target = found[0].word == "delete" and all(token.word != "from" for token in found[:first])
    keep = 1 if is_target else 2
    is_database = plain(found[first]) in databases
    return set(range(first, first + 2 * (parts - keep))) if parts > keep and (is_database or parts > 2) else set()


def text_at(found: Sequence[Token], at: int) -> str:
    """Of a token; "" before the first and behind the last."""
    return found[at].text if 0 <= at < len(found) else ""
