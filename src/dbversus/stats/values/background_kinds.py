"""CPU of background work by kind (threads, processes) as exploratory metrics, one value per block like all others."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from dbversus.stats.metrics import background_metric
from dbversus.stats.model import BlockValue, Metric
from dbversus.stats.values.blocks import lifted_log_ratio


def background_values(rows: Iterable[Mapping[str, Any]], base: str) -> tuple[list[BlockValue], list[Metric]]:
    """Block values of each kind, and their metrics, from rows of the table `background`; `base`: a label.

    A kind that only one of the two has is compared with nothing, so it is lifted to the metric's floor.
    """
    places: dict[tuple[str, int], dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        if row["cpu_us_per_op"] is not None:
            places[row["test"], row["block"]][row["target"]][row["kind"]] = row["cpu_us_per_op"]
    values: list[BlockValue] = []
    for (test, block), kinds in places.items():
        theirs = kinds.get(base)
        if theirs is None:
            continue
        for label, ours in kinds.items():
            if label != base:
                values += _values(test, label, block, ours, theirs)
    return values, [background_metric(kind) for kind in sorted({value.metric.partition(".")[2] for value in values})]


def _values(
    test: str, label: str, block: int, ours: Mapping[str, float], theirs: Mapping[str, float]
) -> list[BlockValue]:
    metrics = {kind: background_metric(kind) for kind in sorted(ours.keys() | theirs.keys())}
    return [
        BlockValue(test, label, metric.name, block, value, 1)
        for kind, metric in metrics.items()
        if (value := lifted_log_ratio(ours.get(kind, 0.0), theirs.get(kind, 0.0), metric.floor)) is not None
    ]
