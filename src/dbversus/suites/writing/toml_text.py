"""TOML as a person would write it: short tables in one line, long texts over several, comments where they help."""

import re
from collections.abc import Mapping, Sequence

import tomli_w

from dbversus.printable import printable

Value = int | float | bool | str | Sequence["Value"] | Mapping[str, "Value"]

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def inline(value: Value) -> str:
    """A value in one line."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key(name)} = {inline(one)}" for name, one in value.items()) + " }" if value else "{}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(inline, value))}]"
    return tomli_w.dumps({"x": value}).removeprefix("x = ").rstrip("\n")


def key(name: str) -> str:
    return name if _BARE.fullmatch(name) else inline(name)


def text(value: str) -> str:
    """A text, over several lines where it has them; one that cannot be written so is written with escapes."""
    if "\n" not in value or "'''" in value or re.search(r"[^\n\t -~\u00a0-\U0010ffff]", value):
        return inline(value)
    return f"'''\n{value}'''"


def comment(words: str) -> str:
    """Lines of a comment."""
    return "".join(f"# {printable(line)}".rstrip() + "\n" for line in words.splitlines())


def excerpt(words: str, length: int = 80) -> str:
    """In one line of at most `length` characters."""
    line = printable(" ".join(words.split()))
    return line if len(line) <= length else f"{line[: length - 3]}..."
