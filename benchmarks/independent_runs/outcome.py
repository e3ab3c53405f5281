"""What came of a run: verdicts test by test, what was asked to be added, and what truly was."""

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from common import say

from dbversus.errors import UsageError
from dbversus.experiment.asked.shares import shares_of
from dbversus.results.read import open_results
from dbversus.results.records import Finished, Resumed
from dbversus.results.schema import JOURNAL
from dbversus.results.stored import Results
from dbversus.stats.comparison import compare
from dbversus.stats.judge import judged_values
from dbversus.stats.metrics import CPU, PRIMARY
from dbversus.stats.model import DECIDED, DIFFERS, BlockValue, Finding, Verdict
from dbversus.stats.simulation.injected import true_log_ratios
from dbversus.stats.values.finished import of_finished_blocks
from independent_runs.plan import Run, read_name


@dataclass(frozen=True)
class TestOutcome:
    """One test of one run. `asked`: share of CPU that was to be added to the copy, 0 for an equal one.

    `truth`: ln ratio of CPU per operation that what was really added comes to, mean over the blocks; None: not known.
    `findings`: of primary metrics.
    """

    __test__ = False  # pytest would take it for a class of tests

    test: str
    verdict: Verdict
    findings: Mapping[str, Finding]
    asked: float = 0.0
    truth: float | None = 0.0

    @property
    def alarms(self) -> list[Finding]:
        """What is shown to differ; of an equal test it is false."""
        return [finding for finding in self.findings.values() if finding.verdict in DIFFERS]

    @property
    def cpu(self) -> Finding | None:
        return self.findings.get(CPU)

    @property
    def given(self) -> bool:
        """Whether CPU per operation has a verdict."""
        return self.cpu is not None and self.cpu.verdict in DECIDED

    @property
    def found(self) -> bool:
        """Whether the slowdown was found for what it is."""
        return self.cpu is not None and self.cpu.verdict is Verdict.REGRESSION


@dataclass(frozen=True)
class Outcome:
    """A finished run, of a `day` (UTC) on a `host` of some kind.

    `minutes` from the journal's first line to its last, data loaded between them; None: it was resumed. `errors`: test →
    block → by how much ln of CPU per operation, copy ÷ base, was measured above the truth; empty: not known.
    """

    run: Run
    dbms: str
    minutes: float | None
    tests: Sequence[TestOutcome]
    day: str = ""
    host: str = ""
    errors: Mapping[str, Mapping[int, float]] = field(default_factory=dict)

    @property
    def group(self) -> tuple[str, str]:
        """Kind, and DBMS with its version: what is counted together."""
        return self.run.kind, self.dbms

    @property
    def equal(self) -> list[TestOutcome]:
        """Tests to which nothing was added."""
        return [test for test in self.tests if not test.asked]

    @property
    def alarmed(self) -> list[TestOutcome]:
        return [test for test in self.equal if test.alarms]


def read_outcomes(folders: Sequence[Path]) -> list[Outcome]:
    """All finished runs in folders that `measure` has filled, none where there is none; says which are not finished."""
    return [outcome_of(run, results) for run, _, results in finished_runs(folders)]


def finished_runs(folders: Sequence[Path]) -> Iterator[tuple[Run, Path, Results]]:
    """Each with its folder; says which are not finished."""
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(f"{folder} is no folder; name one that `measure` has filled.")
        for journal in sorted(folder.glob(f"*/{JOURNAL}")):
            if (run := read_name(journal.parent.name)) is None:
                continue
            results = open_results(journal.parent)
            if results.finished is None:
                say(f"{run.name} has not ended, and is left out")
            else:
                yield run, journal.parent, results


def outcome_of(run: Run, results: Results) -> Outcome:
    """The last target is the copy that was slowed down, if any was."""
    copy, number = results.targets[-1], len(results.targets) - 1
    finished = of_finished_blocks(results)
    of_blocks = truths_of(finished, copy.label)
    truths = {test: statistics.fmean(blocks.values()) for test, blocks in of_blocks.items()}
    inject = results.header.spec.get("inject") or {}
    tests = []
    for one in compare(results):
        if one.target != copy.label:
            continue
        primary = {metric.name: one.findings[metric.name] for metric in PRIMARY if metric.name in one.findings}
        asked = shares_of(inject, number, [one.test], 0).cpu
        truth = truths.get(one.test) if inject else 0.0
        tests.append(TestOutcome(one.test, one.verdict, primary, asked, truth))
    day = datetime.fromtimestamp(results.header.at_unix_ns / 1e9, UTC).date().isoformat()
    return Outcome(
        run,
        dbms_of(results),
        _minutes(results),
        tests,
        day,
        _kind_of_host(results.host),
        errors_of(judged_values(finished), of_blocks),
    )


def dbms_of(results: Results) -> str:
    """`postgres 17.11`"""
    copy = results.targets[-1]
    return f"{copy.dbms} {copy.version}"


def _kind_of_host(host: Mapping[str, Any]) -> str:
    """`AMD EPYC, 2 CPUs, cache of 1024 kB`"""
    cpu = host.get("cpu") or {}
    cache = f", cache of {cpu['cache_bytes'] // 1024} kB" if cpu.get("cache_bytes") else ""
    return f"{cpu.get('model', 'unknown')}, {cpu.get('logical', '?')} CPUs{cache}"


def truths_of(results: Results, label: str) -> dict[str, dict[int, float]]:
    """Test → block → true ln ratio of CPU per operation; empty where nothing was injected."""
    of_blocks: dict[str, dict[int, float]] = {}
    for (test, target, block), value in true_log_ratios(results).items():
        if target == label:
            of_blocks.setdefault(test, {})[block] = value
    return of_blocks


def errors_of(values: Iterable[BlockValue], truths: Mapping[str, Mapping[int, float]]) -> dict[str, dict[int, float]]:
    """Of CPU per operation, as `Outcome` has them."""
    errors: dict[str, dict[int, float]] = {}
    for value in values:
        if value.metric == CPU and value.value is not None:
            truth = truths.get(value.test, {}).get(value.block, 0.0)
            errors.setdefault(value.test, {})[value.block] = value.value - truth
    return errors


def _minutes(results: Results) -> float | None:
    if results.of_type(Resumed):
        return None
    ended = results.of_type(Finished)[-1].at_unix_ns
    return float(ended - results.header.at_unix_ns) / 60e9
