"""From a test to what is sent: the engine's TEST (docs/engine-protocol.md), a table to load, statements to explain."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from dbversus.dbms.table import Table
from dbversus.suites.check import check_bounds, value_of
from dbversus.suites.generators import Bounded, Ref
from dbversus.suites.model import Parameter, Statement, Suite, TableRules, Test
from dbversus.suites.sql import Value, fill, placeholders

Json = dict[str, Any]


def definition(
    test: Test, dbms: str, table_size: int, tables: int = 1, variables: Mapping[str, int] | None = None
) -> Json:
    """TEST for the engine with every number concrete.

    `table_size` is rows per table. `variables` are the user's values for variables of the suite. Raises UsageError for
    an unknown variable, a size below 1, and numbers that make no sense with this size (low > high).
    """
    scope = test.scope(table_size, tables, variables)
    return {
        "name": test.name,
        "transaction": test.transaction,
        "statements": [_statement(statement, dbms, scope, _referred_to(test)) for statement in test.statements],
    }


MakeSql = Callable[[Table], tuple[list[str], list[str]]]
"""The SQL of a table in some dialect: before its rows, and after them."""


def loads(suite: Suite, table_size: int, copies: int, make_sql: MakeSql) -> list[Json]:
    """`table` of the engine's `load` command, for each table in order."""
    scope = suite.scope(table_size, copies)
    return [_load(rules, table, scope, make_sql) for rules in suite.tables for table in rules.tables(scope)]


def _load(rules: TableRules, table: Table, scope: Mapping[str, int], make_sql: MakeSql) -> Json:
    create, after = make_sql(table)
    rows = value_of(rules.rows, scope, rules.place.at("rows"))
    if rows < 0:
        raise rules.place.at("rows").mistake(f"table {table.name} would have {rows} rows; 0 or more is accepted.")
    columns = {name: _generator(name, parameter, scope) for name, parameter in rules.values.items()}
    return {"name": table.name, "rows": rows, "create": create, "columns": columns, "after": after}


def literal_statement(
    test: Test, dbms: str, table_size: int, tables: int = 1, variables: Mapping[str, int] | None = None
) -> list[tuple[str, str]]:
    """Name and SQL of each statement of a test with example values, for EXPLAIN. Raises as `definition`.

    The values are typical: the middle of what is drawn, the hottest value of a zipfian, lists spread over the range.
    """
    scope = test.scope(table_size, tables, variables)
    drawn: dict[str, Value] = {}
    statements = []
    for statement in test.statements:
        for name, parameter in statement.params.items():
            drawn[name] = _example(_generator(name, parameter, scope), drawn)
        statements.append((statement.name, fill(_sql(statement, dbms), 1, drawn)))
    return statements


def _sql(statement: Statement, dbms: str) -> str:
    sql = statement.sql_for(dbms)
    if not sql:
        known = ", ".join(sorted(statement.sql))
        raise statement.places[0].mistake(f"statement '{statement.name}' has no SQL for {dbms}, only for {known}.")
    return sql


def _referred_to(test: Test) -> set[str]:
    generators = (param.generator for statement in test.statements for param in statement.params.values())
    return {generator.of for generator in generators if isinstance(generator, Ref)}


def _statement(statement: Statement, dbms: str, scope: Mapping[str, int], referred_to: set[str]) -> Json:
    sql = _sql(statement, dbms)
    wanted = {*placeholders(sql), *referred_to}  # the SQL of one DBMS may do without a parameter that others need
    made: Json = {
        "name": statement.name,
        "sql": sql,
        "repeat": value_of(statement.repeat, scope, statement.place_of("repeat")),
        "table": statement.table,
        "params": {
            name: _generator(name, parameter, scope) for name, parameter in statement.params.items() if name in wanted
        },
    }
    return made | ({"mode": statement.mode} if statement.mode else {})


def _generator(name: str, parameter: Parameter, scope: Mapping[str, int]) -> Json:
    generator, place = parameter.generator, parameter.generator_place
    if isinstance(generator, Bounded):
        check_bounds(name, generator, scope, place)
    made: Json = generator.model_dump(exclude_none=True)
    for field in generator.expressions:
        if field in made:
            made[field] = value_of(made[field], scope, place.at(field))
    return made


def _example(generator: Json, drawn: Mapping[str, Value]) -> Value:
    """One typical value of a generator whose numbers are concrete."""
    first = _first_example(generator, drawn)
    count = generator.get("count")
    if count is None or isinstance(first, str | list):
        return first
    if generator.get("consecutive") or "high" not in generator:
        return list(range(first, first + count))
    low, high = generator["low"], generator["high"]
    return [low + (high - low) * (2 * index + 1) // (2 * count) for index in range(count)]


def _first_example(generator: Json, drawn: Mapping[str, Value]) -> Value:
    match generator["gen"]:
        case "text":
            return re.sub("[#@]", lambda mark: {"#": "5", "@": "m"}[mark[0]], generator["template"])
        case "constant":
            value: int | str = generator["value"]
            return value
        case "ref":
            referred = drawn[generator["of"]]
            return referred + int(generator.get("add", 0)) if isinstance(referred, int) else referred
        case "sequence":
            return int(generator.get("start", 1))
        case "zipfian" | "pareto":
            return int(generator["low"])
        case _:
            return (int(generator["low"]) + int(generator["high"])) // 2
