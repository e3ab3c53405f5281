"""The load of a suite's tables as a test: a step that every block measures, before all other tests (`judge_load`)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dbversus.dbms.sizes import VALUE_BYTES_PER_ROW
from dbversus.dbms.sql.types import width_bytes
from dbversus.errors import UsageError
from dbversus.suites.assembly.work import SLICE_MS
from dbversus.suites.expression import evaluate
from dbversus.suites.model import EMPTY, LOAD, STEP, Append, Phase, Statement, Suite, TableRules, Test, Work
from dbversus.suites.sql import insert_sql
from dbversus.suites.variables import Variables

MOST_BYTES = 500_000 * VALUE_BYTES_PER_ROW
"""Of the values of all rows: those of half a million rows of sysbench's table. A larger load would take minutes of each block."""

STATEMENT_ROWS, STATEMENT_BYTES = 1000, 1000 * VALUE_BYTES_PER_ROW
"""Of an INSERT, at most. The reference sends some 500 kB; with fewer rows, commits would be most of what is measured."""


@dataclass(frozen=True)
class LoadPlan:
    """`rounds`, each of an INSERT of `rows[name]` rows into every copy of a table, by its name in the suite.

    `copies`: how many equal tables there are. Tables that would get less than a row in each round are not in it.
    """

    rounds: int
    rows: Mapping[str, int]
    copies: Mapping[str, int]

    @property
    def rows_of_round(self) -> int:
        return sum(rows * self.copies[name] for name, rows in self.rows.items())

    @property
    def rows_in_all(self) -> int:
        return self.rounds * self.rows_of_round


def load_plan(test: Test, table_size: int, tables: int) -> LoadPlan:
    """What the load as a test does with tables of one size: as many rows as the suite's tables have, or MOST_BYTES of them."""
    scope = test.scope(table_size, tables)
    copies = {_name(rules): _copies(rules, scope) for rules in test.loads}
    wanted = {_name(rules): rules.row_count(scope) for rules in test.loads}
    widths = {_name(rules): _row_bytes(rules) for rules in test.loads}
    value_bytes = sum(wanted[name] * copies[name] * widths[name] for name in wanted)
    share = min(1.0, MOST_BYTES / value_bytes) if value_bytes else 0.0
    rows = {name: round(count * share) for name, count in wanted.items()}
    most = {name: max(1, min(STATEMENT_ROWS, STATEMENT_BYTES // width)) for name, width in widths.items()}
    rounds = max((-(-rows[name] // most[name]) for name in rows), default=0)
    of_round = {name: count // rounds for name, count in rows.items() if rounds and count >= rounds}
    return LoadPlan(rounds, of_round, {name: copies[name] for name in of_round})


def _name(rules: TableRules) -> str:
    return rules.made_like.name


def _copies(rules: TableRules, scope: Variables) -> int:
    return 1 if rules.copies is None else evaluate(rules.copies, scope)


def _row_bytes(rules: TableRules) -> int:
    return max(1, sum(width_bytes(column.type) for column in rules.made_like.columns))


def load_words(test: Test, table_size: int, tables: int) -> str:
    """`500,000 of 2,000,000 rows, 1,000 to an INSERT, then indexes`: for a plan."""
    plan = load_plan(test, table_size, tables)
    each = " or ".join(f"{rows:,}" for rows in dict.fromkeys(plan.rows.values()))
    scope = test.scope(table_size, tables)
    whole = sum(rules.row_count(scope) * _copies(rules, scope) for rules in test.loads)
    of_all = f" of {whole:,}" if plan.rows_in_all < whole else ""
    return f"{plan.rows_in_all:,}{of_all} rows, {each} to an INSERT, then indexes"


def with_judged_load(suite: Suite, table_size: int, tables: int) -> Suite:
    """The suite with its load as the first test, on tables without rows; raises UsageError where there is no load to repeat."""
    if suite.scripts:
        raise UsageError(
            f"judge_load repeats the load of tables whose rows a suite generates; suite {suite.name} has scripts ([setup])."
        )
    filed = next((rules for rules in suite.tables if rules.staged), None)
    if filed:
        raise UsageError(
            f"judge_load repeats the load of tables whose rows a suite generates; the rows of table {_name(filed)} of suite "
            f"{suite.name} come from a file."
        )
    test = _test(suite)
    if not load_plan(test, table_size, tables).rounds:
        raise UsageError(
            f"judge_load repeats the load of tables, and those of suite {suite.name} begin empty: its own tests fill them."
        )
    phase = Phase("load", (test,), settle=False, data=EMPTY)
    return replace(suite, phases=(phase, *suite.phases), group_titles={LOAD: "load", **suite.group_titles})


def _test(suite: Suite) -> Test:
    return Test(
        name=LOAD,
        base=LOAD,
        title=suite.load.title,
        group=LOAD,
        note=suite.load.note,
        statements=tuple(_statement(rules) for rules in suite.tables),
        transaction=False,
        changes_data=True,
        by_count=True,
        slow=False,
        warm_up=False,
        rows_per_op=None,
        suite_variables=suite.variables,
        own_variables={},
        place=suite.tables[0].place,
        work=Work(STEP, None, SLICE_MS),
        loads=suite.tables,
    )


def _statement(rules: TableRules) -> Statement:
    """An INSERT as files say it; what is sent names each table, and has many rows (suites/send/judged_load.py)."""
    name = _name(rules)
    return Statement(
        name=name,
        sql={"": insert_sql(f"{name}{{table}}" if rules.copies is not None else name, list(rules.values))},
        params=rules.values,
        repeat=1,
        mode=None,
        table="client",
        places=(rules.place,),
        appends=Append(name, rules.rows, rules.place.at("rows")),
    )
