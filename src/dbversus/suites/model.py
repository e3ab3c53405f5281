"""A suite as read and checked: phases of tests, whose numbers may still depend on table size and variables."""

import fnmatch
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path

from dbversus.dbms.known import find_dbms
from dbversus.dbms.sizes import VALUE_BYTES_PER_ROW
from dbversus.dbms.sql.session import utf8_sql
from dbversus.dbms.sql.table import Table
from dbversus.dbms.sql.types import width_bytes
from dbversus.errors import UsageError
from dbversus.names import did_you_mean, split_names
from dbversus.suites.data.file import DataFile
from dbversus.suites.data.generators import FromLoaded
from dbversus.suites.data.staged import Staged
from dbversus.suites.expression import Expression, evaluate
from dbversus.suites.file.generators import Generator, natural_type
from dbversus.suites.file.settings import Settings, key_of, session_sql, settings_for
from dbversus.suites.file.source import Place
from dbversus.suites.scripts import included
from dbversus.suites.variables import Variable, Variables

LOAD = "load"
EMPTY, LOADED, AGED = "empty", "loaded", "aged"
"""Tables without rows and secondary indexes, data as the load leaves it, and data after the suite's aging."""

# the reference's summary groups, in its order; a suite may add its own
GROUP_TITLES = {
    "point": "point queries",
    "range": "range queries without aggregation",
    "range-aggregate": "range queries with aggregation",
    "write": "writes",
}

# SQL is some five times as large as gzip makes it
_UNPACKED = 5


def check_sizes(table_size: int, tables: int) -> None:
    """Raises UsageError for tables without rows, or none at all."""
    for name, value in (("table_size", table_size), ("tables", tables)):
        if value < 1:
            raise UsageError(f"{name} is {value}; 1 or more is accepted.")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a statement, or one column of a loaded table. Its generator may stand elsewhere in the file.

    `column_type`: of a column; else the generator says the type of its values.
    """

    generator: Generator
    place: Place
    generator_place: Place
    column_type: str = ""

    @property
    def type(self) -> str:
        """The neutral type of its values; "" for that of what it refers to."""
        return self.column_type or self.generator.type or natural_type(self.generator)


@dataclass(frozen=True)
class Part:
    """One of the things that an operation of a mix may be; `weight`: how often, beside the weights of the others."""

    name: str
    weight: Expression
    transaction: bool
    place: Place


@dataclass(frozen=True)
class Append:
    """Rows that go on where the load of a table has ended, which has `rows`; `oldest`: those that go at its other end."""

    table: str
    rows: Expression
    place: Place
    oldest: bool = False


@dataclass(frozen=True)
class Statement:
    """One statement of a test. `sql` is by DBMS, "" for all not named. `table`: as in the engine's protocol. `rows`: of an
    INSERT, each with values of its own.

    `places`: in the test, then in the file's [statements] when it comes from there. `answers`: "exact", "set" (rows in any
    order), or the tolerance with which numbers are compared. `part`: what begins with it, in a mix. `variables`: those of the
    test that a mix has it from, which win over all others. `only`: the DBMSs that have it, when not all do.
    """

    name: str
    sql: Mapping[str, str]
    params: Mapping[str, Parameter]
    repeat: Expression
    mode: str | None
    table: str
    places: tuple[Place, ...]
    rows: Expression = 1
    appends: Append | None = None
    part: Part | None = None
    variables: Variables = field(default_factory=dict)
    answers: str | float = "exact"
    only: tuple[str, ...] = ()
    pause: Expression | None = None
    """Time for which the client waits after it, in microseconds."""
    keep: tuple[str, ...] = ()
    """Names for the values of its first row, by column; "_" for those that nothing needs."""
    when: Expression | None = None
    """Of earlier values; where it gives 0, the statement is left out."""

    def is_for(self, dbms: str) -> bool:
        return not self.only or dbms in self.only

    @property
    def words(self) -> str:
        """For eyes: in a mix what begins with it, how often it is run, and its text."""
        part = f"{self.part.name}, weight {self.part.weight}:\n" if self.part else ""
        when = "" if self.when is None else f"when {self.when}: "
        keep = f"\nkeeps {', '.join(name for name in self.keep if name != '_')}" if self.keep else ""
        return f"{part}{when}{self.repeat} × {self.example_sql}{keep}"

    def place_of(self, key: str) -> Place:
        """Where `key` stands: in the test's own words, in the statement it uses, or else where the test names it."""
        return next((place.at(key) for place in self.places if place.has(key)), self.places[0])

    @property
    def example_sql(self) -> str:
        """The text for all DBMSs, or else for the first that has one."""
        return self.sql.get("") or next(iter(self.sql.values()))

    def place_of_sql(self, dbms: str) -> Place:
        """Where the text for one DBMS stands; "": any."""
        own = (f"sql_{name}" for name in (dbms, find_dbms(dbms).sql_of if dbms else "") if name)
        keys = (*own, "sql", *(f"sql_{name}" for name in self.sql))
        found = (place.at(key) for place in self.places for key in keys if place.has(key))
        return next(found, self.places[0])

    def sql_for(self, dbms: str) -> str:
        """The text for one DBMS, or that of the DBMS whose SQL it takes; "": the text for all others."""
        candidates = (dbms, find_dbms(dbms).sql_of if dbms else "", "")
        return next((self.sql[name] for name in candidates if name in self.sql), "")


STEP, STATEMENT = "step", "statement"
"""Kinds of work with an end (`kind` of a test in a suite)."""


@dataclass(frozen=True)
class Work:
    """Work with an end, which a block measures once and whole: so many `operations`, or a single statement, which is one.

    `operations` None: the test's roles have their own.

    `slice_ms`: driven time after which the next target has its turn; 0: it has it when the work is done. `undo`: takes back what
    a single statement did, unmeasured.
    """

    kind: str
    operations: Expression | None
    slice_ms: int = 0
    undo: Statement | None = None


@dataclass(frozen=True)
class Arrivals:
    """When operations are due: `kind` as in the engine's protocol, `rate` per second; `size`: of a burst."""

    kind: str
    rate: Expression | float
    size: Expression | None


def has_work(statements: Iterable[Statement], dbms: str) -> bool:
    """Whether any of them is for this DBMS."""
    return any(statement.is_for(dbms) for statement in statements)


@dataclass(frozen=True)
class Role:
    """A kind of clients of a test. `arrivals` None: a closed loop. `counts`: its operations are operations of the test.

    `sla`: the share of its rate that has to be done; None in a closed loop.

    Numbers may name `clients`, the number that the experiment asks for. Of a step: `operations` in all, None: it goes on until
    the other roles have done theirs; `follows`: the role after whose n-th operation it does its own, `lead`: by how many that one
    may be ahead.
    """

    name: str
    statements: tuple[Statement, ...]
    transaction: bool
    clients: Expression
    arrivals: Arrivals | None
    counts: bool
    place: Place
    sla: float | None = None
    operations: Expression | None = None
    follows: str | None = None
    lead: Expression | None = None


@dataclass(frozen=True)
class Test:
    """One test of one phase. `base` is its name without the phase's suffix.

    `by_count`: slots are bounded by count instead of time, so that all targets do the same work; the default of tests that
    change data. `slow`: one operation takes long (it reads whole tables), so few fit into a slot. `warm_up`: run to warm
    caches, never reported. `roles`: kinds of clients; `statements` are those of all of them then. `work`: what a block
    measures whole; None: slots at a steady state. `connect`: an operation opens a connection, and closes it after its
    statements, if there are any.
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
    suite_variables: Variables
    own_variables: Variables
    place: Place
    roles: tuple[Role, ...] = ()
    work: Work | None = None
    connect: bool = False

    def idle_on(self, dbms: Iterable[str]) -> list[str]:
        """Those of these DBMSs on which it does nothing: none of its statements is for them."""
        if self.connect or not self.statements:
            return []
        return [name for name in dict.fromkeys(dbms) if not has_work(self.statements, name)]

    @property
    def named_statements(self) -> list[tuple[str, Statement]]:
        """All statements by name; those of a role as `role/statement`."""
        if not self.roles:
            return [(statement.name, statement) for statement in self.statements]
        return [(f"{role.name}/{statement.name}", statement) for role in self.roles for statement in role.statements]

    settings: Mapping[str, Settings] = field(default_factory=dict)
    work_per_op: Mapping[str, Expression] = field(default_factory=dict)
    builds_on: tuple[str, ...] = ()
    """Names of tests whose changes it needs."""
    against: str = ""
    """Name of the test that it is another form of, and is judged against on each target."""
    on_own_schema: bool = False
    """Whether scripts make tables, which may keep their texts in any character set."""
    loads: tuple["TableRules", ...] = ()
    """Of the load as a test: the tables that it fills. Its operation is a row."""

    def session_sql(self, dbms: str) -> dict[str, str]:
        """Name of a setting → what each connection of the test executes first."""
        names = utf8_sql(dbms) if self.on_own_schema else ""
        return ({"names": names} if names else {}) | session_sql(self.settings, dbms)

    def settings_for(self, dbms: str) -> Settings:
        return settings_for(self.settings, dbms)

    def place_of_setting(self, dbms: str, name: str) -> Place:
        return self.place.at(f"settings_{key_of(self.settings, dbms)}", name)

    def scope(self, table_size: int, tables: int, variables: Variables | None = None) -> dict[str, Variable]:
        """All variables with their values: the test's own win over the user's `variables`, those over the suite's."""
        check_sizes(table_size, tables)
        given = dict(variables or {})
        known = self.suite_variables.keys() | self.own_variables.keys()
        for name in given:
            if name not in known:
                raise UsageError(
                    f"Unknown variable '{name}'.{did_you_mean(name, known)} Accepted: {', '.join(sorted(known))}."
                )
        return {**self.suite_variables, **given, **self.own_variables, "table_size": table_size, "tables": tables}

    def rows_scanned_per_op(self, table_size: int, tables: int) -> int | None:
        """Rows that one operation goes over, where that is a better count of work than operations (scans)."""
        return None if self.rows_per_op is None else evaluate(self.rows_per_op, self.scope(table_size, tables))

    def work_of_op(self, table_size: int, tables: int) -> dict[str, int]:
        """What one operation goes through, by what is counted: `{"metrics": 10}`."""
        scope = self.scope(table_size, tables)
        return {name: evaluate(count, scope) for name, count in self.work_per_op.items()}

    @property
    def is_single(self) -> bool:
        """Whether it is a single statement, which one client sends."""
        return self.work is not None and self.work.kind == STATEMENT

    @property
    def has_one_client(self) -> bool:
        """Whether one client does it, however many others have."""
        return self.is_single or bool(self.loads)

    @property
    def leaves_changes(self) -> bool:
        """Whether later tests see other data for it."""
        return self.changes_data and not (self.work and self.work.undo)


@dataclass(frozen=True)
class Phase:
    """Tests run one after another; `settle`: all debt is paid before the first; `vacuum`: PostgreSQL vacuums its tables, no more.

    `data`: LOADED or AGED, of the load as a test EMPTY. Where that is another than of the phase before, servers are started
    anew on it.
    """

    name: str
    tests: tuple[Test, ...]
    settle: bool
    data: str = LOADED
    vacuum: bool = False

    @property
    def reported_tests(self) -> list[Test]:
        """Those that are no warm-ups."""
        return [test for test in self.tests if not test.warm_up]


@dataclass(frozen=True)
class Load:
    """How the load is reported: as the test `load`."""

    title: str
    note: str


@dataclass(frozen=True)
class TableRules:
    """One of the suite's tables, or several equal ones: what it is made like, how many rows it has and what these hold.

    `made_like`: with the name as in the file; `copies` None: there is one, of that name. `staged`: what it takes from a file.
    """

    made_like: Table
    rows: Expression
    copies: Expression | None
    values: Mapping[str, Parameter]
    place: Place
    staged: Staged | None = None
    rows_at_end: Expression | None = None

    def row_count(self, scope: Variables) -> int:
        """Rows of one table; a file has no more than it has."""
        rows = evaluate(self.rows, scope)
        return rows if self.staged is None else min(rows, self.staged.rows)

    def tables(self, scope: Variables) -> list[Table]:
        """All equal ones. Their indexes have the table's number too: an index's name is its alone in some DBMSs."""
        rows = self.row_count(scope) if self.rows_at_end is None else evaluate(self.rows_at_end, scope)
        like = replace(self.made_like, rows_at_end=rows)
        if self.copies is None:
            return [like]
        return [self._copy(like, number) for number in range(1, evaluate(self.copies, scope) + 1)]

    @staticmethod
    def _copy(like: Table, number: int) -> Table:
        indexes = tuple(replace(index, name=f"{index.name}_{number}", made_as=index.name) for index in like.indexes)
        return replace(like, name=f"{like.name}{number}", indexes=indexes, made_as=like.name)


@dataclass(frozen=True)
class Script:
    """A file of SQL, or a dump. `file`: its place beside the suite in a folder of results; `beside`: the folder from which it may
    include others; `place`: where the suite names it.
    """

    path: Path
    file: str
    beside: Path
    place: Place

    @cached_property
    def files(self) -> dict[str, Path]:
        """Itself and those that it includes, by their place in a folder of results."""
        folder = self.file.split("-")[0]
        more = {f"{folder}/{one.relative_to(self.beside)}": one for one in included(self.path, self.beside)}
        return {self.file: self.path, **more}

    @cached_property
    def sha256s(self) -> list[str]:
        """Of its files."""
        return [_sha256(path) for path in self.files.values()]

    @property
    def text_bytes(self) -> int:
        """About as much as they unpack to."""
        return sum(one.stat().st_size * (_UNPACKED if one.suffix == ".gz" else 1) for one in self.files.values())


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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
    """An ordered list of phases. `selections`: named lists of globs; `probes`: what is measured of the host beforehand.

    `scripts`: what is run after the tables are loaded, in order, by DBMS, "" for all not named.
    """

    name: str
    title: str
    description: str
    load: Load
    tables: tuple[TableRules, ...]
    phases: tuple[Phase, ...]
    variables: Variables
    selections: Mapping[str, tuple[str, ...]]
    probes: tuple[str, ...] = ()
    aging: Aging | None = None
    scripts: Mapping[str, tuple["Script", ...]] = field(default_factory=dict)
    group_titles: Mapping[str, str] = field(default_factory=lambda: GROUP_TITLES)
    data: tuple[DataFile, ...] = ()
    spelled: str = ""
    """As commands take it: the path of a file that does not come with dbversus."""

    def scope(self, table_size: int, copies: int) -> dict[str, Variable]:
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
            rules.row_count(scope) * len(rules.tables(scope)) * _row_bytes(rules) for rules in self.tables
        )
        script_bytes = max((sum(one.text_bytes for one in each) for each in self.scripts.values()), default=0)
        return round((value_bytes + script_bytes) / VALUE_BYTES_PER_ROW)

    def scripts_for(self, dbms: str) -> tuple[Script, ...]:
        """Those of a DBMS, or of the one whose SQL it takes, or those for all others."""
        candidates = (dbms, find_dbms(dbms).sql_of, "")
        return next((self.scripts[name] for name in candidates if name in self.scripts), ())

    def table_words(self, table_size: int, copies: int, dbms: Iterable[str] = ()) -> list[str]:
        """`2 × 1,000,000 rows` where all tables are equal; else `orders: 300,000 rows`, for each, and the scripts for `dbms`."""
        scope = self.scope(table_size, copies)
        counts = [(one.made_like.name, len(one.tables(scope)), one.row_count(scope)) for one in self.tables]
        names = dict.fromkeys(script.path.name for name in dbms for script in self.scripts_for(name))
        if len(counts) == 1 and not names:
            return [f"{counts[0][1]} × {counts[0][2]:,} rows"]
        return [f"{name}: {f'{number} × ' if number > 1 else ''}{rows:,} rows" for name, number, rows in counts] + [
            f"what {name} makes" for name in names
        ]

    @property
    def table_stems(self) -> list[str]:
        """Names of the tables as the file has them, without numbers."""
        return [rules.made_like.name for rules in self.tables]

    @property
    def staged(self) -> list[Staged]:
        """All that tables and tests take from data files, to be written before the engine asks for it."""
        statements = [statement for test in (*self.tests.values(), *self._aged_by) for statement in test.statements]
        drawn = [parameter.generator for rules in (*self.tables,) for parameter in rules.values.values()]
        drawn += [parameter.generator for statement in statements for parameter in statement.params.values()]
        found = [rules.staged for rules in self.tables] + [getattr(one, "staged", None) for one in drawn]
        return list({one.name: one for one in found if one is not None}.values())

    @property
    def drawn_when_loaded(self) -> list[FromLoaded]:
        """What tests draw from tables that scripts fill: once they are loaded, such values are kept."""
        statements = [statement for test in (*self.tests.values(), *self._aged_by) for statement in test.statements]
        drawn = (parameter.generator for statement in statements for parameter in statement.params.values())
        return list({one.file: one for one in drawn if isinstance(one, FromLoaded)}.values())

    @property
    def _aged_by(self) -> list[Test]:
        return [self.aging.test] if self.aging else []

    @property
    def ages(self) -> bool:
        """Whether any phase needs aged data."""
        return any(phase.data == AGED for phase in self.phases)

    @property
    def needs_rows(self) -> bool:
        """Whether any phase begins with data: all but the load do."""
        return any(phase.data != EMPTY for phase in self.phases)

    @property
    def stretches(self) -> list[tuple[str, list[Phase]]]:
        """The phases in order, those together that run on the same data, by kind of data."""
        return [(data, list(phases)) for data, phases in groupby(self.phases, lambda phase: phase.data)]

    @property
    def tests(self) -> dict[str, Test]:
        """All tests by name, warm-ups too, in the order in which they run."""
        return {test.name: test for phase in self.phases for test in phase.tests}

    @property
    def reported_tests(self) -> list[Test]:
        """Those that are no warm-ups, in order."""
        return [test for test in self.tests.values() if not test.warm_up]

    @property
    def is_pass(self) -> bool:
        """Whether tests build on others, so that a block measures all of them, as long as one is undecided."""
        return any(test.builds_on for test in self.tests.values())

    @property
    def sequence(self) -> list[str]:
        """Names of all reported tests in order; the first is `load`."""
        return [LOAD, *(test.name for test in self.reported_tests if test.name != LOAD)]

    def select(self, globs: str | None) -> "Suite":
        """The suite with only those tests that match one of the comma-separated globs or named selections.

        None selects all. Raises UsageError for a glob that matches nothing. A warm-up stays as long as its phase has
        a selected test.
        """
        if globs is None:
            return self
        wanted = {name for glob in self._globs(globs) for name in self.matches(glob)}
        wanted |= {test.against for name, test in self.tests.items() if name in wanted}
        return replace(self, phases=tuple(_kept(self.phases, lambda test: test.name in wanted)))

    def without_idle(self, dbms: Sequence[str]) -> "Suite":
        """Without tests that do nothing on one of these DBMSs, where there would be nothing to compare."""
        if not any(test.idle_on(dbms) for test in self.tests.values()):
            return self
        return replace(self, phases=tuple(_kept(self.phases, lambda test: not test.idle_on(dbms))))

    def matches(self, glob: str) -> list[str]:
        """Names of the reported tests that match `glob`; raises UsageError when there is none."""
        if found := self.finds(glob):
            return found
        known = [*self.sequence, *self.selections]
        raise UsageError(
            f"No test of suite {self.name} matches '{glob}'.{did_you_mean(glob, known)} Accepted: names and globs such as "
            f"'point-*', and the selections {', '.join(self.selections) or '(none)'}; "
            f"`dbversus suites show {self.spelled or self.name}` lists all tests."
        )

    def finds(self, glob: str) -> list[str]:
        """As `matches`, empty when there is none."""
        return fnmatch.filter(self.sequence, glob)

    def _globs(self, text: str) -> Iterable[str]:
        items = split_names(text)
        if not items:
            raise UsageError("The list of tests is empty; names and globs such as 'point-*,scan' are accepted.")
        for item in items:
            yield from self.selections.get(item, (item,))


def _row_bytes(rules: TableRules) -> int:
    """What a file of texts fills may be of any type: its columns tell more than those of the table."""
    types = [column.type for column in rules.made_like.columns]
    if rules.staged and rules.made_like.made_by_scripts:
        types = rules.staged.types_of_file
    return sum(map(width_bytes, types))


def _kept(phases: Iterable[Phase], wanted: Callable[[Test], bool]) -> Iterable[Phase]:
    for phase in phases:
        tests = tuple(test for test in phase.tests if wanted(test) or test.warm_up)
        if any(not test.warm_up for test in tests):
            yield replace(phase, tests=tests)
