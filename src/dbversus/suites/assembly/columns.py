"""All columns of a table: those named one by one, then those made alike for each of a list; and what their generators share."""

import re
import zlib
from dataclasses import replace
from typing import TypeVar

from dbversus.names import did_you_mean
from dbversus.suites.file import shape
from dbversus.suites.file.draft import Draft, Named, Placed
from dbversus.suites.file.generators import Choice, Generator, Present, PresentRows
from dbversus.suites.file.source import Place
from dbversus.suites.model import Parameter
from dbversus.suites.variables import Variables

AnyGenerator = TypeVar("AnyGenerator", bound=Generator)


def all_columns(table: Placed[shape.Table], variables: Variables) -> Named[shape.Column]:
    """By name, in order; nothing for a table that leaves them to its file.

    Raises UsageError for a list that is none, for names that are none, and for those given twice.
    """
    place = table.place
    columns = {name: Placed(one, place.at("columns", name)) for name, one in table.value.columns.items()}
    for number, each in enumerate(table.value.columns_each):
        here = place.at("columns_each", number)
        for name in _names(each, here, variables):
            if name in columns:
                raise here.at("list").mistake(f"there are two columns '{name}'.")
            columns[name] = Placed(each.column, here.at("column"))
    return columns


def _names(each: shape.ColumnsEach, place: Place, variables: Variables) -> list[str]:
    names = _list(each.list, variables, place.at("list")) if isinstance(each.list, str) else each.list
    for name in names:
        if not isinstance(name, str) or not re.fullmatch(shape.COLUMN_NAME, name):
            raise place.at("list").mistake(
                f"{name!r} is no name of a column; lower-case letters, digits and _ are accepted."
            )
    return [str(name) for name in names]


def _list(name: str, variables: Variables, place: Place) -> list[int | float | str]:
    value = variables.get(name)
    if not isinstance(value, list):
        known = [key for key, other in variables.items() if isinstance(other, list)]
        raise place.mistake(
            f"'{name}' is no variable that is a list.{did_you_mean(name, known)} Accepted: {', '.join(known) or '(none)'}."
        )
    return value


def parameter_of(given: str | Generator, place: Place, draft: Draft) -> Parameter:
    """What stands at `place`: a generator, or the name of one."""
    if isinstance(given, Generator):
        return Parameter(_known(given, draft, place), place, place)
    generators = draft.generators
    if given not in generators:
        raise place.mistake(
            f"unknown generator '{given}'.{did_you_mean(given, generators)} Accepted: {', '.join(generators) or '(none)'}, "
            'or a table such as { gen = "uniform", low = 1, high = "table_size" }.'
        )
    found = generators[given]
    return Parameter(_known(found.value, draft, found.place), place, found.place)


def column_values(table: str, name: str, column: Placed[shape.Column], draft: Draft) -> Parameter:
    """What fills a column."""
    parameter = parameter_of(column.value.values, column.place.at("values"), draft)
    generator = with_seed(parameter.generator, f"{table}.{name}")
    return replace(parameter, generator=generator, column_type=column.value.type)


def _known(generator: Generator, draft: Draft, place: Place) -> Generator:
    """The generator with what the file says of the lists and the table that it names."""
    if isinstance(generator, Present):
        table = loaded_table(generator.of, draft, place.at("of"))
        return PresentRows(**generator.model_dump(), loaded=table.value.rows)
    return _with_lists(generator, draft.variables, place)


def loaded_table(name: str, draft: Draft, place: Place) -> Placed[shape.Table]:
    """A table whose rows are counted by position; raises UsageError for one that is not there, or has those of a file."""
    if name not in draft.tables:
        known = ", ".join(draft.tables) or "(none)"
        raise place.mistake(f"unknown table '{name}'.{did_you_mean(name, draft.tables)} Accepted: {known}.")
    table = draft.tables[name]
    if table.value.data is not None:
        raise place.mistake(
            f"table {name} has the rows of a file, which do not go on; an INSERT of your own takes `params`, without `into`."
        )
    return table


def _with_lists(generator: AnyGenerator, variables: Variables, place: Place) -> AnyGenerator:
    """The generator with the lists that it names."""
    found = {
        field: variables[name]
        for field in generator.lists
        if isinstance(name := getattr(generator, field), str) and isinstance(variables.get(name), list)
    }
    if isinstance(generator, Choice) and not found and not isinstance(generator.of, list):
        found["of"] = _list(str(generator.of), variables, place.at("of"))
    return generator.model_copy(update=found) if found else generator


def with_seed(generator: AnyGenerator, name: str) -> AnyGenerator:
    """The generator with a seed of its own, where it needs one and has none: the same wherever its rows are drawn."""
    if getattr(generator, "seed", 0) is not None:
        return generator
    return generator.model_copy(update={"seed": zlib.crc32(name.encode())})
