"""How the spread of a block's value depends on the rows in it, and how many rows are worth their time.

A block value has a part that is the same for all rows of one start of the servers (between) and a part that more rows
average out (within): variance = between + within / rows. With a block that costs c_block before its first row and c_row
for each, the variance bought per second is least at

    rows* = sqrt(c_block / c_row · within / between)

(Kalibera & Jones, Rigorous benchmarking in reasonable time, ISMM 2013, for two levels).
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from dbversus.results.layout import lay_out
from dbversus.stats.metrics import Columns, Floats, floats, metric_named
from dbversus.stats.values.blocks import block_values
from dbversus.stats.values.table import Bools

Key = tuple[str, str]
"""(test, target)"""

FEWEST_BLOCKS = 3


@dataclass(frozen=True)
class Components:
    """Variances of ln(target / base): `between` blocks, and `within` a block, of a single row."""

    between: float
    within: float

    def variance(self, rows: float) -> float:
        """Of a block value from so many rows."""
        return self.between + self.within / rows

    def best_rows(self, block_s: float, row_s: float) -> float:
        """Rows per block that give most for the time; infinite when starts make no difference."""
        if self.within <= 0:
            return 1.0
        return math.inf if self.between <= 0 else math.sqrt(block_s / row_s * self.within / self.between)

    def variance_minutes(self, rows: float, block_s: float, row_s: float) -> float:
        """Variance of a block value × minutes of a block: that of the mean over as many blocks as fit into a minute."""
        return self.variance(rows) * (block_s + rows * row_s) / 60


def fit_components(variance_by_rows: Mapping[int, float]) -> Components:
    """Least squares of relative errors, neither part below zero. It takes at least two numbers of rows."""
    rows = np.array(sorted(variance_by_rows), dtype=np.float64)
    seen = np.array([variance_by_rows[int(count)] for count in rows])
    if len(rows) < 2 or not (seen > 0).all():
        return Components(float(seen.mean()) if len(seen) else math.nan, 0.0)
    design = np.column_stack((np.ones_like(rows), 1 / rows)) / seen[:, None]
    (between, within), _ = nnls(design, np.ones_like(rows))
    return Components(float(between), float(within))


def variances_by_rows(
    columns: Columns, base: str, metric: str, sizes: Sequence[int], resamples: int, rng: np.random.Generator
) -> dict[Key, dict[int, float]]:
    """(test, target) → rows per block → variance of the block value between blocks, mean over random subsets of rows.

    Subsets are of whole cycles of the balanced orders. Only blocks that have as many rows count, and tests with
    FEWEST_BLOCKS of them.
    """
    sums: dict[Key, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for size in sizes:
        for _ in range(resamples):
            chosen = choose_rows(columns, size, rng)
            part = {name: column[chosen] for name, column in columns.items()}
            for key, values in _values_by_key(part, base, metric).items():
                if len(values) >= FEWEST_BLOCKS:
                    sums[key][size].append(float(np.var(values, ddof=1)))
    return {
        key: {size: float(np.mean(found)) for size, found in by_size.items()}
        for key, by_size in sums.items()
        if by_size
    }


def _values_by_key(columns: Columns, base: str, metric: str) -> dict[Key, list[float]]:
    found: dict[Key, list[float]] = defaultdict(list)
    if not len(columns["block"]) or base not in columns["target"]:
        return found
    for value in block_values(lay_out(columns, base), [metric_named(metric)]):
        if value.value is not None and value.rows:
            found[value.test, value.target].append(value.value)
    return found


def choose_rows(columns: Columns, size: int, rng: np.random.Generator) -> Bools:
    """Mask of the slots of `size` random rows of each block of each test; blocks with fewer give none.

    Rows come in whole cycles of orders, so `size` is cut down to a multiple of these.
    """
    cycle = cycle_length(columns)
    wanted = max(1, size // cycle)
    _, tests = np.unique(np.asarray(columns["test"], dtype=str), return_inverse=True)
    block, row = floats(columns["block"]).astype(np.int64), floats(columns["row"]).astype(np.int64)
    cell = block * (tests.max(initial=0) + 1) + tests
    unit = row // cycle
    units, unit_of_slot = np.unique(cell * (unit.max(initial=0) + 1) + unit, return_inverse=True)
    cell_of_unit = units // (unit.max(initial=0) + 1)
    order = np.lexsort((rng.random(len(units)), cell_of_unit))
    _, starts, counts = np.unique(cell_of_unit[order], return_index=True, return_counts=True)
    rank = np.empty(len(units), dtype=np.int64)
    rank[order] = np.arange(len(units)) - np.repeat(starts, counts)
    enough = np.empty(len(units), dtype=np.bool_)
    enough[order] = np.repeat(counts >= wanted, counts)
    mask: Bools = (enough & (rank < wanted))[unit_of_slot]
    return mask


def cycle_length(columns: Columns) -> int:
    """Rows after which the balanced orders begin again (stats/orders.py)."""
    count = len(np.unique(np.asarray(columns["target"], dtype=str)))
    return count if count % 2 == 0 else 2 * count


def usable_sizes(most: float, cycle: int) -> list[int]:
    """Numbers of rows to try, whole cycles of orders, up to `most`; tests of slow statements have few rows."""
    sizes = [*(size for size in (2, 4, 6, 8, 12, 16, 24, 32, 48) if size < most), int(most)]
    return sorted({max(cycle, size // cycle * cycle) for size in sizes})


def median(values: Iterable[float]) -> float:
    """Of the finite ones; NaN for none."""
    finite: Floats = np.array([value for value in values if math.isfinite(value)])
    return float(np.median(finite)) if len(finite) else math.nan
