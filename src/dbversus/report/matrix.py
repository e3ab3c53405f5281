"""All targets of a matrix side by side, from stored results: throughput, its ratio to a neighbour, memory, size."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import t

from dbversus.report.figures import CONFIDENCE, estimate
from dbversus.report.model import Estimate, Matrix, MatrixCell, MatrixRow
from dbversus.results.read import Results, Target
from dbversus.stats.metrics import LOAD_TEST

# up to three targets, the verdict tables say it all
LEAST_TARGETS = 4

# block → value
Values = Mapping[int, float]
Key = tuple[str, str]


def of_experiment(results: Results) -> Matrix | None:
    """None where there are so few targets that nobody needs it."""
    return build_matrix(results) if len(results.targets) >= LEAST_TARGETS else None


def build_matrix(results: Results) -> Matrix:
    """Every target with every test but the load.

    The reference of a row is the first target of the same build where it has several configs, else the base. Ratios are of
    blocks: targets of different groups are not up at the same time, and their interval includes what that adds.
    """
    rates = _rates(results)
    memory = _memory(results)
    tests = tuple(test for test in results.tests if test != LOAD_TEST)
    references = _references(results.targets)
    rows = []
    for target in results.targets:
        reference = references[target.label]
        cells = {}
        for test in tests:
            ours, held = rates.get((test, target.label), {}), memory.get((test, target.label), {})
            if ours or held:
                cells[test] = _cell(ours, rates.get((test, reference), {}), held)
        build, config = _parts(target)
        sizes = results.server_json(target, "sizes.json")
        size = sizes.get("database", sizes.get("data_dir"))
        rows.append(MatrixRow(target.label, build, config, reference, size, cells))
    return Matrix(tests, tuple(rows), results.host.get("sync_latency") or {})


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


def _rates(results: Results) -> dict[Key, Values]:
    """(test, target label) → operations per second of each block, from sums over kept rows."""
    query = """
        SELECT test, target, block, sum(ops) / (sum(elapsed_ns) / 1e9)
        FROM slots WHERE NOT dropped AND elapsed_ns > 0 GROUP BY ALL ORDER BY block"""
    rates: dict[Key, dict[int, float]] = defaultdict(dict)
    for test, target, block, rate in results.sql(query)[1]:
        rates[test, target][block] = rate
    return dict(rates)


def _memory(results: Results) -> dict[Key, dict[str, list[int]]]:
    """(test, target label) → figure → its values; the base has one for each group that it was in."""
    found: dict[Key, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row in results.memory:
        for figure in ("pss_bytes", "peak_rss_bytes"):
            if row[figure] is not None:
                found[row["test"], row["target"]][figure].append(row[figure])
    return dict(found)


def _cell(rates: Values, reference: Values, memory: Mapping[str, Sequence[int]]) -> MatrixCell:
    return MatrixCell(
        ops_per_s=estimate(list(rates.values())),
        ratio=_ratio(rates, reference),
        pss_bytes=estimate(memory.get("pss_bytes", [])),
        peak_rss_bytes=max(memory.get("peak_rss_bytes", []), default=None),
    )


def _ratio(ours: Values, theirs: Values) -> Estimate:
    """Geometric mean of the ratios of blocks, with its t interval."""
    both = [(ours[block], theirs[block]) for block in ours if theirs.get(block)]
    logs = [math.log(mine / other) for mine, other in both if mine > 0]
    n = len(logs)
    if n == 0:
        return Estimate(None, None, None, 0)
    center = float(np.mean(logs))
    if n == 1:
        return Estimate(math.exp(center), None, None, 1)
    half = float(t.isf((1 - CONFIDENCE) / 2, n - 1) * np.std(logs, ddof=1) / math.sqrt(n))
    return Estimate(math.exp(center), math.exp(center - half), math.exp(center + half), n, CONFIDENCE)
