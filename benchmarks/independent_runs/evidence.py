"""What verdicts of runs are made from, in one Parquet file that a repository can keep: rules of any later day can judge it.

A row per run, block values in its lists. They bear verdicts by rows, by all the work and by trends (stats/judge.py, `Evidence`).
What takes slots is not in them: whether bytes were put off, or are none of the operations', and whether a target idled.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import msgspec
from common import say

from dbversus.errors import UsageError
from dbversus.files import write_whole
from dbversus.results.parquet import stored_parquet
from dbversus.results.stored import Results
from dbversus.stats.headline import headline
from dbversus.stats.judge import Evidence, evidence_of, judge_evidence, judged_values, looks_of, margins_of
from dbversus.stats.judged import judged_metrics
from dbversus.stats.metrics import PRIMARY, metric_named
from dbversus.stats.model import SPOILT, BlockValue, Finding, Verdict
from dbversus.stats.values.finished import of_finished_blocks
from independent_runs.measure import commits_of
from independent_runs.outcome import Outcome, TestOutcome, dbms_of, errors_of, finished_runs, outcome_of, truths_of
from independent_runs.plan import read_name

SUFFIX = ".parquet"
"""Verdicts that no value bears."""


@dataclass(frozen=True)
class Margin:
    """One that is not the metric's own, as a share."""

    test: str
    metric: str
    share: float


@dataclass(frozen=True)
class KeptTest:
    """`asked`, `truth`: as in TestOutcome. `verdict`: one that no value bears; empty: what values say."""

    test: str
    asked: float
    truth: float | None
    verdict: str


@dataclass(frozen=True)
class Truth:
    """True ln ratio of CPU per operation, copy ÷ base, in one block of a test to which something was added."""

    test: str
    block: int
    value: float


@dataclass(frozen=True)
class Undrained:
    """Some of the work is not known."""

    test: str
    target: str
    metric: str


@dataclass(frozen=True)
class KeptRun:
    """A finished run, `began` in ns since 1970. `copy`: the label of the target that was slowed down, if any was.

    `checksum`: of its build. `commits`: the source that measured it, more than one where it was resumed with another; empty: not
    known. `judged`: names of metrics. The rest as in Outcome and Evidence.
    """

    run: str
    kind: str
    began: int
    day: str
    host: str
    dbms: str
    copy: str
    checksum: str | None
    commits: list[str]
    minutes: float | None
    looks: list[int]
    judged: list[str]
    margins: list[Margin]
    tests: list[KeptTest]
    truths: list[Truth]
    rows: list[BlockValue]
    whole: list[BlockValue]
    trends: list[BlockValue]
    undrained: list[Undrained]

    @property
    def key(self) -> tuple[str, str]:
        return self.run, self.dbms

    @property
    def evidence(self) -> Evidence:
        keys = frozenset((one.test, one.target, one.metric) for one in self.undrained)
        return Evidence(self.rows, self.whole, self.trends, keys)


_VALUES = (
    "STRUCT(test VARCHAR, target VARCHAR, metric VARCHAR, block INTEGER, value DOUBLE, rows INTEGER, "
    "disturbed INTEGER, error DOUBLE)[]"
)
_TYPES = {
    "began": "BIGINT",
    "commits": "VARCHAR[]",
    "minutes": "DOUBLE",
    "looks": "INTEGER[]",
    "judged": "VARCHAR[]",
    "margins": "STRUCT(test VARCHAR, metric VARCHAR, share DOUBLE)[]",
    "tests": "STRUCT(test VARCHAR, asked DOUBLE, truth DOUBLE, verdict VARCHAR)[]",
    "truths": "STRUCT(test VARCHAR, block INTEGER, value DOUBLE)[]",
    "rows": _VALUES,
    "whole": _VALUES,
    "trends": _VALUES,
    "undrained": "STRUCT(test VARCHAR, target VARCHAR, metric VARCHAR)[]",
}
_COLUMNS = {field.name: _TYPES.get(field.name, "VARCHAR") for field in fields(KeptRun)}


def keep(file: Path, folders: Sequence[Path]) -> None:
    """Adds the finished runs of `folders` that `file` does not have. Raises UsageError where neither has any."""
    if file.suffix != SUFFIX:
        raise UsageError(f"{file} does not end in {SUFFIX}; name a file that does.")
    if missing := [folder for folder in folders if not folder.is_dir()]:
        raise UsageError(f"{missing[0]} is no folder; name folders of `measure`.")
    kept = {one.key: one for one in read_evidence(file)} if file.exists() else {}
    before = len(kept)
    for run, folder, results in finished_runs(folders):
        there = kept.get((run.name, dbms_of(results)))
        if there is None:
            new = kept_run(outcome_of(run, results), results, commits_of(folder))
            kept[new.key] = new
        elif there.began != results.header.at_unix_ns:
            say(f"{file} has another {run.name}, of {there.day}; the one in {folder} is left out")
    if not kept:
        raise UsageError(f"There is no finished run in {', '.join(map(str, folders))}; `measure` makes some.")
    write_evidence(list(kept.values()), file)
    say(f"runs in {file}: {len(kept)}, {len(kept) - before} of them new")


def kept_run(outcome: Outcome, results: Results, commits: Sequence[str]) -> KeptRun:
    header, copy, finished = results.header, results.targets[-1], of_finished_blocks(results)
    evidence = evidence_of(finished, judged_values(finished))
    return KeptRun(
        run=outcome.run.name,
        kind=outcome.run.kind,
        began=header.at_unix_ns,
        day=outcome.day,
        host=outcome.host,
        dbms=outcome.dbms,
        copy=copy.label,
        checksum=header.targets[-1].checksum,
        commits=list(commits),
        minutes=outcome.minutes,
        looks=list(looks_of(header)),
        judged=[metric.name for metric in judged_metrics(header)],
        margins=[Margin(*of, share) for of, share in margins_of(header, results.tests).items()],
        tests=[_kept_test(test) for test in outcome.tests],
        truths=[
            Truth(test, block, value)
            for test, blocks in truths_of(finished, copy.label).items()
            for block, value in blocks.items()
        ],
        rows=list(evidence.rows),
        whole=list(evidence.whole),
        trends=list(evidence.trends),
        undrained=_undrained(evidence),
    )


def _undrained(evidence: Evidence) -> list[Undrained]:
    keys = dict.fromkeys((value.test, value.target, value.metric) for value in evidence.whole)
    return [Undrained(*key) for key in keys if key in evidence.undrained]


def _kept_test(test: TestOutcome) -> KeptTest:
    return KeptTest(test.test, test.asked, test.truth, test.verdict if test.verdict in SPOILT else "")


def write_evidence(runs: Sequence[KeptRun], file: Path) -> None:
    """Raises RunError where the disk refuses."""
    columns = ", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())
    marks = ", ".join("?" * len(_COLUMNS))
    with TemporaryDirectory() as folder, duckdb.connect() as connection:
        made = Path(folder, "runs.parquet")
        connection.execute(f"CREATE TABLE runs ({columns})")
        for run in runs:
            connection.execute(f"INSERT INTO runs VALUES ({marks})", list(asdict(run).values()))  # noqa: S608
        connection.execute(f"COPY runs TO '{made}' (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 19)")
        write_whole(file, made.read_bytes())


def read_evidence(file: Path) -> list[KeptRun]:
    """Raises UsageError when the file cannot be read, or is not one of `keep`."""
    if not file.is_file():
        raise UsageError(f"{file} is not there; name a file of `keep`.")
    try:
        with stored_parquet(file) as connection:
            # without an order of ours, rows come as they were written
            found = connection.execute("SELECT * FROM read_parquet(?)", [str(file)])
            names = [column[0] for column in found.description or ()]
            rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
        runs = msgspec.convert(rows, list[KeptRun])
    except (duckdb.Error, msgspec.ValidationError) as error:
        raise UsageError(f"{file} is damaged, or no file of `keep`: {str(error).splitlines()[0]}.") from error
    if unknown := [run.run for run in runs if read_name(run.run) is None]:
        raise UsageError(f"{file} is damaged: '{unknown[0]}' names no run.")
    return runs


def measured_by(runs: Sequence[KeptRun]) -> str:
    """One sentence, which names commits."""
    counts = Counter(" and ".join(run.commits) or "an unknown commit" for run in runs)
    words = (f"{commits} ({count} run{'s' if count > 1 else ''})" for commits, count in counts.items())
    return f"Measured by the source of {', '.join(words)}."


def findings_of(kept: KeptRun) -> list[Finding]:
    """Of the metrics that made its verdicts, by the rules of the code at hand."""
    metrics = [replace(metric_named(name), primary=True) for name in kept.judged]
    margins = {(one.test, one.metric): one.share for one in kept.margins}
    return judge_evidence(kept.evidence, metrics, tuple(kept.looks), margins)


def judged_anew(kept: KeptRun) -> Outcome:
    of_tests: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings_of(kept):
        if finding.target == kept.copy:
            of_tests[finding.test].append(finding)
    truths: dict[str, dict[int, float]] = defaultdict(dict)
    for truth in kept.truths:
        truths[truth.test][truth.block] = truth.value
    run = read_name(kept.run)
    assert run is not None
    tests = [_judged_test(test, of_tests[test.test]) for test in kept.tests]
    own = [value for value in kept.rows if value.target == kept.copy]
    return Outcome(run, kept.dbms, kept.minutes, tests, kept.day, kept.host, errors_of(own, truths))


def _judged_test(test: KeptTest, findings: Sequence[Finding]) -> TestOutcome:
    verdict = Verdict(test.verdict) if test.verdict else headline(findings)[0]
    of_metrics = {finding.metric: finding for finding in findings}
    primary = {metric.name: of_metrics[metric.name] for metric in PRIMARY if metric.name in of_metrics}
    return TestOutcome(test.test, verdict, primary, test.asked, test.truth)
