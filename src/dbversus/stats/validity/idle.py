"""Tests in most of whose rows a target did nothing: what is left of them is no sample of the test."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dbversus.results.layout import Ints, Layout
from dbversus.stats.metrics import floats
from dbversus.stats.model import IDLE, Finding, Verdict

MOST_IDLE = 0.5
"""Share of a test's rows."""


def withhold_idle(findings: Sequence[Finding], layout: Layout) -> list[Finding]:
    """The findings, those undecided of which too few rows are usable."""
    idle = _idle_shares(layout)
    return [_checked(finding, idle.get((finding.test, finding.target), 0.0)) for finding in findings]


def _checked(finding: Finding, idle: float) -> Finding:
    if idle <= MOST_IDLE or not finding.judged:
        return finding
    return replace(finding, verdict=Verdict.UNDECIDED, note=f"in {idle:.0%} of the rows {IDLE}", whole_work=None)


def _idle_shares(layout: Layout) -> dict[tuple[str, str], float]:
    """(test, target) → share of its rows in which it or the base did nothing, of those that were measured side by side.

    In blocks in which it was measured, rows that it is missing from count too.
    """
    worked = np.nan_to_num(floats(layout.columns["ops"])) > 0
    cells = len(layout.cell_names)
    rows: dict[tuple[str, str], list[int]] = {}
    for target in layout.others:
        pairs = layout.pairs(target)
        measured_in, usable_in = pairs.counts(cells), pairs.where(worked).counts(cells)
        measured_in += np.where(measured_in > 0, _missing_from(layout, target), 0)
        for (_, test), measured, usable in zip(layout.cell_names, measured_in, usable_in, strict=True):
            of_test = rows.setdefault((test, layout.targets[target]), [0, 0])
            of_test[0] += int(measured)
            of_test[1] += int(usable)
    return {place: 1 - usable / measured for place, (measured, usable) in rows.items() if measured}


def _missing_from(layout: Layout, target: int) -> Ints:
    """Rows of each cell in which the base is without the target, and without any that is of another group."""
    there = layout.slot_at >= 0
    company = there[there[:, target]].any(axis=0)
    without = there[:, layout.base] & ~there[:, target] & ~there[:, ~company].any(axis=1)
    return np.bincount(layout.cell_of_row[without], minlength=len(layout.cell_names))
