"""Writes the table of records into docs/reference/schema.md, from their classes: `python -m tests.record_table`."""

import inspect
import types
import typing
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from dbversus.results.records import TYPES, OfGroup, OfTest, Part, Record

PAGE = Path(__file__).parents[1] / "docs/reference/schema.md"
BEGIN = "<!-- made by `python -m tests.record_table`, from src/dbversus/results/records -->\n"
END = "<!-- end of what is made -->\n"
HEAD = "| record | field | type | what |\n| --- | --- | --- | --- |\n"
_SHARED: dict[type[msgspec.Struct], str] = {Record: "every record", OfGroup: "*of a group*", OfTest: "*of a test*"}
_PLAIN = {int: "integer", float: "number", str: "text", bool: "bool", Any: "any"}


class Field(NamedTuple):
    """A field of a record's own; `name` as shown, with a `?` where the field may be absent."""

    name: str
    type: str
    words: str


def main() -> None:
    PAGE.write_text(with_table(PAGE.read_text()))


def with_table(page: str) -> str:
    """The page with the table as it has to be."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}{tables()}{END}{after}"


def tables() -> str:
    return f"{_table([*_SHARED, *TYPES])}\nWhat they are made of:\n\n{_table(_parts())}"


def kinds_shown() -> list[type[msgspec.Struct]]:
    return [*_SHARED, *TYPES, *_parts()]


def _table(kinds: Iterable[type[msgspec.Struct]]) -> str:
    return HEAD + "".join(f"| {' | '.join(row)} |\n" for kind in kinds for row in _rows(kind))


def _rows(kind: type[msgspec.Struct]) -> Iterator[tuple[str, str, str, str]]:
    """A row for the record, then one for each field that has a description, or for fields that have none together."""
    summary, _ = described(kind)
    yield _title(kind), _bases(kind), "", summary
    for (type_, words), alike in groupby(_own_fields(kind), key=lambda field: (field.type, field.words)):
        yield "", ", ".join(field.name for field in alike), type_, words


def _title(kind: type[msgspec.Struct]) -> str:
    return _SHARED.get(kind) or f"**`{kind.__struct_config__.tag or kind.__name__}`**"


def _bases(kind: type[msgspec.Struct]) -> str:
    """Whose fields it has besides its own."""
    (base,) = kind.__bases__
    if base in (OfGroup, OfTest):
        return f"as {_SHARED[base]}"
    return "" if base in (Record, Part, msgspec.Struct) else f"as `{base.__name__}`"


def described(kind: type[msgspec.Struct]) -> tuple[str, dict[str, str]]:
    """The summary of a class, and what its docstring says of its fields, one a line: `name: words`."""
    summary, _, fields = inspect.cleandoc(kind.__doc__ or "").partition("\n\n")
    return " ".join(summary.split()), dict(line.split(": ", 1) for line in fields.splitlines())


def _own_fields(kind: type[msgspec.Struct]) -> Iterator[Field]:
    (base,) = kind.__bases__
    inherited = getattr(base, "__struct_fields__", ())
    words = described(kind)[1]
    for field in msgspec.structs.fields(kind):
        if field.name not in inherited:
            name = f"`{field.encode_name}`{'' if field.required else '?'}"
            null = " or null" if field.required and types.NoneType in typing.get_args(field.type) else ""
            yield Field(name, type_words(field.type) + null, words.get(field.encode_name, ""))


def type_words(kind: Any) -> str:
    """`list of integer`, `object of text`; of what may be null, what it is else."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return type_words(next(one for one in arguments if one is not types.NoneType))
    if origin in (list, tuple):
        return f"list of {type_words(arguments[0])}"
    if origin is dict:
        return f"object of {type_words(arguments[1])}"
    if origin is Literal:
        return "text"
    return _PLAIN.get(kind) or f"`{kind.__name__}`"


def _parts() -> list[type[msgspec.Struct]]:
    """What records are made of, those that others build on before them."""
    found: dict[type[msgspec.Struct], None] = {}
    for kind in TYPES:
        _collect(kind, found)
    return list(found)


def _collect(kind: type[msgspec.Struct], found: dict[type[msgspec.Struct], None]) -> None:
    for field in msgspec.structs.fields(kind):
        for part in _structs_in(field.type):
            for one in reversed(part.__mro__[: part.__mro__.index(Part)]):
                found.setdefault(one)
            _collect(part, found)


def _structs_in(kind: Any) -> Iterator[type[msgspec.Struct]]:
    if isinstance(kind, type) and issubclass(kind, Part):
        yield kind
    for argument in typing.get_args(kind):
        yield from _structs_in(argument)


if __name__ == "__main__":
    main()
