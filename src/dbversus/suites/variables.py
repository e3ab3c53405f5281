"""Values of a suite's variables: numbers, texts, durations, times and lists, and what each is in an expression."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any

from pydantic import BeforeValidator

from dbversus.dbms.sql.literals import microseconds

Item = int | float | str
Variable = Item | date | list[Item]
"""As it stands in the file. A `datetime` is a `date`; a duration is a text such as "12h"."""

Variables = Mapping[str, Variable]

UNITS_US = {
    "us": 1,
    "ms": 1_000,
    "s": 1_000_000,
    "min": 60_000_000,
    "h": 3_600_000_000,
    "d": 86_400_000_000,
    "w": 604_800_000_000,
}
"""Units of a duration, in microseconds."""

DURATION = rf"(\d+(?:\.\d+)?)({'|'.join(UNITS_US)})"


def duration_us(text: str) -> int | None:
    """Microseconds of "12h" or "1.5s"; None for any other text."""
    match = re.fullmatch(DURATION, text)
    return None if match is None else round(float(match[1]) * UNITS_US[match[2]])


def number_of(name: str, value: Variable) -> int | float:
    """What a variable is in an expression: times in microseconds since 1970-01-01 UTC, durations in microseconds.

    Raises ValueError for texts and lists.
    """
    match value:
        case int() | float():
            return value
        case date():
            return microseconds(value)
        case str() if (length := duration_us(value)) is not None:
            return length
        case str():
            units = ", ".join(UNITS_US)
            raise ValueError(f"variable '{name}' is a text, \"{value}\"; numbers, times and durations ({units}) count")
        case _:
            raise ValueError(f"variable '{name}' is a list; len({name}) is its length")


def in_words(value: Variable) -> str:
    """For titles: as the file has it."""
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    return value.isoformat() if isinstance(value, date) else str(value)


def _is_item(value: Any) -> bool:
    return isinstance(value, int | float | str) and not isinstance(value, bool)


def _kind(value: Any) -> Any:
    if isinstance(value, date) or _is_item(value):
        return value
    if isinstance(value, list) and value and all(_is_item(item) for item in value):
        return value
    raise ValueError('it has to be a number, a text, a time, a duration such as "12h", or a list of numbers or texts')


Given = Annotated[Any, BeforeValidator(_kind)]
"""A `Variable` in the shape of a file."""
