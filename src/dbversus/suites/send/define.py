"""From a test to what is sent: the engine's TEST (docs/engine-protocol.md), a table to load, statements to explain."""

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dbversus.dbms.known import find_dbms
from dbversus.dbms.model import Family
from dbversus.dbms.sql.table import Table
from dbversus.dbms.sql.types import TypeLacking
from dbversus.suites.assembly.check import kept_by, of_row, referred_to, symbols, value_of
from dbversus.suites.assembly.judged_load import load_plan, load_words
from dbversus.suites.assembly.mix import is_mixed
from dbversus.suites.assembly.roles import CLIENTS, operations_of_roles, role_fields
from dbversus.suites.data.generators import example_of
from dbversus.suites.file.generators import Generator
from dbversus.suites.model import Append, Parameter, Part, Statement, Suite, TableRules, Test, Work, has_work
from dbversus.suites.send.engine_generators import engine_generators
from dbversus.suites.send.example import Example, example, literals
from dbversus.suites.sql import fill, placeholders
from dbversus.suites.variables import Variables
from dbversus.units import count_of

Json = dict[str, Any]

MOST_VALUES = 32_000
"""Of a prepared statement: PostgreSQL takes 65535, SQLite 32766."""


def definition(
    test: Test,
    dbms: str,
    table_size: int,
    tables: int = 1,
    variables: Variables | None = None,
    clients: int = 1,
) -> Json:
    """TEST for the engine with every number concrete.

    `table_size` is rows per table; `clients` the number that the experiment asks for, from which that of roles may follow.
    `variables` are the user's values for variables of the suite. Raises UsageError for
    an unknown variable, a size below 1, and numbers that make no sense with this size (low > high).
    """
    scope = test.scope(table_size, tables, variables)
    sent = list(test.session_sql(dbms).values())
    session: Json = {"session_sql": sent} if sent else {}
    if not test.roles:
        return {
            "name": test.name,
            **session,
            **({"connect": True} if test.connect else {}),
            "transaction": test.transaction and not is_mixed(test.statements),
            "statements": _statements(test.statements, dbms, scope, test.suite_variables),
        }
    of_roles = {**scope, CLIENTS: clients}
    roles = [
        {
            **role_fields(role, of_roles),
            **({} if has_work(role.statements, dbms) else {"counted": False}),
            **session,
            "statements": _statements(role.statements, dbms, scope, test.suite_variables),
        }
        for role in test.roles
    ]
    return {"name": test.name, "roles": roles}


def statements_in(definition: Json) -> list[Json]:
    """All statements of a TEST, role after role."""
    return [statement for role in definition.get("roles", [definition]) for statement in role["statements"]]


LONGEST_PAUSE_US = 86_400_000_000

MakeSql = Callable[[Table], tuple[list[str], list[str]]]
"""The SQL of a table in some dialect: before its rows, and after them."""


def loads(suite: Suite, table_size: int, copies: int, make_sql: MakeSql) -> list[Json]:
    """`table` of the engine's `load` command, for each table in order."""
    scope = suite.scope(table_size, copies)
    return [_load(rules, table, scope, make_sql) for rules in suite.tables for table in rules.tables(scope)]


def _load(rules: TableRules, table: Table, scope: Variables, make_sql: MakeSql) -> Json:
    try:
        create, after = make_sql(table)
    except TypeLacking as error:
        raise rules.place.at("columns", error.column, "type").mistake(str(error)) from None
    rows = value_of(rules.rows, scope, rules.place.at("rows"))
    if rows < 0:
        raise rules.place.at("rows").mistake(f"table {table.name} would have {rows} rows; 0 or more is accepted.")
    columns = column_generators(rules, scope)
    made: Json = {"name": table.name, "rows": rows, "create": create, "columns": columns, "after": after}
    return made | ({"data": rules.staged.name, "rows": rules.row_count(scope)} if rules.staged else {})


def column_generators(rules: TableRules, scope: Variables) -> Json:
    """What fills the columns of a table, by name."""
    return _generators(rules.values, scope, {}, has_rows=True)


def operations_of(work: Work, test: Test, table_size: int, tables: int, clients: int = 1) -> int:
    """Operations of work with an end, of all its roles, the same for every target. Raises UsageError where there is none."""
    if test.loads:
        return load_plan(test, table_size, tables).rows_in_all
    if work.operations is None:
        return sum(operations_of_roles(test, table_size, tables, clients).values())
    place = test.place.at("operations")
    operations = value_of(work.operations, test.scope(table_size, tables), place)
    if operations < 1:
        raise place.mistake(f"operations is {operations}; 1 or more is accepted.")
    return operations


def work_words(suite: Suite, table_size: int, tables: int) -> list[str]:
    """What each test with an end does in a block: `load-orders: 200,000 operations in slices of 1,000 ms on each target`."""
    return [
        f"{test.name}: {_amount(test.work, test, table_size, tables)} on each target"
        for test in suite.tests.values()
        if test.work
    ]


def _amount(work: Work, test: Test, table_size: int, tables: int) -> str:
    if test.loads:
        return f"{load_words(test, table_size, tables)}, in slices of {work.slice_ms:,} ms"
    if test.is_single:
        return "one statement, undone afterwards," if work.undo else "one statement"
    slices = f"in slices of {work.slice_ms:,} ms"
    if not test.roles:
        return f"{count_of(operations_of(work, test, table_size, tables), 'operation')} {slices}"
    of_roles = operations_of_roles(test, table_size, tables, clients=1)
    shares = (f"{name} {count_of(operations, 'operation')}" for name, operations in of_roles.items())
    others = [role.name for role in test.roles if role.name not in of_roles]
    return ", ".join([*shares, *(f"{name} until these are done" for name in others)]) + f", {slices}"


def undo_sql(work: Work, dbms: str) -> str:
    """What takes back a single statement on a DBMS; "": nothing does. Raises UsageError where only others have one."""
    return fill(_sql(work.undo, dbms), 1, {}) if work.undo else ""


@dataclass(frozen=True)
class Sample:
    """A statement of a test with example values: literals in `sql`; $1, $2, … in `numbered`, which stand for `values`.

    `mode`: its own; None: that of the experiment.
    """

    name: str
    sql: str
    numbered: str
    values: tuple[str, ...]
    mode: str | None = None


def literal_statement(
    test: Test, dbms: str, table_size: int, tables: int = 1, variables: Variables | None = None
) -> list[tuple[str, str]]:
    """Name and SQL of each statement of a test with example values, for EXPLAIN. Raises as `definition`.

    The values are typical: the middle of what is drawn, the hottest value of a zipfian, lists spread over the range.
    """
    return [(one.name, one.sql) for one in samples(test, dbms, table_size, tables, variables)]


def samples(
    test: Test,
    dbms: str,
    table_size: int,
    tables: int = 1,
    variables: Variables | None = None,
    *,
    rare: bool = False,
) -> list[Sample]:
    """Each statement of a test with typical values, or with `rare` ones where some are drawn more often than others."""
    scope = test.scope(table_size, tables, variables)
    family = find_dbms(dbms).family
    drawn: dict[str, Example] = {}
    kinds: dict[str, str] = {}
    earlier: dict[str, Generator] = {}
    base = {**scope, **test.suite_variables}
    statements = []
    for key, statement in test.named_statements:
        if not statement.is_for(dbms):
            continue
        own = {**scope, **statement.variables}
        for name, made in _generators(statement.params, own, earlier, statement.appends is not None, base).items():
            parameter = statement.params[name.partition(".")[0]]
            known = example_of(parameter.generator)
            drawn[name] = example(made, drawn, rare=rare) if known is None else known
            kinds[name] = parameter.type or kinds[made["of"]]
        sample = _sample(key, _sql(statement, dbms), drawn, kinds, family)
        statements.append(replace(sample, mode=statement.mode))
        # in quotes it can stand for a number, and for a text
        kept = kept_by(statement)
        earlier |= kept
        drawn |= dict.fromkeys(kept, 1)
        kinds |= dict.fromkeys(kept, "text")
    return statements


def _sample(name: str, sql: str, drawn: Mapping[str, Example], kinds: Mapping[str, str], family: Family) -> Sample:
    parts = {
        one: [literals(part, kinds[one], family) for part in (value if isinstance(value, list) else [value])]
        for one, value in drawn.items()
    }
    numbers: dict[str, str] = {}
    used: list[str] = []
    for one in dict.fromkeys(placeholders(sql)):
        if one in parts:
            numbers[one] = ", ".join(f"${len(used) + place}" for place in range(1, len(parts[one]) + 1))
            used += parts[one]
    literal = {one: ", ".join(values) for one, values in parts.items()}
    return Sample(name, fill(sql, 1, literal), fill(sql, 1, literal | numbers), tuple(used))


def _sql(statement: Statement, dbms: str) -> str:
    sql = statement.sql_for(dbms)
    if not sql:
        known = ", ".join(sorted(statement.sql))
        raise statement.places[0].mistake(f"statement '{statement.name}' has no SQL for {dbms}, only for {known}.")
    return sql


def _statements(statements: Sequence[Statement], dbms: str, scope: Variables, suite_variables: Variables) -> list[Json]:
    base = {**scope, **suite_variables}
    referred = referred_to(statements)
    earlier: dict[str, Generator] = {}
    made = []
    for statement in (one for one in statements if one.is_for(dbms)):
        if statement.part:
            earlier = {}  # parts of a mix share nothing
        own = {**scope, **statement.variables}
        params = _generators(statement.params, own, earlier, statement.appends is not None, base)
        told = _statement(statement, dbms, own, base, params, referred)
        made.append(told | _special(statement, own, symbols(earlier)))
        earlier |= kept_by(statement)
    return made


def _special(statement: Statement, scope: Variables, known: Sequence[str]) -> Json:
    """What it keeps of its first row, and when it is left out."""
    keep: Json = {"keep": list(statement.keep)} if statement.keep else {}
    if statement.when is None:
        return keep
    return keep | {"when": of_row(statement.when, scope, known, statement.place_of("when"))}


def _statement(
    statement: Statement, dbms: str, scope: Variables, base: Variables, params: Json, referred: set[str]
) -> Json:
    sql = _sql(statement, dbms)
    # the SQL of one DBMS may do without a parameter that others need
    wanted = {*_with_starts(placeholders(sql)), *referred}
    made: Json = {
        "name": statement.name,
        "sql": sql,
        "repeat": value_of(statement.repeat, scope, statement.place_of("repeat")),
        "table": statement.table,
        "params": {name: generator for name, generator in params.items() if name in wanted},
    }
    if statement.answers != "exact":
        made["answers"] = statement.answers if statement.answers == "set" else {"tolerance": statement.answers}
    made |= {"mode": statement.mode} if statement.mode else {}
    made |= _pause(statement, scope)
    return made | _rows(statement, made, scope, base) | _part(statement.part, scope)


def _pause(statement: Statement, scope: Variables) -> Json:
    if statement.pause is None:
        return {}
    place = statement.place_of("pause")
    pause_us = value_of(statement.pause, scope, place)
    if not 1 <= pause_us <= LONGEST_PAUSE_US:
        raise place.mistake(f'pause is {pause_us} microseconds; a time up to a day is accepted, such as "10s".')
    return {"pause_ns": pause_us * 1000}


def _part(part: Part | None, scope: Variables) -> Json:
    if part is None:
        return {}
    weight = value_of(part.weight, scope, part.place)
    if weight < 1:
        raise part.place.mistake(f"weight is {weight}; 1 or more is accepted.")
    return {"part": {"name": part.name, "weight": weight, "transaction": part.transaction}}


def _rows(statement: Statement, made: Json, scope: Variables, base: Variables) -> Json:
    rows = value_of(statement.rows, scope, statement.place_of("rows"))
    values = sum(generator.get("count", 1) for generator in made["params"].values())
    in_text = 1 if statement.appends and statement.appends.oldest else rows
    if in_text > 1 and rows * values > MOST_VALUES and statement.mode != "text":
        raise statement.place_of("rows").mistake(
            f"statement '{statement.name}' would have {rows} rows of {values} values; {MOST_VALUES} values are accepted, "
            'and more with mode = "text".'
        )
    told: Json = {"rows": rows} if rows > 1 else {}
    if (appends := statement.appends) is not None:
        told["position"] = _position(appends, base)
    return told


def _position(appends: Append, base: Variables) -> Json:
    seed = zlib.crc32(appends.table.encode())
    if appends.oldest:
        return {"of": appends.table, "end": "oldest", "seed": seed}
    return {"of": appends.table, "from": value_of(appends.rows, base, appends.place), "seed": seed}


def _with_starts(names: list[str]) -> set[str]:
    """The end of a window follows from its start."""
    return {*names, *(f"{name.removesuffix('.to')}.from" for name in names if name.endswith(".to"))}


def _generators(
    parameters: Mapping[str, Parameter],
    scope: Variables,
    earlier: dict[str, Generator],
    has_rows: bool = False,
    base: Variables | None = None,
) -> Json:
    """All with concrete numbers. Each is added to `earlier`, which those after it may name.

    `base`: the suite's own variables, for columns that a statement fills as the load does.
    """
    made: Json = {}
    for name, parameter in parameters.items():
        made |= engine_generators(
            name, parameter, (base or scope) if parameter.column_type else scope, symbols(earlier, has_rows)
        )
        earlier[name] = parameter.generator
    return made
