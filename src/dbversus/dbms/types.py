"""Neutral types of columns (`int4`, `char(120)`), and what each is called in a dialect."""

import re
from collections.abc import Mapping

_FORM = re.compile(r"([a-z]+\d?)(?:\((\d+)\))?")
_INTEGERS = ("int2", "int4", "int8")
_TEXTS = ("char", "varchar", "text")
_WITH_LENGTH = ("char", "varchar")
_BYTES = {"int2": 2, "int4": 4, "int8": 8, "text": 100}

ACCEPTED = "int2, int4, int8, char(N), varchar(N), text"

Names = Mapping[str, str]
"""Neutral name → the dialect's, in which `{}` stands for the length."""


def why_not(text: str) -> str:
    """Why `text` is no type; empty when it is one."""
    match = _FORM.fullmatch(text)
    if match is None or match[1] not in _INTEGERS + _TEXTS:
        return f"'{text}' is no type; accepted: {ACCEPTED}"
    if (match[2] is None) == (match[1] in _WITH_LENGTH):
        needs = "needs a length" if match[1] in _WITH_LENGTH else "has no length"
        return f"type {match[1]} {needs}; accepted: {ACCEPTED}"
    return ""


def is_integer(text: str) -> bool:
    return text in _INTEGERS


def spell(text: str, names: Names) -> str:
    """In the words of a dialect."""
    name, length = _parts(text)
    return names[name].format(length)


def width_bytes(text: str) -> int:
    """Of a usual value."""
    name, length = _parts(text)
    return int(length) if length else _BYTES[name]


def _parts(text: str) -> tuple[str, str]:
    match = _FORM.fullmatch(text)
    assert match, text
    return match[1], match[2] or ""
