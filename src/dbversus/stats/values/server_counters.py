"""The server's own counters (pages, WAL bytes, tuples, …) as exploratory metrics, one value per block like all others."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dbversus.stats.metrics import counter_metric
from dbversus.stats.model import BlockValue, Metric
from dbversus.stats.values.blocks import lifted_log_ratio

FLOOR_PER_OP = 0.01

Counts = Mapping[str, float]


def counter_values(rows: Iterable[Mapping[str, Any]], base: str) -> tuple[list[BlockValue], list[Metric]]:
    """Block values of every counter, and their metrics, from rows of the table `counters`; `base`: a label.

    Only counters that target and base both have are compared: views differ between versions. Under FLOOR_PER_OP on both
    sides there is nothing to compare. Those of targets that were up with the base are compared with the base as it was then.
    """
    values: list[BlockValue] = []
    for (test, block), groups in _grouped(rows).items():
        of_base = [of_group[base] for of_group in groups.values() if base in of_group]
        for of_group in groups.values():
            reference = of_group.get(base) or (of_base[0] if of_base else None)
            if reference is not None:
                others = (label for label in of_group if label != base)
                values += [
                    value for label in others for value in _values(test, label, block, of_group[label], reference)
                ]
    metrics = {value.metric: counter_metric(value.metric.partition(".")[2]) for value in values}
    return values, list(metrics.values())


def _grouped(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, int], dict[str | None, dict[str, dict[str, float]]]]:
    """(test, block) → group → label → counter → per operation."""
    found: dict[tuple[str, int], dict[str | None, dict[str, dict[str, float]]]] = defaultdict(dict)
    for row in rows:
        if row["per_op"] is not None:
            of_group = found[row["test"], row["block"]].setdefault(row["target_group"], {})
            of_group.setdefault(row["target"], {})[row["counter"]] = row["per_op"]
    return found


def _values(test: str, label: str, block: int, mine: Counts, base: Counts) -> Iterator[BlockValue]:
    for counter in sorted(mine.keys() & base.keys()):
        pair = mine[counter], base[counter]
        if max(pair) <= 0:  # most counters have nothing to do with a test; they would only swell the family
            continue
        value = lifted_log_ratio(*pair, FLOOR_PER_OP)
        yield BlockValue(test, label, counter_metric(counter).name, block, value, 1)
