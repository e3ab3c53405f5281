"""Generators as the engine knows them: all numbers concrete, and windows made of two values."""

from collections.abc import Collection
from typing import Any

from dbversus.dbms.sql.types import is_integer, is_text
from dbversus.suites.assembly.check import bound_names, check_bounds, check_sample, check_window, numbers_of, of_row
from dbversus.suites.assembly.columns import with_seed
from dbversus.suites.assembly.typed import check_range
from dbversus.suites.data.generators import is_stored
from dbversus.suites.file.generators import Bounded, Sample, Window, plain
from dbversus.suites.model import Parameter
from dbversus.suites.variables import Variables

Json = dict[str, Any]


def engine_generators(name: str, parameter: Parameter, scope: Variables, known: Collection[str]) -> Json:
    """What the engine is told of one parameter or column, by name: two values for a window, one for all others.

    `known`: names of earlier values, and of the row where there is one. Raises UsageError for numbers that make no sense
    with these variables.
    """
    generator, place = with_seed(parameter.generator, name), parameter.generator_place
    made: Json = generator.model_dump(exclude_none=True, exclude={"type"})
    made |= numbers_of(parameter, scope)
    made |= {field: of_row(made[field], scope, known, place.at(field)) for field in generator.of_row if field in made}
    if "value" in made:
        made["value"] = plain(made["value"])
    if type_name := parameter.type if is_stored(generator) else _told_type(parameter.type):
        made["type"] = type_name
    check_range(name, parameter.type, made, place)
    match generator:
        case Bounded():
            check_bounds(name, generator, scope, place)
        case Sample():
            check_sample(name, made, place)
        case Window():
            check_window(name, made, place)
            return _window(name, made)
    return {name: made}


def _window(name: str, made: Json) -> Json:
    first, last = bound_names(name)
    length, step = made.pop("length"), made.pop("resolution")
    start = made | {"gen": "grid", "high": made["high"] - length, "step": step}
    return {first: start, last: {"gen": "ref", "of": first, "add": length}}


def _told_type(type_name: str) -> str:
    """Integers and texts are what they are; all else is told."""
    return "" if not type_name or is_integer(type_name) or is_text(type_name) else type_name
