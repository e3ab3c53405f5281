"""Whether values fit their types, and columns their defaults and keys."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from dbversus.dbms.sql.types import (
    has_fractions,
    is_bytes,
    is_float,
    is_integer,
    is_text,
    is_time,
    range_of,
    why_not,
)
from dbversus.suites.data.generators import is_stored
from dbversus.suites.file import shape
from dbversus.suites.file.generators import Bounded, Constant, Generator, Listable, gives_text, natural_type
from dbversus.suites.file.source import Place
from dbversus.suites.model import Parameter


def check_column(name: str, column: shape.Column, *, in_key: bool, values: Parameter, place: Place) -> None:
    """Raises UsageError with file and line on the first mistake of a column of a table."""
    if words := why_not(column.type):
        raise place.at("type").mistake(f"column '{name}': {words}.")
    if column.identity and not is_integer(column.type):
        raise place.at("identity").mistake(f"column '{name}' is {column.type}; servers number integers only.")
    if column.default is not None and not _fits(column.default, column.type):
        words = f"the default {column.default!r} is no value of type {column.type}"
        raise place.at("default").mistake(f"column '{name}': {words}.")
    if in_key and column.nullable:
        raise place.at("nullable").mistake(f"column '{name}' is in the primary key, which has no NULLs.")
    if values.generator.nulls and not column.nullable:
        raise values.generator_place.at("nulls").mistake(
            f"column '{name}' would be NULL in some rows; say nullable = true, or leave out `nulls`."
        )


def check_values(name: str, parameter: Parameter) -> None:
    """As `check_column`, of the values of a column or parameter: whether what is drawn is of its type."""
    generator, place, kind = parameter.generator, parameter.generator_place, parameter.type
    if generator.nulls and isinstance(generator, Listable) and generator.count is not None:
        raise place.at("nulls").mistake(f"{name}: `nulls` is for single values, and `count` makes a list.")
    if not kind or is_stored(generator):
        return
    if (is_text(kind) or is_bytes(kind)) != gives_text(generator) or (is_text(kind) and _is_bytes(generator)):
        who = f"column '{name}'" if parameter.column_type else name
        raise parameter.place.mistake(f"{who} of type {kind} takes {_wanted(kind)}, and is given {_given(generator)}.")
    if generator.round is not None and not is_float(kind):
        raise place.at("round").mistake(f"{name} is {kind}; `round` is for float4 and float8.")
    _check_fractions(name, generator, kind, place)


def check_range(name: str, kind: str, numbers: Mapping[str, Any], place: Place) -> None:
    """Raises UsageError for an end of a range, or a constant, that the type does not hold. `numbers`: concrete, by key."""
    accepted = range_of(kind) if kind else None
    for key in ("low", "high", "value"):
        if accepted and key in numbers and not accepted[0] <= numbers[key] <= accepted[1]:
            times = "microseconds since 1970-01-01, of the years 1000 to 9999"
            words = times if is_time(kind) else f"{accepted[0]} to {accepted[1]}"
            raise place.at(key).mistake(f"{name} of type {kind}: {key} is {numbers[key]}; accepted is {words}.")


def _check_fractions(name: str, generator: Generator, kind: str, place: Place) -> None:
    if isinstance(generator, Bounded) and not (has_fractions(kind) and generator.continuous):
        for end in ("low", "high"):
            if isinstance(value := getattr(generator, end), float):
                why = (
                    f"type {kind} is drawn from integers" if generator.continuous else f"{generator.gen} draws integers"
                )
                accepted = "an integer or an expression is accepted; uniform and gaussian of float8 take fractions"
                raise place.at(end).mistake(f"{name}: {end} is {value}, and {why}; {accepted}.")
    if isinstance(generator, Constant) and not gives_text(generator) and not _fits(generator.value, kind):
        raise place.at("value").mistake(f"{name}: {generator.value!r} is no value of type {kind}.")


def _fits(value: float | str | date, kind: str) -> bool:
    """Times are dates of TOML or microseconds."""
    match value:
        case bool():
            return kind == "bool"
        case int():
            return not (is_text(kind) or is_bytes(kind))
        case float():
            return has_fractions(kind)
        case date():
            return is_time(kind)
        case _:
            return is_text(kind)


def _is_bytes(generator: Generator) -> bool:
    return natural_type(generator) == "bytes"


def _wanted(kind: str) -> str:
    if is_bytes(kind):
        return "bytes or texts"
    if is_text(kind):
        return "texts"
    if is_time(kind):
        return "times or microseconds"
    return "integers" if is_integer(kind) or kind == "bool" else "numbers"


def _given(generator: Generator) -> str:
    if _is_bytes(generator):
        return "bytes"
    return "texts" if gives_text(generator) else "integers"
