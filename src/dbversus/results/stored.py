"""Stored results as statistics and reports see them: what was measured on which target, and how it is asked for."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import duckdb

from dbversus.errors import UsageError
from dbversus.results.attributed import attributed_load, not_own
from dbversus.results.columns import Columns
from dbversus.results.latency import Latency, decode, merge, read_log
from dbversus.results.layout import Layout, lay_out
from dbversus.results.parquet import is_sealed
from dbversus.results.records import (
    AnyRecord,
    Check,
    Experiment,
    Failure,
    Finished,
    Imported,
    Load,
    Objects,
    Record,
    Slots,
    State,
    of_type,
)
from dbversus.results.records import Latency as LatencyRecord
from dbversus.results.schema import (
    JOURNAL,
    LATENCY,
    LOAD_TEST,
    ROLE_COLUMNS,
    SERVERS,
    SLOT_COLUMNS,
    SUITE,
    is_load,
)
from dbversus.results.sql import columns_of, database_with, names, run_sql
from dbversus.results.tables.amounts import AMOUNTS
from dbversus.results.tables.imported import TABLES as IMPORTED_TABLES
from dbversus.results.tables.imported import imported_table
from dbversus.results.tables.loads import load_row, own_loads
from dbversus.results.tables.registry import TABLES
from dbversus.results.tables.roles import role_columns
from dbversus.results.tables.table import Recorded, ResultTable, Row
from dbversus.results.tables.timeline import TIMELINE, whole_tests
from dbversus.results.write import safe_name

if TYPE_CHECKING:
    from dbversus.suites.model import Test

R = TypeVar("R", bound=Record)


@dataclass(frozen=True)
class Target:
    """A target of the experiment: `name` in the journal and in file names (`t0`), `label` for people.

    `spelled`: what it is, where `label` is a name that it was given.
    """

    name: str
    label: str
    dbms: str
    version: str
    config: str
    spelled: str | None = None

    @property
    def written(self) -> str:
        """As a target is written: `postgres:13.1@x`, of one with a name and of the second of two equal ones too."""
        return self.spelled or self.label.partition("#")[0]


@dataclass(frozen=True)
class Results:
    """One results directory. `records` are those of the journal except the rows, which are in `slots`.

    `targets[0]` is the base. `own_base`: what it was when the experiment was measured, where another was chosen since.
    `relabelled`: label in its files → label here, where another was chosen.
    `counted`: the blocks that records and slots are of, where some are left out; None: all.
    """

    directory: Path
    header: Experiment
    targets: tuple[Target, ...]
    tests: tuple[str, ...]
    records: tuple[AnyRecord, ...] = field(repr=False)
    host: Mapping[str, Any] = field(repr=False)
    slots: Columns = field(repr=False)
    roles: Columns = field(repr=False, default_factory=lambda: role_columns([], {}))
    own_base: Target | None = None
    relabelled: Mapping[str, str] = field(default_factory=dict)
    counted: frozenset[int] | None = None

    @property
    def base(self) -> Target:
        return self.targets[0]

    @cached_property
    def layout(self) -> Layout | None:
        """Where each slot belongs, against the base; None where the base has none."""
        return lay_out(self.slots, self.base.label) if self.base.label in self.slots["target"] else None

    @property
    def loads(self) -> list[Load]:
        """One per target and table; with `shares` where the data, and so its figures, are another target's."""
        of_others = not_own(self.records, list(self._labels))
        return own_loads((attributed_load(load, of_others) for load in self.of_type(Load)), self.label)

    @property
    def judges_load(self) -> bool:
        """Whether blocks repeat the load as a test; else there are the figures of one load alone (`loads`)."""
        return any(is_load(test) for test in self.slot_plans)

    @property
    def repeated_tests(self) -> tuple[str, ...]:
        """Those that blocks repeat: without a load that was done once."""
        plans = self.slot_plans
        return tuple(test for test in self.tests if test != LOAD_TEST or test in plans)

    @property
    def checks(self) -> list[Check]:
        return self.of_type(Check)

    @property
    def failures(self) -> list[Failure]:
        return self.of_type(Failure)

    @cached_property
    def object_records(self) -> list[Objects]:
        return self.of_type(Objects)

    @cached_property
    def timeline(self) -> list[Row]:
        """What happened second by second in tests that last, roles together."""
        return whole_tests(self.rows(TIMELINE))

    def rows(self, table: ResultTable) -> list[Row]:
        """The rows of one of `TABLES`, made once."""
        return self._recorded.rows(table)

    @cached_property
    def _recorded(self) -> Recorded:
        return Recorded(self.records, self.header, self._labels, self.slots, self.roles)

    @property
    def slot_plans(self) -> dict[str, Slots]:
        """Test → what its slots are, as last planned."""
        return {record.test: record for record in self.of_type(Slots)}

    @cached_property
    def stored_tests(self) -> "Mapping[str, Test]":
        """By name. Imports have no suite; one that cannot be read here, or lies elsewhere, keeps nothing from being judged."""
        from dbversus.suites.assembly.judged_load import with_judged_load
        from dbversus.suites.load import load_stored_suite, stored_files  # as long to import as what judges

        folder = self.directory / SUITE
        try:
            for path in stored_files(folder):
                check_inside(path, self.directory)
            suite = load_stored_suite(folder, self.header.spec.get("variants") or ())
            if self.header.spec.get("judge_load"):
                suite = with_judged_load(suite, self.header.table_size or 1, self.header.tables or 1)
            return suite.tests
        except UsageError:
            return {}

    @property
    def finished(self) -> str | None:
        """Why the experiment ended; None while it is under way or interrupted."""
        ends = self.of_type(Finished)
        return ends[-1].reason if ends else None

    def of_type(self, kind: type[R]) -> list[R]:
        return of_type(self.records, kind)

    @property
    def _labels(self) -> dict[str, str]:
        return {target.name: target.label for target in self.targets}

    def label(self, name: str) -> str:
        """Label of the target with that name in the journal; a label is returned as it is."""
        return next((target.label for target in self.targets if target.name == name), name)

    def server_text(self, target: Target, file: str) -> str | None:
        """Text of servers/<target>/<file>; None when there is none."""
        for folder in (target.name, safe_name(target.label)):
            path = self.directory / SERVERS / folder / file
            if path.is_file():
                check_inside(path, self.directory)
                return path.read_text(errors="replace", encoding="utf-8")
        return None

    def server_json(self, target: Target, file: str) -> dict[str, Any]:
        """Content of servers/<target>/<file>; empty when there is none."""
        text = self.server_text(target, file)
        return json_object(text, f"{self.directory}/{SERVERS}/{target.name}/{file}") if text else {}

    def data_bytes(self, target: Target) -> int | None:
        """Its tables and indexes at their largest: when a block began, or after a test that changed them; None: not known."""
        sizes = self.server_json(target, "sizes.json")
        states = (record.targets.get(target.name) for record in self.of_type(State))
        known = [sizes.get("database", sizes.get("data_dir"))]
        known += [state.sizes_bytes.get("database") for state in states if state]
        known += [row["database_bytes"] for row in self.rows(AMOUNTS) if row["target"] == target.label]
        return max((one for one in known if one is not None), default=None)

    def latency(self, test: str, target: Target) -> dict[int, Latency]:
        """Block → histogram of one test on one target; from the sealed log, else from the journal."""
        stem = f"{safe_name(test)}@"
        for name in (target.name, safe_name(target.label)):
            path = self.directory / LATENCY / f"{stem}{name}.hlog"
            if self._sealed and path.is_file():
                blocks = read_log(path)
                return {block: one for block, one in blocks.items() if self.counted is None or block in self.counted}
        return self._latency_in_journal(test, target.name)

    def _latency_in_journal(self, test: str, name: str) -> dict[int, Latency]:
        blocks: dict[int, list[Latency]] = {}
        for record in self._latency_records.get(test, []):
            if text := record.hdr.get(name):
                blocks.setdefault(record.block, []).append(decode(text, f"{self.directory / JOURNAL}, test {test}"))
        return {block: merge(parts) for block, parts in blocks.items()}

    @cached_property
    def _sealed(self) -> bool:
        return is_sealed(self.directory)

    @cached_property
    def _latency_records(self) -> dict[str, list[LatencyRecord]]:
        by_test: dict[str, list[LatencyRecord]] = {}
        for record in self.of_type(LatencyRecord):
            by_test.setdefault(record.test, []).append(record)
        return by_test

    def sql(
        self, query: str, tables: Mapping[str, Sequence[Mapping[str, Any]]] | None = None
    ) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Column names and rows of the last result of `query`; as `sql_results` otherwise."""
        return self.sql_results(query, tables)[-1]

    def slot_rows(self, query: str) -> list[tuple[Any, ...]]:
        """Rows of a query of dbversus's own that reads nothing but `slots`: these share one table, which takes time to make."""
        return self._slots_database.execute(query).fetchall()

    @cached_property
    def _slots_database(self) -> duckdb.DuckDBPyConnection:
        return database_with("slots", self.slots, SLOT_COLUMNS)

    def lines(self, query: str) -> list[dict[str, Any]]:
        """The rows of `query` by column name."""
        columns, rows = self.sql(query)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def sql_results(
        self,
        query: str,
        tables: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
        typed: Mapping[str, tuple[Columns, Mapping[str, str]]] | None = None,
    ) -> list[tuple[list[str], list[tuple[Any, ...]]]]:
        """Runs statements of DuckDB SQL (results/sql.py), and gives each result.

        On the tables of an experiment, and on `tables` (rows) and `typed` ones (columns and their types), e.g. findings.
        """
        loads = [load_row(load, self.label(load.target)) for load in self.loads]
        own = {
            name: (content() if names(query, name) else columns_of([], types), types)
            for name, (content, types) in self._tables().items()
        }
        return run_sql(query, {**own, **(typed or {})}, {"loads": loads, **(tables or {})})

    def _tables(self) -> dict[str, tuple[Callable[[], Columns], Mapping[str, str]]]:
        """Name → what it holds, and its columns. Contents are made when they are asked for: most queries name one table."""
        tables: dict[str, tuple[Callable[[], Columns], Mapping[str, str]]] = {
            "slots": (lambda: self.slots, SLOT_COLUMNS),
            "roles": (lambda: self.roles, ROLE_COLUMNS),
        }
        for table in TABLES:
            tables[table.name] = (partial(self._columns_of, table), table.columns)
        if self.of_type(Imported):
            tables |= {
                name: (partial(imported_table, self.directory, name), types)
                for name, (_, types) in IMPORTED_TABLES.items()
            }
        return tables

    def _columns_of(self, table: ResultTable) -> Columns:
        return columns_of(self.rows(table), table.columns)


def check_inside(path: Path, directory: Path) -> None:
    """UsageError for a link that leads out. A report of a folder that came from elsewhere is not to show what lies beside it."""
    if not path.resolve().is_relative_to(directory.resolve()):
        raise UsageError(
            f"{path} is a link that leads out of the results directory; put the file itself there, or remove it."
        )


def json_object(text: str, what: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{what} is damaged ({error}); expected a JSON object.") from error
    if not isinstance(content, dict):
        raise UsageError(f"{what} is damaged; expected a JSON object.")
    return content
