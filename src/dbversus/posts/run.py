"""What scoring needs of one experiment: block values, and facts of its header. It can be kept, and scored by later rules."""

import math
import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, field, replace

import msgspec
import numpy as np

from dbversus.builds.catalog import select
from dbversus.errors import UsageError
from dbversus.names import split_names
from dbversus.results.records import Experiment
from dbversus.results.stored import Results, Target
from dbversus.stats.judge import Evidence, evidence_of, judge_evidence, judged_values, looks_of, margins_of
from dbversus.stats.judged import judged_metrics
from dbversus.stats.metrics import (
    CPU,
    DISK_READ_BYTES,
    DISK_WRITE_BYTES,
    READ_BYTES,
    THROUGHPUT,
    WRITE_BYTES,
    metric_named,
)
from dbversus.stats.model import DECIDED, BlockValue, Finding, Verdict
from dbversus.stats.values.blocks import block_values, load_values
from dbversus.stats.values.finished import counted_blocks, of_finished_blocks
from dbversus.stats.values.imported import MACHINE_CPU, MACHINE_CPU_SHARE, imported_findings, is_imported

METRICS = {"throughput": THROUGHPUT, "cpu": CPU, "read_bytes": READ_BYTES, "write_bytes": WRITE_BYTES}
"""Those of claims, by their names there."""
OF_LOAD = {THROUGHPUT: "load_rows_per_s", CPU: "load_cpu_us_per_row"}
_OF_IMPORTS = {
    MACHINE_CPU_SHARE.name: CPU,
    MACHINE_CPU.name: CPU,
    DISK_READ_BYTES: READ_BYTES,
    DISK_WRITE_BYTES: WRITE_BYTES,
}
"""What an import has in their stead."""
_OF_POSTS = re.compile(r" run (?:\S*/)?posts/([\w.-]+?)(?:\.toml)?(?: |$)")
_NAMED_BY_LENGTH = ("random-points", "read-only", "read-write")
_RANGE = re.compile(r"(?P<test>.+?)(?P<phase>\.pre)?\.range(?P<length>\d+)(?P<clients>@\d+)?")

Place = tuple[str, str]
"""Test and label of a target."""


@dataclass(frozen=True)
class RunTarget:
    """`compiler`: of its build, as far as the catalog tells."""

    label: str
    dbms: str
    version: str
    config: str
    compiler: str = ""

    @property
    def configs(self) -> frozenset[str]:
        return frozenset(split_names(self.config))


@dataclass(frozen=True)
class Withheld:
    """A finding that is undecided for what its block values do not tell."""

    test: str
    target: str
    metric: str
    note: str


@dataclass(frozen=True)
class Reason:
    """Why a test changed on a target, in the words of the day it was kept. `metric`: what alone it explains; empty: any."""

    test: str
    target: str
    words: str
    metric: str = ""

    def explains(self, finding: Finding) -> bool:
        return (self.test, self.target) == (finding.test, finding.target) and self.metric in ("", finding.metric)


@dataclass(frozen=True)
class PostRun:
    """`targets[0]` is the base. `tests`: those asked for. `cores`: of the host. `disturbed_share`: of rows, by other work there.

    `spoilt`: places whose figures do not count. `reasons`: of changes, where known. The rest as in stats/judge.py, `Evidence`.
    """

    header: Experiment
    targets: list[RunTarget]
    tests: list[str]
    blocks: int
    cores: int | None
    imported: bool
    rows: list[BlockValue]
    whole: list[BlockValue]
    trends: list[BlockValue]
    undrained: list[tuple[str, str, str]]
    withheld: list[Withheld]
    spoilt: list[Place]
    disturbed_share: float | None = None
    reasons: list[Reason] = field(default_factory=list)

    @property
    def posts(self) -> list[str]:
        """That it says it repeats."""
        return list(self.header.spec.get("posts", []))

    @property
    def experiment(self) -> str:
        """Name of the ready experiment of posts that it is; empty where it is another."""
        return experiment_of(self.header.command)


def experiment_of(command: str) -> str:
    """`dbversus run posts/2021-01-10-pg-mem --scaled` is of 2021-01-10-pg-mem."""
    found = _OF_POSTS.search(command)
    return found[1] if found else ""


def run_of(results: Results, findings: Sequence[Finding], spoilt: Set[Place]) -> PostRun:
    """`findings`: those of `judge`. `spoilt`: places whose answers were wrong, say."""
    results = of_finished_blocks(results)
    imported = is_imported(results)
    evidence = Evidence(_values_of_import(results)) if imported else evidence_of(results, _values(results))
    run = PostRun(
        header=_brief(results.header),
        targets=[_target(target) for target in results.targets],
        tests=[_our_name(test) if imported else test for test in results.tests],
        blocks=len(counted_blocks(results)),
        cores=(results.host.get("cpu") or {}).get("cores"),
        imported=imported,
        rows=list(evidence.rows),
        whole=list(evidence.whole),
        trends=list(evidence.trends),
        undrained=[key for key in dict.fromkeys(map(_key, evidence.whole)) if key in evidence.undrained],
        withheld=[],
        spoilt=sorted(spoilt),
        disturbed_share=_disturbed_share(results),
    )
    return run if imported else replace(run, withheld=_withheld(run, findings))


def _disturbed_share(results: Results) -> float | None:
    flags = results.slots.get("disturbed")
    return None if flags is None or not len(flags) else round(float(np.ma.mean(flags)), 4)


def _key(value: BlockValue) -> tuple[str, str, str]:
    return value.test, value.target, value.metric


def _values(results: Results) -> list[BlockValue]:
    base, judged = results.base.label, judged_metrics(results.header)
    labels = {target.name: target.label for target in results.targets}
    loads = [] if results.judges_load else load_values(results.loads, labels, base)
    if results.layout is None:
        return loads
    names = {metric.name for metric in judged}
    more = [metric_named(name) for name in METRICS.values() if name not in names]
    return [*judged_values(results), *block_values(results.layout, more), *loads]


def _values_of_import(results: Results) -> list[BlockValue]:
    return [
        BlockValue(_our_name(one.test), one.target, metric, 0, math.log(one.ratio), 1)
        for one in imported_findings(results)
        if one.ratio and (metric := _OF_IMPORTS.get(one.metric, one.metric)) in METRICS.values()
    ]


def _our_name(test: str) -> str:
    """Of a test in the reference's files: `random-points.pre.range10@1` is random-points-10.pre@1."""
    if not (found := _RANGE.fullmatch(test)):
        return test
    length = f"-{found['length']}" if found["test"] in _NAMED_BY_LENGTH else ""
    return f"{found['test']}{length}{found['phase'] or ''}{found['clients'] or ''}"


def _brief(header: Experiment) -> Experiment:
    """Without what only says how it was set up."""
    targets = [msgspec.structs.replace(target, rendered=None) for target in header.targets]
    spec = {"posts": header.spec.get("posts", [])}
    return msgspec.structs.replace(
        header, targets=targets, spec=spec, files=[], settings={}, kinds={}, calibration=None
    )


def _target(target: Target) -> RunTarget:
    build = target.written.partition("@")[0].partition(":")[2]
    try:
        compiler = select(target.dbms, build.removeprefix("mariadb-")).compiled if build else ""
    except UsageError:
        compiler = ""
    return RunTarget(target.label, target.dbms, target.version or "", target.config or "", compiler)


def _withheld(run: PostRun, findings: Sequence[Finding]) -> list[Withheld]:
    of_report = {finding.key: finding for finding in findings}
    return [
        Withheld(*finding.key, said.note)
        for finding in judged(run)
        if finding.counted in DECIDED
        and (said := of_report.get(finding.key))
        and said.judged
        and said.counted not in DECIDED
    ]


def judged(run: PostRun) -> list[Finding]:
    """Findings of its block values, by the rules of today."""
    of_verdicts = {metric.name for metric in judged_metrics(run.header)}
    names = dict.fromkeys(value.metric for value in run.rows)
    metrics = [replace(metric_named(name), primary=name in of_verdicts) for name in names]
    evidence = Evidence(run.rows, run.whole, run.trends, frozenset(run.undrained))
    findings = judge_evidence(evidence, metrics, looks_of(run.header), margins_of(run.header, run.tests))
    notes = {(one.test, one.target, one.metric): one.note for one in run.withheld}
    return [
        replace(one, verdict=Verdict.UNDECIDED, note=notes[one.key], whole_work=None) if one.key in notes else one
        for one in findings
    ]
