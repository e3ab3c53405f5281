"""Stalls of a test in words and as figures: driven seconds in which it finished no operation."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from dbversus.report.figures import BlockFigures
from dbversus.results.stored import Results
from dbversus.results.tables.stalls import STALLS
from dbversus.stats.model import Metric
from dbversus.units import count_of

LONGEST = Metric("longest_stall_s", "longest stall", "s", False, False, 0.10)
STALLED = Metric("stalled_share", "time in stalls", "%", False, False, 0.10)
METRICS = (LONGEST, STALLED)
"""They describe: most blocks have none, and a ratio to nothing is none."""


def block_figures(results: Results) -> BlockFigures:
    """(test, target label) → METRICS → values per block; a base that is up with several groups has their mean."""
    blocks: dict[tuple[str, str, int], list[Mapping[str, Any]]] = {}
    for row in (row for row in results.rows(STALLS) if not row["role"]):
        blocks.setdefault((row["test"], row["target"], row["block"]), []).append(row)
    figures: BlockFigures = {}
    for (test, target, _), rows in sorted(blocks.items()):
        known = figures.setdefault((test, target), {LONGEST.name: [], STALLED.name: []})
        known[LONGEST.name].append(fmean(row["longest_s"] for row in rows))
        known[STALLED.name].append(100 * fmean(row["stalled_s"] / row["driven_s"] for row in rows))
    return figures


def notes(results: Results, test: str) -> list[str]:
    """A sentence for each target, and each role on it, that stood still."""
    rows = [row for row in results.rows(STALLS) if row["test"] == test]
    places = [(role, target.label) for role in dict.fromkeys(row["role"] for row in rows) for target in results.targets]
    of_places = (
        (role, label, [row for row in rows if (row["role"], row["target"]) == (role, label)]) for role, label in places
    )
    return [_note(role, label, own) for role, label, own in of_places if any(row["stalls"] for row in own)]


def _note(role: str, label: str, rows: Sequence[Mapping[str, Any]]) -> str:
    stalls = sum(row["stalls"] for row in rows)
    stalled_s, driven_s = (sum(row[name] for row in rows) for name in ("stalled_s", "driven_s"))
    worst = max(rows, key=lambda row: row["longest_s"])
    who = f"{role} on {label}" if role else label
    return (
        f"{who} stood still: no operation ended in {stalled_s:.1f} of {driven_s:,.1f} s ({count_of(stalls, 'stall')}, "
        f"the longest {worst['longest_s']:.1f} s, in block {worst['block'] + 1})"
    )
