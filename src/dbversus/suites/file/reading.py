"""From a TOML file to its shape, or to one sentence for the user with file and line."""

from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from dbversus.names import did_you_mean
from dbversus.suites.file.generators import GENERATORS, Shape
from dbversus.suites.file.source import Place, Source

# pydantic's words for a wrong type, said in those of TOML
_WANTED = {
    "model_type": "a table",
    "model_attributes_type": "a table",
    "dict_type": "a table",
    "list_type": "a list",
    "string_type": "a text",
    "int_type": "an integer",
    "float_type": "a number",
    "bool_type": "true or false",
    "too_short": "at least one item",
    "string_too_short": "a text that is not empty",
}

AnyShape = TypeVar("AnyShape", bound=Shape)


def read_shape(shape: type[AnyShape], source: Source) -> AnyShape:
    """The whole file as `shape`; raises UsageError with file, line and one sentence on the first mistake."""
    return check_shape(shape, source.document, Place(source))


def check_shape(shape: type[AnyShape], value: Any, place: Place) -> AnyShape:
    """The `value` at `place` as `shape`; raises as `read_shape`."""
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        found = [(_place(place, mistake), mistake) for mistake in error.errors()]
        first, mistake = min(found, key=lambda pair: pair[0].line)
        raise first.mistake(_sentence(place, mistake)) from None


def _place(root: Place, mistake: ErrorDetails) -> Place:
    added = (mistake["ctx"]["key"],) if mistake["type"] == "unknown_key" else ()
    return Place(root.source, _present(root, (*mistake["loc"], *added)))


def _present(root: Place, keys: tuple[str | int, ...]) -> tuple[str | int, ...]:
    return tuple(root.source.present((*root.keys, *keys)))


def _sentence(root: Place, mistake: ErrorDetails) -> str:
    name = ".".join(str(key) for key in _present(root, mistake["loc"])) or "the file"
    given = mistake["input"]
    match mistake["type"]:
        case "unknown_key" | "keys_together":
            return f"{name}: {mistake['msg']}"
        case "missing":
            return f"{name} has no `{mistake['loc'][-1]}`, which is needed."
        case "union_tag_invalid" | "union_tag_not_found":
            kind = given.get("gen") if isinstance(given, dict) else None
            start = f"unknown generator '{kind}'.{did_you_mean(str(kind), GENERATORS)}" if kind else "`gen` is missing."
            return f"{name}: {start} Accepted: {', '.join(GENERATORS)}, or the name of one of [generators]."
        case "string_pattern_mismatch":
            accepted = "lower-case letters, digits and - (in names of variables and parameters: _)"
            return f"{name}: '{given}' is no name; {accepted} are accepted."
        case kind if kind in _WANTED:
            return f"{name} is {given!r}; it has to be {_WANTED[kind]}."
        case _:
            reason = mistake["msg"].removeprefix("Value error, ")
            return f"{name} is {given!r}: {reason[:1].lower()}{reason[1:]}."
