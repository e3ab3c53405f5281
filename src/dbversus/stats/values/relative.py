"""Values of blocks by test, target and block, for ratios of any two targets."""

import math
from collections import defaultdict

from dbversus.results.stored import Results
from dbversus.stats.metrics import metric_named
from dbversus.stats.values.blocks import block_values
from dbversus.stats.values.imported import imported_findings, is_imported


def relative_to_base(results: Results, metric: str) -> dict[tuple[str, str], dict[int, float]]:
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
    if base not in results.slots["target"]:
        return {}
    for value in block_values(results.slots, base, [metric_named(metric)]):
        if value.value is not None:
            relative[value.test, value.target][value.block] = value.value
            relative[value.test, base][value.block] = 0.0
    return dict(relative)
