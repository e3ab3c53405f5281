"""Block values as matrices, one line per (test, target, metric), so that a look is a handful of array operations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dbversus.stats.metrics import Floats
from dbversus.stats.model import BlockValue, Metric

Key = tuple[str, str, str]
"""(test, target, metric)"""

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Table:
    """Block values as matrices, keys × blocks; NaN where a key has no value in a block. Margins and signs per key."""

    keys: list[Key]
    blocks: list[int]
    value: Floats
    error: Floats  # standard error that the rows alone give a value; NaN where unknown
    compared: Bools  # False where both targets had nothing in all blocks: there is nothing to test
    metric: Ints
    pair: Ints  # of metric and target
    pooled: Bools
    primary: Bools
    sign: Floats  # +1: more is worse
    margin: Floats

    @property
    def log_margin(self) -> Floats:
        return np.log1p(self.margin)


def tabulate(
    values: Sequence[BlockValue], metrics: Sequence[Metric], margins: Mapping[tuple[str, str], float]
) -> Table:
    known = {metric.name: index for index, metric in enumerate(metrics)}
    kept = [value for value in values if value.metric in known]
    keys = list(dict.fromkeys((value.test, value.target, value.metric) for value in kept))
    blocks = sorted({value.block for value in kept})
    key_index = {key: index for index, key in enumerate(keys)}
    block_index = {block: index for index, block in enumerate(blocks)}
    shape = len(keys), len(blocks)
    value_of, error_of = np.full(shape, np.nan), np.full(shape, np.nan)
    compared = np.zeros(len(keys), dtype=np.bool_)
    for value in kept:
        at = key_index[value.test, value.target, value.metric], block_index[value.block]
        # nothing on either side in this block, though there was something in others: no difference here
        value_of[at] = 0.0 if value.value is None else value.value
        error_of[at] = np.nan if value.error is None else value.error
        compared[at[0]] |= value.value is not None
    chosen = [metrics[known[metric]] for _, _, metric in keys]
    return Table(
        keys=keys,
        blocks=blocks,
        value=value_of,
        error=error_of,
        compared=compared,
        metric=np.array([known[metric] for _, _, metric in keys], dtype=np.int64),
        pair=np.unique([f"{metric} {target}" for _, target, metric in keys], return_inverse=True)[1],
        pooled=np.array([metric.pooled for metric in chosen], dtype=np.bool_),
        primary=np.array([metric.primary for metric in chosen], dtype=np.bool_),
        sign=np.array([-1.0 if metric.higher_is_better else 1.0 for metric in chosen]),
        margin=np.array([margins.get((test, metric), chosen[i].margin) for i, (test, _, metric) in enumerate(keys)]),
    )
