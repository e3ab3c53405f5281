"""Checks what the shape of a file cannot say: that statements, parameters and variables fit together."""

import math
from collections.abc import Collection, Iterable, Mapping
from collections.abc import Sequence as Names
from typing import Any

from dbversus.dbms.sql.types import has_fractions
from dbversus.names import did_you_mean
from dbversus.suites.assembly.typed import check_column, check_values
from dbversus.suites.expression import ROW, Expression, Form, evaluate, evaluate_number, reduce, variables_of
from dbversus.suites.file import shape
from dbversus.suites.file.draft import Placed
from dbversus.suites.file.generators import (
    KEPT,
    Bounded,
    Choice,
    Client,
    Generator,
    Listable,
    Present,
    Ref,
    Sample,
    Sequence,
    Text,
    Walk,
    Window,
    gives_text,
)
from dbversus.suites.file.source import Place
from dbversus.suites.model import Parameter, Statement, Test
from dbversus.suites.sql import placeholders, values_row
from dbversus.suites.variables import Variables

BUILT_IN = ("table_size", "tables")
_FOR_ROWS = "that is for INSERT … VALUES (…), with one row and no parameters outside of it"
_ANY_SIZE = 10**12 + 39  # stands for sizes, which nobody has chosen yet


def check_test(test: Test) -> None:
    """Raises UsageError with file and line on the first mistake of a test."""
    of_test = {**test.suite_variables, **test.own_variables}
    check_number(test.rows_per_op, of_test, test.place.at("rows_per_op"))
    for name, count in test.work_per_op.items():
        check_number(count, of_test, test.place.at("work_per_op", name), at_least=1)
    for statements in [role.statements for role in test.roles] or [test.statements]:
        _check_program(statements, of_test)


def _check_program(statements: Names[Statement], of_test: Variables) -> None:
    """What one client does in an operation."""
    drawn: dict[str, Generator] = {}
    referred = referred_to(statements)
    earlier: list[str] = []
    names: set[str] = set()
    for statement in statements:
        variables = {**of_test, **statement.variables}
        if statement.part:
            check_number(statement.part.weight, of_test, statement.part.place, at_least=1)
            drawn, earlier = {}, []  # parts of a mix share nothing
        if statement.name in names:
            raise statement.places[0].mistake(f"two statements are called '{statement.name}'; give one another `name`.")
        names.add(statement.name)
        _check_table(statement, earlier)
        _check_only(statement)
        check_number(statement.repeat, variables, statement.place_of("repeat"), at_least=1)
        check_rows(statement, variables)
        _check_placeholders(statement, referred)
        for name, parameter in statement.params.items():
            _check_parameter(name, parameter, symbols(drawn, has_rows=statement.appends is not None), variables)
            drawn[name] = parameter.generator
        _check_of_row(statement.when, symbols(drawn), variables, statement.place_of("when"))
        _check_kept(statement, referred)
        drawn |= kept_by(statement)
        earlier.append(statement.name)


def referred_to(statements: Iterable[Statement]) -> set[str]:
    """Names of the earlier values that parameters and conditions of these statements need."""
    generators = (parameter.generator for statement in statements for parameter in statement.params.values())
    conditions = (statement.when for statement in statements if statement.when is not None)
    return set().union(*(one.names() for one in generators), *map(variables_of, conditions))


def kept_by(statement: Statement) -> dict[str, Generator]:
    """What those after it may refer to, of what it has read."""
    return {name: KEPT for name in statement.keep if name != "_"}


def check_table(
    table: shape.Table,
    values: Mapping[str, Parameter],
    variables: Variables,
    place: Place,
    places: Mapping[str, Place],
) -> None:
    """As `check_test`, for a table: its types, keys, numbers, and the values of its columns."""
    check_number(table.rows, variables, place.at("rows"))
    check_number(table.copies, variables, place.at("copies"), at_least=1)
    for name, column in table.columns.items():
        check_column(name, column, in_key=name in table.primary_key, values=values[name], place=places[name])
    _check_columns(values, variables)
    _check_keys(table.primary_key, table, place.at("primary_key"))
    for number, index in enumerate(table.indexes):
        _check_keys(index.columns, table, place.at("indexes", number, "columns"))


_OF_THE_SCRIPTS = ("primary_key", "indexes", "copies", "rows_at_end")
_OF_THEIR_COLUMNS = ("default", "nullable", "identity", *(f"type_{dbms}" for dbms in shape.DBMS_NAMES))


def check_made_by_scripts(name: str, placed: Placed[shape.Table], *, has_scripts: bool) -> None:
    """Raises UsageError where a table that scripts make says what is theirs to say, or no script is there."""
    table, place = placed.value, placed.place
    if table.made_by is None:
        return
    if not has_scripts:
        raise place.at("made_by").mistake(
            f"table {name} is made by scripts, and there are none; [setup] names them (docs/suites/tables.md)."
        )
    columns: list[tuple[str, str | int]] = [("columns", column) for column in table.columns]
    columns += [("columns_each", number) for number in range(len(table.columns_each))]
    places = [(place, _OF_THE_SCRIPTS), *((_column_place(place, at), _OF_THEIR_COLUMNS) for at in columns)]
    for where, keys in places:
        if key := next((key for key in keys if where.has(key)), ""):
            raise where.at(key).mistake(
                f"table {name} is made by scripts, so `{key}` is theirs to say; `data` or `values` are accepted, and a column's "
                "`type`, as which its values are sent."
            )


def _column_place(place: Place, at: tuple[str, str | int]) -> Place:
    return place.at(*at, "column") if at[0] == "columns_each" else place.at(*at)


def check_rows(statement: Statement, variables: Variables) -> None:
    """Raises UsageError when a statement of several rows is no INSERT of one row that can be repeated."""
    check_number(statement.rows, variables, statement.place_of("rows"), at_least=1)
    if statement.rows == 1 or (statement.appends and statement.appends.oldest):
        return
    for dbms, sql in statement.sql.items():
        row = values_row(sql)
        if row is None or placeholders(sql[: row[0]]) or placeholders(sql[row[1] :]):
            raise statement.place_of(f"sql_{dbms}" if dbms else "sql").mistake(
                f"statement '{statement.name}' has `rows`; {_FOR_ROWS}."
            )


def _check_keys(names: Names[str], table: shape.Table, place: Place) -> None:
    for name in names:
        if name not in table.columns:
            known = ", ".join(table.columns)
            raise place.mistake(f"there is no column '{name}'.{did_you_mean(name, table.columns)} Accepted: {known}.")


def _check_columns(columns: Mapping[str, Parameter], variables: Variables) -> None:
    drawn: dict[str, Generator] = {}
    for name, parameter in columns.items():
        if getattr(parameter.generator, "count", None) is not None:
            raise parameter.place.mistake(f"column '{name}' has a `count`; a column holds one value.")
        if isinstance(parameter.generator, Window):
            raise parameter.place.mistake(f"column '{name}': a window is two values; a column holds one.")
        if isinstance(parameter.generator, Present | Client):
            kind = parameter.generator.gen
            raise parameter.place.mistake(f"column '{name}': `{kind}` is for parameters of statements.")
        _check_parameter(name, parameter, symbols(drawn, has_rows=True), variables)
        drawn[name] = parameter.generator


def _check_table(statement: Statement, earlier: list[str]) -> None:
    accepted = ["draw", "client", *earlier]
    if statement.table not in accepted:
        raise statement.place_of("table").mistake(
            f"table = '{statement.table}' is no earlier statement.{did_you_mean(statement.table, accepted)} "
            f"Accepted: {', '.join(accepted)}."
        )


def _check_only(statement: Statement) -> None:
    """What some targets lack must draw nothing, or they would draw other values than the rest."""
    draws = statement.params or statement.appends or statement.part or statement.keep or statement.table == "draw"
    if statement.only and draws:
        raise statement.place_of("only").mistake(
            f"statement '{statement.name}' has `only`; it can have no `params`, `into`, `keep` or `weight`, and needs "
            'table = "client" or that of an earlier statement, so that all targets draw the same values.'
        )


def _check_kept(statement: Statement, referred: set[str]) -> None:
    if statement.when is not None and statement.appends:
        raise statement.place_of("when").mistake(
            f"statement '{statement.name}' has rows that are counted, of the table {statement.appends.table}: "
            "it always runs, and has no `when`."
        )
    for index, name in enumerate(statement.keep):
        place = statement.place_of("keep")
        if name != "_" and name in statement.keep[:index]:
            raise place.mistake(f"`keep` has '{name}' twice; a value that nothing needs is called '_'.")
        if name != "_" and name not in referred:
            raise place.mistake(
                f"statement '{statement.name}' keeps '{name}', which no statement after it uses: "
                f'write params.{name} = {{ gen = "ref", of = "{name}" }} there, or \'_\' here.'
            )


def _check_placeholders(statement: Statement, referred: set[str]) -> None:
    used: set[str] = set()
    accepted = [each for name, parameter in statement.params.items() for each in _names_in_sql(name, parameter)]
    for dbms, sql in statement.sql.items():
        names = placeholders(sql)
        used.update(names)
        for name in names:
            if name not in accepted:
                place = statement.place_of_sql(dbms)
                known = ", ".join(accepted) or "none"
                raise place.mistake(
                    f"statement '{statement.name}' has no parameter for :{name}.{did_you_mean(name, accepted)} "
                    f"Its parameters: {known}."
                )
    for name, parameter in statement.params.items():
        own = _names_in_sql(name, parameter)
        if used.isdisjoint(own) and name not in referred:
            raise parameter.place.mistake(
                f"statement '{statement.name}' does not use its parameter '{name}'; "
                f"write {' and '.join(f':{each}' for each in own)} in its SQL or leave it out."
            )


def symbols(drawn: Mapping[str, Generator], has_rows: bool = False) -> list[str]:
    """What an expression of the row may name besides variables, when `drawn` was drawn before."""
    numbers = [name for name, generator in drawn.items() if _is_one_number(generator)]
    return [*numbers, ROW] if has_rows else numbers


def _check_parameter(name: str, parameter: Parameter, known: Collection[str], variables: Variables) -> None:
    generator, place = parameter.generator, parameter.generator_place
    check_values(name, parameter)
    for field in (*generator.expressions, *generator.reals):
        least = 1 if field in ("count", "length", "resolution") else None
        fractions = takes_fractions(parameter, field)
        if not isinstance(value := getattr(generator, field), list):
            check_number(value, variables, place.at(field), least, fractions=fractions)
    for field in generator.of_row:
        _check_of_row(getattr(generator, field), known, variables, place.at(field))
    if isinstance(generator, Listable):
        _check_list(name, generator, place)
    match generator:
        case Bounded():
            check_bounds(name, generator, variables, place)
        case Ref():
            _check_ref(name, generator, known, place)
        case Text():
            _check_template(name, generator, known, place)
        case Choice():
            _check_weights(name, generator, place)
        case Walk():
            _check_walk(name, generator, variables, place)
        case Sequence() if generator.step == 0:
            raise place.mistake(f"{name}: `step` is 0; any other integer is accepted.")


def takes_fractions(parameter: Parameter, field: str) -> bool:
    """Whether a number with a fraction may stand in a field of the generator."""
    generator = parameter.generator
    is_range = isinstance(generator, Bounded) and generator.continuous
    return field in generator.reals or (is_range and field in ("low", "high") and has_fractions(parameter.type))


def numbers_of(parameter: Parameter, scope: Variables) -> dict[str, int | float]:
    """The numbers of a generator, by field; raises UsageError for expressions that give none."""
    generator, place = parameter.generator, parameter.generator_place
    numbers = {}
    for field in (*generator.expressions, *generator.reals):
        expression = getattr(generator, field)
        if expression is not None and not isinstance(expression, list):
            value = number_of if takes_fractions(parameter, field) else value_of
            numbers[field] = value(expression, scope, place.at(field))
    return numbers


def value_of(expression: Expression, variables: Variables, place: Place) -> int:
    """The value of an expression that stands at `place`; raises UsageError for what `evaluate` refuses."""
    try:
        return evaluate(expression, variables)
    except ValueError as error:
        raise place.mistake(f"{error}.") from None


def number_of(expression: Expression, variables: Variables, place: Place) -> int | float:
    """As `value_of`, where a number with a fraction may stand."""
    try:
        return evaluate_number(expression, variables)
    except ValueError as error:
        raise place.mistake(f"{error}.") from None


def check_bounds(name: str, generator: Bounded, variables: Variables, place: Place) -> None:
    """Raises UsageError when low > high, as far as `variables` tell."""
    if variables_of(generator.low) | variables_of(generator.high) <= variables.keys():
        low = number_of(generator.low, variables, place.at("low"))
        high = number_of(generator.high, variables, place.at("high"))
        if low > high:
            raise place.at("low").mistake(f"{name}: low is {low} and high is {high}; low ≤ high is accepted.")


def check_sample(name: str, made: Mapping[str, Any], place: Place) -> None:
    """Raises UsageError when a sample, with its numbers worked out, needs more values than there are."""
    size, count = made["of"], made.get("count", 1)
    if isinstance(size, list) and "template" in made:
        raise place.at("template").mistake(f"{name}: `template` is for integers, and `of` has the values themselves.")
    if count > (known := len(size) if isinstance(size, list) else size):
        raise place.at("count").mistake(f"{name}: {count} values of {known}; none is drawn twice in a sample.")


def check_window(name: str, made: Mapping[str, Any], place: Place) -> None:
    """Raises UsageError when a window, with its numbers worked out, is longer than what it is to lie in."""
    room = made["high"] - made["low"]
    if made["length"] > room:
        raise place.at("length").mistake(
            f"{name}: length is {made['length']}, and from low to high it is {room}; length ≤ high - low is accepted."
        )


def bound_names(name: str) -> tuple[str, str]:
    """What the two values of a window are called in SQL."""
    return f"{name}.from", f"{name}.to"


def _names_in_sql(name: str, parameter: Parameter) -> tuple[str, ...]:
    return bound_names(name) if isinstance(parameter.generator, Window) else (name,)


def _check_template(name: str, generator: Text, known: Collection[str], place: Place) -> None:
    for wanted in sorted(generator.names().difference(known)):
        raise place.at("template").mistake(
            f"{name}: {{{wanted}}} is no earlier value.{did_you_mean(wanted, known)} Accepted: {', '.join(known) or '(none)'}."
        )


def _check_weights(name: str, generator: Choice, place: Place) -> None:
    weights = generator.weights
    if weights is None:
        return
    if len(weights) != len(generator.of) or min(weights) < 0 or not 0 < sum(weights) < math.inf:
        raise place.at("weights").mistake(
            f"{name}: `of` has {len(generator.of)} values; `weights` has as many numbers from 0 on, not all of them 0."
        )


def _check_walk(name: str, generator: Walk, variables: Variables, place: Place) -> None:
    given = {field: getattr(generator, field) for field in ("sd", "low", "high")}
    known = {
        field: number_of(value, variables, place.at(field))
        for field, value in given.items()
        if value is not None and variables_of(value) <= variables.keys()
    }
    if known.get("sd", 0) < 0:
        raise place.at("sd").mistake(f"{name}: sd is {known['sd']}; 0 or more is accepted.")
    if "low" in known and "high" in known and known["low"] >= known["high"]:
        raise place.at("low").mistake(
            f"{name}: low is {known['low']} and high is {known['high']}; low < high is accepted."
        )


def _check_list(name: str, generator: Listable, place: Place) -> None:
    if generator.consecutive and generator.count is None:
        raise place.mistake(f"{name}: `consecutive` needs `count`, the length of the list.")
    if generator.count is not None and gives_text(generator):
        raise place.mistake(f"{name}: `count` is for integers; a text has no list.")


def of_row(expression: Expression, variables: Variables, known: Collection[str], place: Place) -> Form:
    """What the engine is to work out for each row; raises UsageError for what `reduce` refuses."""
    try:
        return reduce(expression, variables, known)
    except ValueError as error:
        raise place.mistake(f"{error}.") from None


def _check_of_row(expression: Expression | None, known: Collection[str], variables: Variables, place: Place) -> None:
    if expression is None:
        return
    accepted = {*known, *variables, *BUILT_IN}
    for name in sorted(variables_of(expression) - accepted):
        hint = " (for parameters: in statements with `position`)" if name == ROW else ""
        raise place.mistake(
            f"unknown name '{name}'{hint}.{did_you_mean(name, accepted)} Accepted: {', '.join(sorted(accepted))}."
        )
    of_row(expression, {**dict.fromkeys(BUILT_IN, _ANY_SIZE), **variables}, known, place)


def _check_ref(name: str, generator: Ref, known: Collection[str], place: Place) -> None:
    accepted = [one for one in known if one != ROW]
    if generator.of not in accepted:
        raise place.at("of").mistake(
            f"{name} refers to '{generator.of}', which is no earlier parameter with one number."
            f"{did_you_mean(generator.of, accepted)} Accepted: {', '.join(accepted) or '(none)'}."
        )


def _is_one_number(generator: Generator) -> bool:
    if isinstance(generator, Sample | Window):
        return False
    return not gives_text(generator) and getattr(generator, "count", None) is None


def check_number(
    expression: Expression | None,
    variables: Variables,
    place: Place,
    at_least: int | None = None,
    *,
    fractions: bool = False,
) -> None:
    if expression is None or isinstance(expression, float):
        return
    known = {*variables, *BUILT_IN}
    used = variables_of(expression)
    for name in sorted(used - known):
        raise place.mistake(
            f"unknown variable '{name}'.{did_you_mean(name, known)} Accepted: {', '.join(sorted(known))}."
        )
    if not used <= variables.keys():
        return
    value = (number_of if fractions else value_of)(expression, variables, place)
    if at_least is not None and value < at_least:
        raise place.mistake(f"{place.keys[-1]} is {value}; {at_least} or more is accepted.")
