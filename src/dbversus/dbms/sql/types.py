"""Neutral types of columns and parameters (`int4`, `char(120)`, `timestamp(6)`), and what each is called in a dialect."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_FORM = re.compile(r"([a-z]+\d?)(?:\(([\d, ]+)\))?")
_INTEGERS = ("int2", "int4", "int8")
_FRACTIONS = ("float4", "float8", "decimal")
_TIMES = ("date", "timestamp", "timestamp6")
_TEXTS = ("char", "varchar", "text", "json", "uuid")
_SIZES = {
    "char": "a length",
    "varchar": "a length",
    "bytes": "a length",
    "decimal": "digits, and digits after the point: decimal(10,2)",
}
_BYTES = {
    "int2": 2,
    "int4": 4,
    "int8": 8,
    "float4": 4,
    "float8": 8,
    "decimal": 8,
    "bool": 1,
    "date": 4,
    "timestamp": 8,
    "timestamp6": 8,
    "text": 100,
    "json": 100,
    "uuid": 16,
}
MOST_DECIMAL_DIGITS = 18
_FIRST_US, _LAST_US = -30_610_224_000_000_000, 253_402_300_799_999_999
"""Of the years 1000 to 9999, which MySQL keeps; since 1970-01-01 UTC."""

ACCEPTED = (
    "int2, int4, int8, float4, float8, decimal(P,S), bool, date, timestamp, timestamp(6), char(N), varchar(N), text, "
    "json, uuid, bytes(N)"
)

Names = Mapping[str, str]
"""Neutral name → the dialect's, in which `{}` stands for the length; `timestamp6` is `timestamp(6)`."""


class TypeLacking(Exception):
    """A DBMS has no such type; the words say which and what to do."""

    def __init__(self, column: str, words: str) -> None:
        super().__init__(words)
        self.column = column


@dataclass(frozen=True)
class _Type:
    name: str
    size: str


def why_not(text: str) -> str:
    """Why `text` is no type; empty when it is one."""
    match = _FORM.fullmatch(text)
    if match is None or match[1] not in (*_INTEGERS, *_FRACTIONS, "bool", "date", "timestamp", *_TEXTS, "bytes"):
        return f"'{text}' is no type; accepted: {ACCEPTED}"
    name, size = match[1], match[2]
    if name == "timestamp" and size in (None, "0", "6"):
        return ""
    if name == "timestamp":
        return f"'{text}' is no type; timestamp has whole seconds and timestamp(6) microseconds"
    if (size is None) == (name in _SIZES):
        needs = f"needs {_SIZES[name]}" if name in _SIZES else "has no length"
        return f"type {name} {needs}; accepted: {ACCEPTED}"
    if name == "decimal":
        return _why_no_decimal(text, size)
    return "" if size is None or (size.isdigit() and int(size)) else f"'{text}' is no type: {size} is no length"


def _why_no_decimal(text: str, size: str) -> str:
    precision, comma, scale = (part.strip() for part in size.partition(","))
    if not (comma and precision.isdigit() and scale.isdigit() and 1 <= int(precision) <= MOST_DECIMAL_DIGITS):
        return f"'{text}' is no type; accepted is decimal(P,S) with up to {MOST_DECIMAL_DIGITS} digits, S of them after the point"
    return "" if int(scale) <= int(precision) else f"'{text}' has more digits after the point than in all"


def is_integer(text: str) -> bool:
    return text in _INTEGERS


def has_fractions(text: str) -> bool:
    """Whether ranges of numbers are all numbers in them, not the integers alone."""
    return _parts(text).name in _FRACTIONS


def is_float(text: str) -> bool:
    return text in ("float4", "float8")


def is_time(text: str) -> bool:
    """Whether it is drawn as microseconds since 1970-01-01 UTC."""
    return _parts(text).name in _TIMES


def is_text(text: str) -> bool:
    return _parts(text).name in _TEXTS


def is_bytes(text: str) -> bool:
    return _parts(text).name == "bytes"


def has_order(text: str) -> bool:
    """Whether all DBMSs tell the lowest and highest value of a column alike: of integers and short texts."""
    return text in _INTEGERS or _parts(text).name in ("char", "varchar", "text")


def range_of(text: str) -> tuple[float, float] | None:
    """Between which numbers its values have to be; None where servers say it. Of times the years that all DBMSs have."""
    of_type = _parts(text)
    if of_type.name in _TIMES:
        return _FIRST_US, _LAST_US
    if of_type.name == "decimal":
        precision, scale = map(int, of_type.size.split(","))
        largest = (10**precision - 1) / 10**scale
        return -largest, largest
    return None


def spell(text: str, names: Names) -> str:
    """In the words of a dialect; KeyError when it has none."""
    of_type = _parts(text)
    return names[of_type.name].format(of_type.size)


def width_bytes(text: str) -> int:
    """Of a usual value."""
    of_type = _parts(text)
    return int(of_type.size) if of_type.name in ("char", "varchar", "bytes") else _BYTES[of_type.name]


def _parts(text: str) -> _Type:
    match = _FORM.fullmatch(text)
    assert match, text
    if match[1] == "timestamp":
        return _Type("timestamp6" if match[2] == "6" else "timestamp", "")
    return _Type(match[1], (match[2] or "").replace(" ", ""))
