"""How much slots differ by how far they are apart: what the host does slowly cancels in slots that are close together.

The length of a slot stands on this. Where differences grow with distance, shorter slots bring the two of a pair nearer to each
other, and more pairs into the same time.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from common import markdown
from scipy import stats

from dbversus.stats.metrics import Columns, Floats, floats

DISTANCES = (1, 2, 3, 6, 12, 24)
FEWEST_DIFFERENCES = 8
"""Of one test in one block."""


@dataclass(frozen=True)
class Distance:
    """Median over tests and blocks: time from one slot to the other (ms), standard deviation of their difference in ln CPU/op."""

    apart_ms: float
    sd: float


def differences_by_distance(columns: Columns, distances: Sequence[int] = DISTANCES) -> dict[int, Distance]:
    """Number of slots onwards → what they differ by, of tests that change no data; each target's median is taken off.

    A robust standard deviation (quartiles), so that single disturbances do not make it up.
    """
    found: Mapping[int, list[tuple[float, float]]] = defaultdict(list)
    for logs, slot_ms in _series(columns):
        for distance in distances:
            if len(logs) - distance >= FEWEST_DIFFERENCES:
                change = logs[distance:] - logs[:-distance]
                found[distance].append((distance * slot_ms, float(stats.iqr(change, scale="normal"))))
    return {distance: Distance(*np.median(found[distance], axis=0).tolist()) for distance in sorted(found)}


def _series(columns: Columns) -> list[tuple[Floats, float]]:
    """Per test and block: ln CPU per op less its target's median, in order of time, and milliseconds from slot to slot."""
    cpu_ns, ops, affected = (floats(columns[name]) for name in ("server_cpu_ns", "ops", "affected"))
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(cpu_ns / ops)
    usable = np.isfinite(logs) & (np.nan_to_num(affected) == 0)
    cells: dict[Any, list[int]] = defaultdict(list)
    for slot in np.flatnonzero(usable):
        cells[columns["test"][slot], columns["block"][slot]].append(int(slot))
    return [_levelled(logs, columns, np.array(slots)) for slots in cells.values()]


def _levelled(logs: Floats, columns: Columns, slots: Any) -> tuple[Floats, float]:
    row, position = (floats(columns[name])[slots] for name in ("row", "position"))
    slots = slots[np.lexsort((position, row))]
    # all slots of a row have the time at which the row began
    started_ms = floats(columns["started_unix_ns"])[slots] / 1e6
    level, target = logs[slots].copy(), np.asarray(columns["target"], dtype=str)[slots]
    for name in np.unique(target):
        level[target == name] -= np.median(level[target == name])
    return level, float(np.ptp(started_ms)) / max(1, len(slots) - len(np.unique(target)))


def table(columns: Columns) -> str:
    found = differences_by_distance(columns)
    if not found:
        return "Not told: no test that changes no data has slots enough."
    rows = [[str(slots), f"{one.apart_ms:.0f}", f"{one.sd:.1%}"] for slots, one in found.items()]
    header = ["slots onwards", "ms apart", "sd of the difference in CPU/op"]
    return f"{markdown(header, rows)}\n\nMedians over tests that change no data and blocks, each target's own level taken off."
