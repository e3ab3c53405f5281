"""Checks what the shape of a file cannot say: that statements, parameters and variables fit together."""

from collections.abc import Iterator, Mapping
from collections.abc import Sequence as Names

from dbversus.dbms.types import is_integer, why_not
from dbversus.names import near
from dbversus.suites import shape
from dbversus.suites.expression import Expression, evaluate, variables_of
from dbversus.suites.generators import Bounded, Generator, Listable, Ref, Sequence, is_text
from dbversus.suites.model import Parameter, Statement, Test
from dbversus.suites.source import Place
from dbversus.suites.sql import placeholders

BUILT_IN = ("table_size", "tables")


def check_test(test: Test) -> None:
    """Raises UsageError with file and line on the first mistake of a test."""
    variables = {**test.suite_variables, **test.own_variables}
    check_number(test.rows_per_op, variables, test.place.at("rows_per_op"))
    drawn: dict[str, Generator] = {}
    referred = {generator.of for generator in _generators(test) if isinstance(generator, Ref)}
    earlier: list[str] = []
    for statement in test.statements:
        _check_names(statement, earlier)
        check_number(statement.repeat, variables, statement.place_of("repeat"), at_least=1)
        _check_placeholders(statement, referred)
        for name, parameter in statement.params.items():
            _check_parameter(name, parameter, drawn, variables)
            drawn[name] = parameter.generator
        earlier.append(statement.name)


def check_table(
    table: shape.Table, values: Mapping[str, Parameter], variables: Mapping[str, int], place: Place
) -> None:
    """As `check_test`, for a table: its types, keys, numbers, and the values of its columns."""
    check_number(table.rows, variables, place.at("rows"))
    check_number(table.copies, variables, place.at("copies"), at_least=1)
    _check_columns(values, variables)
    for name, column in table.columns.items():
        _check_column(name, column, values[name].generator, place.at("columns", name))
    _check_keys(table.primary_key, table, place.at("primary_key"))
    for number, index in enumerate(table.indexes):
        _check_keys(index.columns, table, place.at("indexes", number, "columns"))


def _check_column(name: str, column: shape.Column, generator: Generator, place: Place) -> None:
    if words := why_not(column.type):
        raise place.at("type").mistake(f"column '{name}': {words}.")
    if is_integer(column.type) == is_text(generator):
        kinds = ("integers", "texts") if is_integer(column.type) else ("texts", "integers")
        raise place.at("values").mistake(
            f"column '{name}' of type {column.type} takes {kinds[0]}, and is given {kinds[1]}."
        )
    if column.identity and not is_integer(column.type):
        raise place.at("identity").mistake(f"column '{name}' is {column.type}; servers number integers only.")


def _check_keys(names: Names[str], table: shape.Table, place: Place) -> None:
    for name in names:
        if name not in table.columns:
            known = ", ".join(table.columns)
            raise place.mistake(f"there is no column '{name}'.{near(name, table.columns)} Accepted: {known}.")


def _check_columns(columns: Mapping[str, Parameter], variables: Mapping[str, int]) -> None:
    drawn: dict[str, Generator] = {}
    for name, parameter in columns.items():
        if isinstance(parameter.generator, Listable) and parameter.generator.count is not None:
            raise parameter.place.mistake(f"column '{name}' has a `count`; a column holds one value.")
        _check_parameter(name, parameter, drawn, variables)
        drawn[name] = parameter.generator


def _generators(test: Test) -> Iterator[Generator]:
    for statement in test.statements:
        for parameter in statement.params.values():
            yield parameter.generator


def _check_names(statement: Statement, earlier: list[str]) -> None:
    if statement.name in earlier:
        raise statement.places[0].mistake(f"two statements are called '{statement.name}'; give one another `name`.")
    accepted = ["draw", "client", *earlier]
    if statement.table not in accepted:
        raise statement.place_of("table").mistake(
            f"table = '{statement.table}' is no earlier statement.{near(statement.table, accepted)} "
            f"Accepted: {', '.join(accepted)}."
        )


def _check_placeholders(statement: Statement, referred: set[str]) -> None:
    used: set[str] = set()
    for dbms, sql in statement.sql.items():
        names = placeholders(sql)
        used.update(names)
        for name in names:
            if name not in statement.params:
                place = statement.place_of(f"sql_{dbms}" if dbms else "sql")
                known = ", ".join(statement.params) or "none"
                raise place.mistake(
                    f"statement '{statement.name}' has no parameter for :{name}.{near(name, statement.params)} "
                    f"Its parameters: {known}."
                )
    for name, parameter in statement.params.items():
        if name not in used and name not in referred:
            raise parameter.place.mistake(
                f"statement '{statement.name}' does not use its parameter '{name}'; "
                f"write :{name} in its SQL or leave it out."
            )


def _check_parameter(
    name: str, parameter: Parameter, drawn: Mapping[str, Generator], variables: Mapping[str, int]
) -> None:
    generator, place = parameter.generator, parameter.generator_place
    for field in generator.expressions:
        least = 1 if field == "count" else None
        check_number(getattr(generator, field), variables, place.at(field), at_least=least)
    if isinstance(generator, Listable):
        _check_list(name, generator, place)
    match generator:
        case Bounded():
            check_bounds(name, generator, variables, place)
        case Ref():
            _check_ref(name, generator, drawn, place)
        case Sequence() if generator.step == 0:
            raise place.mistake(f"{name}: `step` is 0; any other integer is accepted.")


def value_of(expression: Expression, variables: Mapping[str, int], place: Place) -> int:
    """The value of an expression that stands at `place`; raises UsageError for what `evaluate` refuses."""
    try:
        return evaluate(expression, variables)
    except ValueError as error:
        raise place.mistake(f"{error}.") from None


def check_bounds(name: str, generator: Bounded, variables: Mapping[str, int], place: Place) -> None:
    """Raises UsageError when low > high, as far as `variables` tell."""
    if variables_of(generator.low) | variables_of(generator.high) <= variables.keys():
        low = value_of(generator.low, variables, place.at("low"))
        high = value_of(generator.high, variables, place.at("high"))
        if low > high:
            raise place.at("low").mistake(f"{name}: low is {low} and high is {high}; low ≤ high is accepted.")


def _check_list(name: str, generator: Listable, place: Place) -> None:
    if generator.consecutive and generator.count is None:
        raise place.mistake(f"{name}: `consecutive` needs `count`, the length of the list.")
    if generator.count is not None and is_text(generator):
        raise place.mistake(f"{name}: `count` is for integers; a text has no list.")


def _check_ref(name: str, generator: Ref, drawn: Mapping[str, Generator], place: Place) -> None:
    accepted = [known for known, other in drawn.items() if _is_one_integer(other)]
    if generator.of not in accepted:
        raise place.at("of").mistake(
            f"{name} refers to '{generator.of}', which is no earlier parameter with one integer."
            f"{near(generator.of, accepted)} Accepted: {', '.join(accepted) or '(none)'}."
        )


def _is_one_integer(generator: Generator) -> bool:
    return not is_text(generator) and getattr(generator, "count", None) is None


def check_number(
    expression: Expression | None, variables: Mapping[str, int], place: Place, at_least: int | None = None
) -> None:
    if expression is None:
        return
    known = {*variables, *BUILT_IN}
    used = variables_of(expression)
    for name in sorted(used - known):
        raise place.mistake(f"unknown variable '{name}'.{near(name, known)} Accepted: {', '.join(sorted(known))}.")
    if at_least is None or not used <= variables.keys():
        return
    if (value := value_of(expression, variables, place)) < at_least:
        raise place.mistake(f"{place.keys[-1]} is {value}; {at_least} or more is accepted.")
