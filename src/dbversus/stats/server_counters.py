"""The server's own counters (pages, WAL bytes, tuples, …) as exploratory metrics, one value per block like all others."""

from collections.abc import Iterable, Mapping
from typing import Any

from dbversus.stats.blocks import lifted_log_ratio
from dbversus.stats.metrics import counter_metric
from dbversus.stats.model import BlockValue, Metric

FLOOR_PER_OP = 0.01


def counter_values(
    records: Iterable[Mapping[str, Any]], labels: Mapping[str, str], base: str
) -> tuple[list[BlockValue], list[Metric]]:
    """Block values of every counter, and their metrics, from the journal's `counters` records.

    `labels`: target name → label; `base`: name of the base. Only counters that all targets of a record have are compared:
    views differ between versions. Under FLOOR_PER_OP on both sides there is nothing to compare.
    """
    values: list[BlockValue] = []
    for record in records:
        per_op = {name: _per_op(record, name) for name in record["delta"] if record["ops"].get(name)}
        if base in per_op:
            others = (name for name in per_op if name != base)
            values += [value for name in others for value in _values(record, labels[name], per_op[name], per_op[base])]
    metrics = {value.metric: counter_metric(value.metric.partition(".")[2]) for value in values}
    return values, list(metrics.values())


def _per_op(record: Mapping[str, Any], target: str) -> dict[str, float]:
    ops = record["ops"][target]
    return {counter: change / ops for counter, change in record["delta"][target].items()}


def _values(
    record: Mapping[str, Any], label: str, mine: Mapping[str, float], base: Mapping[str, float]
) -> Iterable[BlockValue]:
    for counter in mine.keys() & base.keys():
        pair = mine[counter], base[counter]
        if max(pair) <= 0:  # most counters have nothing to do with a test; they would only swell the family
            continue
        value = lifted_log_ratio(*pair, FLOOR_PER_OP)
        yield BlockValue(record["test"], label, counter_metric(counter).name, record["block"], value, 1)
