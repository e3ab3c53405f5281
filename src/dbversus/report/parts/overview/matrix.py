"""All targets of a matrix side by side, from stored results: throughput, its ratio to a neighbour, memory, size."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean

from dbversus.report.figures import block_figures, estimate, geometric
from dbversus.report.model import Estimate, Matrix, MatrixCell, MatrixRow
from dbversus.results.stored import Results, Target
from dbversus.results.tables.memory import MEMORY
from dbversus.stats.across.contrast import differences
from dbversus.stats.judge import judge
from dbversus.stats.means import spread_of
from dbversus.stats.metrics import THROUGHPUT, metric_named
from dbversus.stats.model import Finding
from dbversus.stats.values.blocks import block_values
from dbversus.stats.values.imported import imported_findings, is_imported

# up to three targets, the verdict tables say it all
LEAST_TARGETS = 4

# block → value
Values = Mapping[int, float]
Key = tuple[str, str]


def of_experiment(results: Results, findings: Sequence[Finding] | None = None) -> Matrix | None:
    """None where there are so few targets that nobody needs it; `findings` are those of `judge`."""
    return build_matrix(results, findings) if len(results.targets) >= LEAST_TARGETS else None


def build_matrix(results: Results, findings: Sequence[Finding] | None = None) -> Matrix:
    """Every target with every test.

    The reference of a row is the first target of the same build where it has several configs, else the base. Ratios are of
    ratios to the base, by block: the base is up with every group, in the same rows, so that what the host did to a group
    cancels even where target and reference are in different ones. Ratios are those of the findings; where the reference is the
    base, their intervals too.
    """
    found = judge(results) if findings is None else findings
    judged = _judged(found)
    rates = {place: known.get(THROUGHPUT, []) for place, known in block_figures(results, found).items()}
    relative = _relative_to_base(results, THROUGHPUT)
    memory = _memory(results)
    tests = results.repeated_tests
    references = _references(results.targets)
    rows = []
    for target in results.targets:
        reference = references[target.label]
        cells = {}
        for test in tests:
            own, theirs = (test, target.label), (test, reference)
            if rates.get(own) or memory.get(own):
                ratio = judged.get(own) if reference == results.base.label else None
                ratio = ratio or _ratio(
                    relative.get(own, {}), relative.get(theirs, {}), judged.get(own), judged.get(theirs)
                )
                cells[test] = _cell(rates.get(own, []), ratio, memory.get(own, {}))
        build, config = _parts(target)
        sizes = results.server_json(target, "sizes.json")
        size = sizes.get("database", sizes.get("data_dir"))
        rows.append(MatrixRow(target.label, build, config, reference, size, cells))
    return Matrix(tests, tuple(rows), results.host.get("sync_latency") or {})


def _judged(findings: Sequence[Finding]) -> dict[Key, Estimate]:
    """(test, target label) → its throughput over that of the base, as the verdict has it: one figure has one interval."""
    return {
        (item.test, item.target): Estimate(
            item.ratio, n=item.blocks, confidence=item.confidence, **spread_of(item)._asdict()
        )
        for item in findings
        if item.metric == THROUGHPUT
    }


def _parts(target: Target) -> tuple[str, str]:
    """Build and config of a label: `mysql:8.0@bl0,dw1` → `mysql:8.0`, `bl0_dw1`."""
    build = target.label.removesuffix(f"@{target.config}")
    return build, "_".join(target.config.split(",")) if build != target.label else "base"


def _references(targets: Sequence[Target]) -> dict[str, str]:
    builds = {target.label: _parts(target)[0] for target in targets}
    configs = Counter(builds.values())
    first: dict[str, str] = {}
    for target in targets:
        first.setdefault(builds[target.label], target.label)
    base = targets[0].label
    return {label: first[build] if configs[build] > 1 else base for label, build in builds.items()}


def _memory(results: Results) -> dict[Key, dict[str, list[int]]]:
    """(test, target label) → figure → its values; the base has one for each group that it was in."""
    found: dict[Key, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row in results.rows(MEMORY):
        for figure in ("pss_bytes", "peak_rss_bytes"):
            if row[figure] is not None:
                found[row["test"], row["target"]][figure].append(row[figure])
    return dict(found)


def _cell(rates: Sequence[float], ratio: Estimate, memory: Mapping[str, Sequence[int]]) -> MatrixCell:
    return MatrixCell(
        ops_per_s=estimate(rates),
        ratio=ratio,
        pss_bytes=estimate(memory.get("pss_bytes", [])),
        peak_rss_bytes=max(memory.get("peak_rss_bytes", []), default=None),
    )


def _ratio(ours: Values, theirs: Values, mine: Estimate | None, of_reference: Estimate | None) -> Estimate:
    """The interval is that over blocks, around the quotient of both ratios to the base where there are such."""
    logs = list(differences(ours, theirs).values())
    if logs and mine and mine.value and of_reference and of_reference.value:
        away = math.log(mine.value / of_reference.value) - fmean(logs)
        logs = [log + away for log in logs]
    return geometric(logs)


def _relative_to_base(results: Results, metric: str) -> dict[tuple[str, str], dict[int, float]]:
    """(test, target label) → ln(metric / that of the base) of each block, from slots of the same rows; the base has 0."""
    base = results.base.label
    relative: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    if is_imported(results):
        return {
            (each.test, target): {0: math.log(ratio)}
            for each in imported_findings(results)
            if each.metric == metric and each.ratio
            for target, ratio in ((each.target, each.ratio), (base, 1.0))
        }
    if results.layout is None:
        return {}
    for value in block_values(results.layout, [metric_named(metric)]):
        if value.value is not None:
            relative[value.test, value.target][value.block] = value.value
            relative[value.test, base][value.block] = 0.0
    return dict(relative)
