"""The normal form of a statement: its text with a mark for each value, and the values where the text has them."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Value = int | str | None

MARK = "\0"

_STRING = r"'(?:\\.|''|[^'\\])*'"
_DOUBLE = r'"(?:\\.|""|[^"\\])*"'
_KEPT = r"/\*.*?\*/|--[^\n]*|`[^`]*`"
# numbers that are no values: lengths of types, columns by their number
_NO_VALUES = (
    r"\b(?:CHAR|VARCHAR|BINARY|DECIMAL|NUMERIC|DATETIME|TIME|FLOAT)\s*\([\d,\s]+\)|"
    r"\b(?:ORDER|GROUP)\s+BY\s+\d+(?:\s*,\s*\d+)*"
)
# digests have a blank before every parenthesis, which MySQL does not accept after these (its manual, Function Name Parsing)
_CALLED = re.compile(
    r"\b(ADDDATE|BIT_AND|BIT_OR|BIT_XOR|CAST|COUNT|CURDATE|CURTIME|DATE_ADD|DATE_SUB|EXTRACT|GROUP_CONCAT|MAX|MID|MIN|NOW|POSITION|"
    r"STD|STDDEV|STDDEV_POP|STDDEV_SAMP|SUBDATE|SUBSTR|SUBSTRING|SUM|AVG|SYSDATE|TRIM|VARIANCE|VAR_POP|VAR_SAMP) \(",
    re.IGNORECASE,
)
_NUMBER = r"""(?<![\w.$`"])\d+(?![\w.])"""
_ROW_OF_DOTS = re.compile(r"\(([^()]*)\)\s*VALUES?\s*\(\s*\.\.\.\s*\)", re.IGNORECASE)
_LIST = re.compile(rf"\bIN\s*\(\s*{MARK}(?:\s*,\s*{MARK})*\s*\)|{MARK}", re.IGNORECASE)


@dataclass(frozen=True)
class Slot:
    """A place for a value, or for a list of them; `values` as far as the text has them. `count` 0: of unknown length."""

    values: tuple[Value, ...]
    count: int | None = None


@dataclass(frozen=True)
class Normal:
    """`text` has a MARK for each slot."""

    text: str
    slots: tuple[Slot, ...]


class Unclear(Exception):
    """The text does not say how many values it has."""


def normal_form(sql: str, has_values: bool, double_quotes_are_strings: bool) -> Normal:
    """Of a text as it was sent (`has_values`), or with `$1` or `?` in place of values. Raises Unclear.

    Of an INSERT of several rows, the first.
    """
    if double_quotes_are_strings and not has_values:
        sql = _CALLED.sub(r"\1(", sql)
    sql = _first_row(_ROW_OF_DOTS.sub(_row_of_marks, re.sub(r"(LIMIT \?), \.\.\.", r"\1, ?", sql)))
    values: list[Value] = []
    text = _tokens(has_values, double_quotes_are_strings).sub(lambda token: _marked(token, values), sql)
    text = " ".join(text.split())
    slots, left = [], iter(values)

    def slot(match: re.Match[str]) -> str:
        of_slot = tuple(next(left) for _ in range(match[0].count(MARK)))
        is_list = match[0] != MARK and (len(of_slot) > 1 or of_slot[0] == _DOTS)
        if _DOTS in of_slot and not is_list:
            raise Unclear
        count = (0 if _DOTS in of_slot else len(of_slot)) if is_list else None
        slots.append(Slot(tuple(None if value == _DOTS else value for value in of_slot), count))
        return f"IN ({MARK})" if match[0] != MARK else MARK

    return Normal(_LIST.sub(slot, text), tuple(slots))


_DOTS = "\0..."


def _tokens(has_values: bool, double_quotes_are_strings: bool) -> re.Pattern[str]:
    strings = f"{_STRING}|{_DOUBLE}" if double_quotes_are_strings else _STRING
    kept = _KEPT if double_quotes_are_strings else rf'{_KEPT}|"[^"]*"'
    if has_values:
        return re.compile(
            rf"{kept}|{_NO_VALUES}|(?P<string>{strings})|(?P<number>{_NUMBER})", re.DOTALL | re.IGNORECASE
        )
    mark = r"\?" if double_quotes_are_strings else r"\$\d+"  # `?` is an operator of PostgreSQL
    return re.compile(rf"{kept}|{strings}|(?P<mark>{mark})|(?P<dots>\.\.\.)", re.DOTALL)


def _marked(token: re.Match[str], values: list[Value]) -> str:
    match token.lastgroup:
        case "string":
            values.append(_plain(token[0]))
        case "number":
            values.append(int(token[0]))
        case "mark":
            values.append(None)
        case "dots":
            values.append(_DOTS)
        case _:
            return " " if token[0].startswith(("/*", "--")) else token[0]
    return MARK


def _plain(literal: str) -> str:
    quote = literal[0]
    return re.sub(r"\\(.)", r"\1", literal[1:-1].replace(quote * 2, quote), flags=re.DOTALL)


def _row_of_marks(match: re.Match[str]) -> str:
    columns = match[1].count(",") + 1
    return f"({match[1]}) VALUES ({', '.join('?' * columns)})"


def _first_row(sql: str) -> str:
    """The statement with the first of the rows that follow VALUES."""
    begins = re.search(r"\bVALUES?\s*(?=\()", sql, re.IGNORECASE)
    if not begins or not re.match(r"\s*(INSERT|REPLACE)\b", sql, re.IGNORECASE):
        return sql
    ends = list(_rows(sql, begins.end()))
    return sql[: ends[0]] + sql[ends[-1] :] if len(ends) > 1 else sql


def _rows(sql: str, position: int) -> Iterator[int]:
    """Where each of the rows ends that stand at `position`, one after another with commas between."""
    token = re.compile(rf"{_STRING}|{_DOUBLE}|[()]", re.DOTALL)
    depth = 0
    for found in token.finditer(sql, position):
        depth += {"(": 1, ")": -1}.get(found[0], 0)
        if depth == 0 and found[0] == ")":
            yield found.end()
            if not re.match(r"\s*,\s*\(", sql[found.end() :]):
                return


def fill(text: str, replacement: Callable[[int, str], str]) -> str:
    """`text` with each mark replaced by what `replacement` gives for its number and all that stands before it."""
    parts = text.split(MARK)
    filled = parts[0]
    for number, part in enumerate(parts[1:]):
        filled += replacement(number, filled) + part
    return filled
