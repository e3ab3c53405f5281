"""The normal form of a statement: its text with a mark for each value, and the values where the text has them."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from dbversus.suites.writing.sql_tokens import Dialect, Token
from dbversus.suites.writing.statements.literals import Value, clauses, ends_operand, is_value, value_of
from dbversus.suites.writing.statements.trim import Unclear, first_row, text_at, unqualified

MARK = "\0"
# digests have a blank before every parenthesis, which MySQL does not accept after these (its manual, Function Name Parsing)
_CALLED = {
    "adddate", "bit_and", "bit_or", "bit_xor", "cast", "count", "curdate", "curtime", "date_add", "date_sub", "extract",
    "group_concat", "max", "mid", "min", "now", "position", "std", "stddev", "stddev_pop", "stddev_samp", "subdate", "substr",
    "substring", "sum", "avg", "sysdate", "trim", "variance", "var_pop", "var_samp",
}  # fmt: skip
_LIST = re.compile(rf"\bIN\s*\(\s*{MARK}(?:\s*,\s*{MARK})*\s*\)|{MARK}", re.IGNORECASE)
_HINT = re.compile(r"/\*\+.*?\*/", re.DOTALL)


@dataclass(frozen=True)
class Slot:
    """A place for a value, or for a list of them; `values` as far as the text has them. `count` 0: of unknown length.

    `key`: slots of one statement with the same key (`$1`) are one parameter. `is_fixed`: it is no condition, but part of what is
    selected, grouped or ordered by.
    """

    values: tuple[Value, ...]
    count: int | None = None
    key: str = ""
    is_fixed: bool = False


@dataclass(frozen=True)
class Normal:
    """`text` has a MARK for each slot; `databases`: names that stood before those of tables."""

    text: str
    slots: tuple[Slot, ...]
    databases: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Mark:
    """What stands in place of a value: of the `tokens` (by their place in the text), of none where it is not known.

    `is_dots`: of any number of values.
    """

    tokens: tuple[int, ...] = ()
    is_negative: bool = False
    is_dots: bool = False
    key: str = ""
    is_fixed: bool = False


@dataclass(frozen=True)
class Template:
    """The normal form of texts that differ in literals alone. `slots`: the marks of each.

    `kept`: literals that are no values.
    """

    text: str
    slots: tuple[tuple[_Mark, ...], ...]
    databases: tuple[str, ...]
    kept: tuple[tuple[int, str], ...]

    def fits(self, tokens: Sequence[Token]) -> bool:
        """`tokens` have the shape of this, and perhaps its other literals."""
        return all(tokens[at].text == text for at, text in self.kept)

    def filled(self, tokens: Sequence[Token], dialect: Dialect) -> Normal:
        """With the values that stand in `tokens`."""
        return Normal(self.text, tuple(_slot(marks, tokens, dialect) for marks in self.slots), self.databases)


def _slot(marks: Sequence[_Mark], tokens: Sequence[Token], dialect: Dialect) -> Slot:
    is_list = len(marks) > 1 or marks[0].is_dots
    count = (0 if any(mark.is_dots for mark in marks) else len(marks)) if is_list else None
    values = tuple(_value(mark, tokens, dialect) for mark in marks)
    return Slot(values, count, "" if is_list else marks[0].key, marks[0].is_fixed)


def _value(mark: _Mark, tokens: Sequence[Token], dialect: Dialect) -> Value:
    values = [value_of(tokens[at], dialect) for at in mark.tokens]
    if len(values) > 1:
        texts = [value for value in values if isinstance(value, str)]
        return "".join(texts) if len(texts) == len(values) else None
    value = values[0] if values else None
    return -value if mark.is_negative and isinstance(value, int | float) else value


def shape(sql: str, tokens: Sequence[Token]) -> tuple[str, ...]:
    """Equal for texts that differ in literals, blanks and comments alone."""
    hints = _HINT.findall(sql) if "/*+" in sql else []
    return (*hints, *(token.kind if token.kind in ("string", "number") else token.text for token in tokens))


def make_template(sql: str, tokens: list[Token], has_values: bool, dialect: Dialect) -> Template:
    """Of a text as it was sent (`has_values`), or with `$1` or `?` in place of values. Raises Unclear.

    Of an INSERT of several rows, the first. Names of databases before those of tables are left out.
    """
    found, databases = unqualified(first_row(tokens))
    marks = _marks(found, has_values, dialect)
    place = {token.start: at for at, token in enumerate(tokens)}
    places = [place[token.start] for token in found]
    literals = {at for at, token in enumerate(found) if token.kind in ("string", "number")}
    kept = tuple((places[at], found[at].text) for at in sorted(literals - marks.keys()))
    text, left = _written(sql, found, marks, is_digest=dialect == "mysql" and not has_values)
    placed = [replace(mark, tokens=tuple(places[at] for at in mark.tokens)) for mark in left]
    text, slots = _slotted(text, placed)
    return Template(text, slots, databases, kept)


def _marks(found: Sequence[Token], has_values: bool, dialect: Dialect) -> dict[int, _Mark | None]:
    """What stands in place of tokens. None: of a sign that belongs to a number, or of a text that goes on."""
    marks: dict[int, _Mark | None] = {}
    for (at, token), clause in zip(enumerate(found), clauses(found), strict=True):
        if token.kind == "mark" and token.text.startswith(":"):
            raise Unclear(f"it has {token.text}, which a suite takes for a parameter")
        if token.text == "{":
            raise Unclear("it has {…}, which a suite takes for a variable")
        if token.text == "?" and dialect == "mysql" and _is_in_name(found, at):
            raise Unclear("its names have lost their digits, as those of a fingerprint do")
        follows_operator = not ends_operand(found, at - 1) or (text_at(found, at - 1) == "?" and at - 1 not in marks)
        if token.kind == "mark" and (token.text != "?" or dialect == "mysql" or follows_operator):
            marks[at] = _Mark(key=token.text.removeprefix("?"))
        elif token.kind == "dots":
            of_limit = dialect == "mysql" and text_at(found, at - 3).lower() == "limit"
            marks[at] = _Mark(is_dots=not of_limit)
        elif has_values and token.kind in ("string", "number") and is_value(found, at, clause):
            _mark_value(found, at, clause in ("select", "by", "args"), marks)
    return marks


def _is_in_name(found: Sequence[Token], at: int) -> bool:
    """Whether `?` stands for digits of a name: `orders_?`."""
    before, after = found[at - 1], found[at + 1 : at + 2]
    return (before.kind == "word" and before.end == found[at].start) or any(
        one.kind == "word" and one.start == found[at].end for one in after
    )


def _mark_value(found: Sequence[Token], at: int, is_fixed: bool, marks: dict[int, _Mark | None]) -> None:
    before = marks.get(at - 1)
    if found[at].kind == "string" and before and found[at - 1].kind == "string":
        marks[at - 1], marks[at] = None, replace(before, tokens=(*before.tokens, at))
        return
    has_sign = found[at].kind == "number" and text_at(found, at - 1) in ("-", "+") and not ends_operand(found, at - 2)
    if has_sign:
        marks[at - 1] = None
    marks[at] = _Mark((at,), has_sign and text_at(found, at - 1) == "-", is_fixed=is_fixed)


def _written(
    sql: str, found: Sequence[Token], marks: dict[int, _Mark | None], is_digest: bool
) -> tuple[str, list[_Mark]]:
    """In one line, with one blank where there was space or a comment. Hints stay."""
    text, kept, before = "", list[_Mark](), None
    for at, token in enumerate(found):
        mark = marks.get(at)
        if mark is None and at in marks:
            continue
        kept += [mark] if mark else []
        gap = sql[before.end : token.start] if before else ""
        if hints := _HINT.findall(gap):
            text += f" {' '.join(hints)} "
        elif re.search(r"\s|/\*", gap) and not _joins(before, token, is_digest):
            text += " "
        text += MARK if mark else token.text
        before = token
    return text, kept


def _joins(before: Token | None, token: Token, is_digest: bool) -> bool:
    """Digests have blanks where names and functions have none."""
    of_name = "." in (token.text, before.text if before else "")
    return of_name or (is_digest and token.text == "(" and before is not None and before.word in _CALLED)


def _slotted(text: str, marks: Sequence[_Mark]) -> tuple[str, tuple[tuple[_Mark, ...], ...]]:
    """Lists have one mark in the text, and all of theirs in their slot."""
    slots, left = list[tuple[_Mark, ...]](), iter(marks)

    def slot(match: re.Match[str]) -> str:
        some = tuple(next(left) for _ in range(match[0].count(MARK)))
        if match[0] == MARK and some[0].is_dots:
            raise Unclear("its text does not say how many values it has")
        slots.append(some)
        return f"IN ({MARK})" if match[0] != MARK else MARK

    return _LIST.sub(slot, text), tuple(slots)


def fill(text: str, replacement: Callable[[int, str], str]) -> str:
    """`text` with each mark replaced by what `replacement` gives for its number and all that stands before it."""
    parts = text.split(MARK)
    filled = parts[0]
    for number, part in enumerate(parts[1:]):
        filled += replacement(number, filled) + part
    return filled
