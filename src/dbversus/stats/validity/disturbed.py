"""Tests of which other work on the host may have made the verdict.

No row is left out for having been disturbed: pairs of neighbouring slots hardly feel what slows both. But where the rows that
were measured in quiet say otherwise than all of them do, neither is to be believed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from dbversus.stats.judging.verdicts import assess
from dbversus.stats.judging.whole_work import percent
from dbversus.stats.metrics import Columns, floats
from dbversus.stats.model import CHANGES, Finding, Metric, Verdict
from dbversus.stats.values.blocks import block_values, columns_read
from dbversus.stats.values.layout import Ints, Layout, flags, lay_out
from dbversus.stats.values.table import Key

FEWEST_USABLE = 0.5
"""Share of a test's rows in which both targets did something."""


def check_disturbance(
    findings: Sequence[Finding],
    columns: Columns,
    base: str,
    metrics: Sequence[Metric],
    looks: tuple[int, ...],
    margins: Mapping[tuple[str, str], float],
) -> list[Finding]:
    """The findings, those of `metrics` disturbed that quiet rows contradict, or of which too few rows are usable.

    `columns`: slots as in results/schema.py. Raises as `lay_out` and `assess`.
    """
    idle = _idle_shares(columns, base)
    quiet = _of_quiet_rows(columns, base, metrics, looks, margins)
    judged = {metric.name for metric in metrics}
    return [
        _checked(finding, quiet.get(finding.key), idle.get((finding.test, finding.target), 0.0))
        if finding.metric in judged
        else finding
        for finding in findings
    ]


def _checked(finding: Finding, quiet: Finding | None, idle: float) -> Finding:
    if idle > 1 - FEWEST_USABLE:
        return replace(
            finding, verdict=Verdict.DISTURBED, note=f"in {idle:.0%} of the rows a target did nothing at all"
        )
    if quiet is None or not _contradict(finding.verdict, quiet.verdict):
        return finding
    note = (
        f"all rows say {percent(finding.ratio)} ({finding.verdict}), those measured while the host was quiet "
        f"{percent(quiet.ratio)} ({quiet.verdict})"
    )
    return replace(finding, verdict=Verdict.DISTURBED, note=note)


def _contradict(one: Verdict, other: Verdict) -> bool:
    """Two verdicts that cannot both be right."""
    decisive = (Verdict.EQUIVALENT, *CHANGES)
    return one in decisive and other in decisive and one is not other


def _of_quiet_rows(
    columns: Columns,
    base: str,
    metrics: Sequence[Metric],
    looks: tuple[int, ...],
    margins: Mapping[tuple[str, str], float],
) -> dict[Key, Finding]:
    """Findings of the rows in which nothing else took part of the host; nothing where no row was disturbed."""
    quiet = ~flags(columns.get("disturbed"), len(columns["target"]))
    if quiet.all() or base not in columns["target"][quiet]:
        return {}
    of_quiet = {name: columns[name][quiet] for name in columns_read(metrics) & columns.keys()}
    return {finding.key: finding for finding in assess(block_values(of_quiet, base, metrics), metrics, looks, margins)}


def _idle_shares(columns: Columns, base: str) -> dict[tuple[str, str], float]:
    """(test, target) → share of its rows in which it or the base did nothing, of those that were measured side by side.

    In blocks in which it was measured, rows that it is missing from count too.
    """
    layout = lay_out(columns, base)
    worked = np.nan_to_num(floats(columns["ops"])) > 0
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
