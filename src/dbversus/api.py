"""dbversus from Python: `measure` makes a results directory, `read` says what is found in one (docs/python.md)."""

import importlib.util
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from dbversus.errors import DbversusError, RunError, UsageError
from dbversus.experiment.asked.spec import check_alone, make_spec
from dbversus.experiment.run import run_experiment
from dbversus.explain.cause import Cause, Explanation
from dbversus.report.assessment import FINDING_COLUMNS, build_assessment, query
from dbversus.results.columns import Columns
from dbversus.results.read import open_results
from dbversus.results.schema import EXPERIMENT, SLOT_COLUMNS
from dbversus.results.sql import columns_of, make_table
from dbversus.results.stored import Results, Target
from dbversus.stats.comparison import Comparison, compare
from dbversus.stats.judge import judge, judge_over_clients
from dbversus.stats.model import Finding, Verdict
from dbversus.suites.profiles import profile_defaults
from dbversus.units import show_duration

if TYPE_CHECKING:
    import pandas
    import pyarrow

__all__ = [
    "Cause",
    "Comparison",
    "DbversusError",
    "Experiment",
    "Finding",
    "Findings",
    "RunError",
    "Slots",
    "Target",
    "UsageError",
    "Verdict",
    "measure",
    "read",
]

LOG = logging.getLogger("dbversus")


@dataclass(frozen=True)
class _Table:
    """Columns with their DuckDB types, and a way from there to what other libraries take."""

    name: str
    columns: Columns
    types: Mapping[str, str]

    def numpy(self) -> dict[str, npt.NDArray[Any]]:
        with make_table(self.name, self.columns, self.types) as table:
            return table.fetchnumpy()

    def pandas(self) -> "pandas.DataFrame":
        _need("pandas")
        with make_table(self.name, self.columns, self.types) as table:
            return table.df()

    def arrow(self) -> "pyarrow.Table":
        _need("pyarrow")
        with make_table(self.name, self.columns, self.types) as table:
            return table.to_arrow_table()


def _need(library: str) -> None:
    if importlib.util.find_spec(library) is None:
        raise UsageError(f"{library} is not installed; `pip install 'dbversus[pandas]'` installs pandas and pyarrow.")


class Findings(tuple[Finding, ...]):
    """What is known of each test, target and metric, judged or exploratory."""

    def to_pandas(self) -> "pandas.DataFrame":
        """One row per finding, one column per field of `Finding`. Needs pandas."""
        return self._table.pandas()

    def to_arrow(self) -> "pyarrow.Table":
        """As `to_pandas`. Needs pyarrow."""
        return self._table.arrow()

    @property
    def _table(self) -> _Table:
        rows = [asdict(finding) for finding in self]
        return _Table("findings", columns_of(rows, FINDING_COLUMNS), FINDING_COLUMNS)


class Slots(Mapping[str, npt.NDArray[Any]]):
    """Columns by name, one entry per slot: those of slots.parquet, and figures per operation and per second.

    Numbers that the host could not tell are masked.
    """

    def __init__(self, stored: Columns):
        self._table = _Table("slots", stored, SLOT_COLUMNS)

    @cached_property
    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        return self._table.numpy()

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def to_pandas(self) -> "pandas.DataFrame":
        """One row per slot. Needs pandas."""
        return self._table.pandas()

    def to_arrow(self) -> "pyarrow.Table":
        """One row per slot. Needs pyarrow."""
        return self._table.arrow()


class Experiment:
    """A results directory. `targets[0]` is the base; `finished` says why measuring ended, None that it has not.

    Tests are judged when `comparisons` or `findings` are first asked for.
    """

    def __init__(self, results: Results):
        self._results = results
        self.directory: Path = results.directory
        self.targets: tuple[Target, ...] = results.targets
        self.tests: tuple[str, ...] = results.tests
        self.finished: str | None = results.finished

    def __repr__(self) -> str:
        return f"<Experiment {self.directory}: {', '.join(target.label for target in self.targets)}>"

    @cached_property
    def findings(self) -> Findings:
        """For every test, metric and target but the base. With several numbers of clients, also over all of them (`scan@all`)."""
        return Findings((*self._judged, *judge_over_clients(self._results)))

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """The verdict of each test on each target but the base: what reports show, and what --fail-on counts."""
        return compare(self._results, self._judged)

    @cached_property
    def _judged(self) -> list[Finding]:
        return judge(self._results)

    @cached_property
    def _explanations(self) -> tuple[Explanation, ...]:
        return build_assessment(self._results).explanations

    def causes(self, test: str | None = None, target: str | None = None) -> tuple[Cause, ...]:
        """Why tests changed: causes that were tested and leads, most likely first for each test and target.

        `test`, `target`: only of these.
        """
        return tuple(
            cause
            for one in self._explanations
            if test in (None, one.test) and target in (None, one.target)
            for cause in one.causes
        )

    @cached_property
    def slots(self) -> Slots:
        """Every measured slot, those of disturbed rows included."""
        return Slots(self._results.slots)

    def sql(self, statement: str) -> list[dict[str, Any]]:
        """The rows of one statement of DuckDB SQL on the tables that docs/results-directory.md lists."""
        names, rows = query(self._results, statement)[-1]
        return [dict(zip(names, row, strict=True)) for row in rows]


def read(directory: str | Path, base: str | None = None) -> Experiment:
    """What is in a results directory. UsageError when it is none, or damaged.

    `base`: label of the target that the others are compared with, instead of the experiment's own base.
    """
    return Experiment(open_results(Path(directory), base))


class _Logged:
    """Progress for a program: what a user should know as warnings, the rest as infos of the logger `dbversus`."""

    def say(self, text: str) -> None:
        LOG.warning(text)

    def expect(self, seconds: float) -> None:
        LOG.info("about %s left", show_duration(seconds))

    def doing(self, text: str) -> None:
        LOG.info(text)


def measure(targets: Sequence[str], *, out: str | Path, wait: bool = False, **choices: Any) -> Experiment:
    """Runs an experiment into the new directory `out` and reads it.

    `choices` have the names and values of an experiment file (docs/experiments.md); those left open are the profile's.
    `wait`: for another experiment on this host. UsageError before anything is started, RunError when it cannot be finished.
    """
    given = {"targets": targets, **choices}
    spec = make_spec(profile_defaults(given) | given)
    check_alone(spec)
    directory = Path(out)
    run_experiment(spec, directory, f"dbversus run {directory / EXPERIMENT}", _Logged(), wait=wait)
    return read(directory)
