"""What servers did after tests that change data, to pay what was left, as exploratory metrics: one value per block."""

from collections.abc import Iterable, Mapping
from typing import Any

from dbversus.stats.metrics import DRAIN
from dbversus.stats.model import BlockValue, Metric
from dbversus.stats.values.blocks import lifted_log_ratio


def drain_values(rows: Iterable[Mapping[str, Any]], base: str) -> list[BlockValue]:
    """Block values of the DRAIN metrics against the label `base`, from rows of the table `drains`.

    Targets are compared with the base of their own block and group. Under the metric's floor on both sides there is
    nothing to compare; where one of them is unknown, there is no value.
    """
    drained = {(row["test"], row["block"], row["target_group"], row["target"]): row for row in rows}
    values = []
    for (test, block, group, target), mine in drained.items():
        theirs = drained.get((test, block, group, base))
        if target != base and theirs is not None:
            values += [value for metric in DRAIN if (value := _value(metric, test, target, block, mine, theirs))]
    return values


def _value(
    metric: Metric, test: str, target: str, block: int, mine: Mapping[str, Any], theirs: Mapping[str, Any]
) -> BlockValue | None:
    pair = mine[metric.name], theirs[metric.name]
    if None in pair:
        return None
    return BlockValue(test, target, metric.name, block, lifted_log_ratio(*pair, metric.floor), 1)
