"""A suite as read and checked: phases of tests, whose numbers may still depend on table size and variables."""

import fnmatch
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import groupby

from dbversus.dbms.known import find_dbms
from dbversus.dbms.sizes import VALUE_BYTES_PER_ROW
from dbversus.dbms.table import Table
from dbversus.dbms.types import width_bytes
from dbversus.errors import UsageError
from dbversus.names import near
from dbversus.suites.expression import Expression, evaluate
from dbversus.suites.generators import Generator
from dbversus.suites.source import Place

LOAD = "load"
LOADED, AGED = "loaded", "aged"
"""Data as the load leaves it, and after the suite's aging."""

# the reference's summary groups, in its order
GROUP_TITLES = {
    "point": "point queries",
    "range": "range queries without aggregation",
    "range-aggregate": "range queries with aggregation",
    "write": "writes",
}


def check_sizes(table_size: int, tables: int) -> None:
    """Raises UsageError for tables without rows, or none at all."""
    for name, value in (("table_size", table_size), ("tables", tables)):
        if value < 1:
            raise UsageError(f"{name} is {value}; 1 or more is accepted.")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a statement, or one column of a loaded table. Its generator may stand elsewhere in the file."""

    generator: Generator
    place: Place
    generator_place: Place


@dataclass(frozen=True)
class Statement:
    """One statement of a test. `sql` is by DBMS, "" for all not named. `table`: as in the engine's protocol.

    `places`: in the test, then in the file's [statements] when it comes from there.
    """

    name: str
    sql: Mapping[str, str]
    params: Mapping[str, Parameter]
    repeat: Expression
    mode: str | None
    table: str
    places: tuple[Place, ...]

    def place_of(self, key: str) -> Place:
        """Where `key` stands: in the test's own words, in the statement it uses, or else where the test names it."""
        return next((place.at(key) for place in self.places if place.has(key)), self.places[0])

    def sql_for(self, dbms: str) -> str:
        """The text for one DBMS, or that of the DBMS whose SQL it takes; "": the text for all others."""
        candidates = (dbms, find_dbms(dbms).sql_of if dbms else "", "")
        return next((self.sql[name] for name in candidates if name in self.sql), "")


@dataclass(frozen=True)
class Test:
    """One test of one phase. `base` is its name without the phase's suffix.

    `by_count`: slots are bounded by count instead of time, so that all targets do the same work; the default of tests that
    change data. `slow`: one operation takes long (it reads whole tables), so few fit into a slot. `warm_up`: run to warm
    caches, never reported.
    """

    __test__ = False  # pytest would take it for a class of tests

    name: str
    base: str
    title: str
    group: str
    note: str
    statements: tuple[Statement, ...]
    transaction: bool
    changes_data: bool
    by_count: bool
    slow: bool
    warm_up: bool
    rows_per_op: Expression | None
    suite_variables: Mapping[str, int]
    own_variables: Mapping[str, int]
    place: Place

    def scope(self, table_size: int, tables: int, variables: Mapping[str, int] | None = None) -> dict[str, int]:
        """All variables with their values: the test's own win over the user's `variables`, those over the suite's."""
        check_sizes(table_size, tables)
        given = dict(variables or {})
        known = self.suite_variables.keys() | self.own_variables.keys()
        for name in given:
            if name not in known:
                raise UsageError(f"Unknown variable '{name}'.{near(name, known)} Accepted: {', '.join(sorted(known))}.")
        return {**self.suite_variables, **given, **self.own_variables, "table_size": table_size, "tables": tables}

    def rows_scanned_per_op(self, table_size: int, tables: int) -> int | None:
        """Rows that one operation goes over, where that is a better count of work than operations (scans)."""
        return None if self.rows_per_op is None else evaluate(self.rows_per_op, self.scope(table_size, tables))


@dataclass(frozen=True)
class Phase:
    """Tests run one after another; `settle`: all debt is paid before the first.

    `data`: LOADED or AGED. Where that is another than of the phase before, servers are started anew on it.
    """

    name: str
    tests: tuple[Test, ...]
    settle: bool
    data: str = LOADED


@dataclass(frozen=True)
class Load:
    """How the load is reported: as the test `load`."""

    title: str
    note: str


@dataclass(frozen=True)
class TableRules:
    """One of the suite's tables, or several equal ones: what it is made like, how many rows it has and what these hold.

    `made_like`: with the name as in the file; `copies` None: there is one, of that name.
    """

    made_like: Table
    rows: Expression
    copies: Expression | None
    values: Mapping[str, Parameter]
    place: Place

    def tables(self, scope: Mapping[str, int]) -> list[Table]:
        """All equal ones. Their indexes have the table's number too: an index's name is its alone in some DBMSs."""
        if self.copies is None:
            return [self.made_like]
        return [self._copy(number) for number in range(1, evaluate(self.copies, scope) + 1)]

    def _copy(self, number: int) -> Table:
        indexes = tuple(replace(index, name=f"{index.name}_{number}") for index in self.made_like.indexes)
        return replace(self.made_like, name=f"{self.made_like.name}{number}", indexes=indexes)


@dataclass(frozen=True)
class Aging:
    """How loaded data becomes aged: `test` is driven for `operations`, in `rounds`, after each of which debt is paid."""

    test: Test
    operations: Expression
    rounds: int
    place: Place

    def operations_of_round(self, table_size: int, tables: int) -> int:
        """Operations of one round, the same for every target."""
        return max(1, evaluate(self.operations, self.test.scope(table_size, tables)) // self.rounds)


@dataclass(frozen=True)
class Suite:
    """An ordered list of phases. `selections`: named lists of globs; `probes`: what is measured of the host beforehand."""

    name: str
    title: str
    description: str
    load: Load
    tables: tuple[TableRules, ...]
    phases: tuple[Phase, ...]
    variables: Mapping[str, int]
    selections: Mapping[str, tuple[str, ...]]
    probes: tuple[str, ...] = ()
    aging: Aging | None = None

    def scope(self, table_size: int, copies: int) -> dict[str, int]:
        """The suite's variables, with the sizes that a user chooses."""
        check_sizes(table_size, copies)
        return {**self.variables, "table_size": table_size, "tables": copies}

    def made_tables(self, table_size: int, copies: int) -> list[Table]:
        """All tables that are loaded, in order."""
        scope = self.scope(table_size, copies)
        return [table for rules in self.tables for table in rules.tables(scope)]

    def usual_rows(self, table_size: int, copies: int) -> int:
        """As many rows of sysbench's table as the values of all rows come to: what estimates of room and time are made of."""
        scope = self.scope(table_size, copies)
        value_bytes = sum(
            evaluate(rules.rows, scope) * len(rules.tables(scope)) * _row_bytes(rules.made_like)
            for rules in self.tables
        )
        return round(value_bytes / VALUE_BYTES_PER_ROW)

    def table_words(self, table_size: int, copies: int) -> list[str]:
        """`2 × 1000000 rows` where all tables are equal; else `orders: 300000 rows`, for each."""
        scope = self.scope(table_size, copies)
        counts = [(one.made_like.name, len(one.tables(scope)), evaluate(one.rows, scope)) for one in self.tables]
        if len(counts) == 1:
            return [f"{counts[0][1]} × {counts[0][2]} rows"]
        return [f"{name}: {f'{number} × ' if number > 1 else ''}{rows} rows" for name, number, rows in counts]

    @property
    def table_stems(self) -> list[str]:
        """Names of the tables as the file has them, without numbers."""
        return [rules.made_like.name for rules in self.tables]

    @property
    def ages(self) -> bool:
        """Whether any phase needs aged data."""
        return any(phase.data == AGED for phase in self.phases)

    @property
    def stretches(self) -> list[tuple[str, list[Phase]]]:
        """The phases in order, those together that run on the same data, by kind of data."""
        return [(data, list(phases)) for data, phases in groupby(self.phases, lambda phase: phase.data)]

    @property
    def tests(self) -> dict[str, Test]:
        """All tests by name, warm-ups too, in the order in which they run."""
        return {test.name: test for phase in self.phases for test in phase.tests}

    @property
    def sequence(self) -> list[str]:
        """Names of all reported tests in order; the first is `load`."""
        return [LOAD, *(name for name, test in self.tests.items() if not test.warm_up)]

    def select(self, globs: str | None) -> "Suite":
        """The suite with only those tests that match one of the comma-separated globs or named selections.

        None selects all. Raises UsageError for a glob that matches nothing. A warm-up stays as long as its phase has
        a selected test.
        """
        if globs is None:
            return self
        wanted = {name for glob in self._globs(globs) for name in self.matches(glob)}
        return replace(self, phases=tuple(_kept(self.phases, lambda test: test.name in wanted)))

    def matches(self, glob: str) -> list[str]:
        """Names of the reported tests that match `glob`; raises UsageError when there is none."""
        if found := self.finds(glob):
            return found
        known = [*self.sequence, *self.selections]
        raise UsageError(
            f"No test of suite {self.name} matches '{glob}'.{near(glob, known)} Accepted: names and globs such as "
            f"'point-*', and the selections {', '.join(self.selections) or '(none)'}; "
            f"`dbversus suites show {self.name}` lists all tests."
        )

    def finds(self, glob: str) -> list[str]:
        """As `matches`, empty when there is none."""
        return fnmatch.filter(self.sequence, glob)

    def _globs(self, text: str) -> Iterable[str]:
        items = [item.strip() for item in text.split(",") if item.strip()]
        if not items:
            raise UsageError("The list of tests is empty; names and globs such as 'point-*,scan' are accepted.")
        for item in items:
            yield from self.selections.get(item, (item,))


def _row_bytes(table: Table) -> int:
    return sum(width_bytes(column.type) for column in table.columns)


def _kept(phases: Iterable[Phase], wanted: Callable[[Test], bool]) -> Iterable[Phase]:
    for phase in phases:
        tests = tuple(test for test in phase.tests if wanted(test) or test.warm_up)
        if any(not test.warm_up for test in tests):
            yield replace(phase, tests=tests)
