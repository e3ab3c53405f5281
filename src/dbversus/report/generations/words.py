"""Two generations in words and cells, the same in every report; and flat, for CSV and JSON."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from dbversus.report.pairs import Generations
from dbversus.report.words import ratio_text
from dbversus.stats.across.generations import MARKED, Change, Mark, TestShift
from dbversus.stats.means import CONFIDENCE, Ratio, Spread, spread_of
from dbversus.stats.metrics import CPU, DISK_READ_BYTES, DISK_READS, THROUGHPUT

MEAN = "geometric mean"
SHORT = {THROUGHPUT: "qps", CPU: "cpu/o", DISK_READS: "r/o", DISK_READ_BYTES: "rKB/o"}
"""The reference's names of the metrics."""

SIGNS = {Mark.GAIN: "▲", Mark.LOSS: "▼"}
METALS = {THROUGHPUT: "gold", CPU: "silver"}
_SHIFTED = {THROUGHPUT: "throughput", CPU: "CPU per operation"}
_NONE = Change(None, None)


def title(generations: Generations) -> str:
    old, new = generations.old, generations.new
    return f"{old.second} against {old.first} (old), {new.second} against {new.first} (new)"


def sentences(generations: Generations) -> list[str]:
    """The geometric means, and how many tests shifted, with the tests that are left out; the notes come last."""
    said = [_mean_sentence(generations, metric) for metric in MARKED if metric in generations.shifts.means]
    said += [_mark_sentence(generations, metric) for metric in MARKED]
    left_out = [item for item in generations.shifts.judged if item.left_out]
    said += [f"{item.test}: {item.left_out}; in no mean and without marks." for item in left_out]
    said += [_load_sentence(generations.shifts.load)] if generations.shifts.load else []
    return [*said, *generations.notes]


def legend(generations: Generations) -> str:
    return (
        f"Ratios are second/first of each pair [{CONFIDENCE:.0%} interval of one look at all blocks; those of verdicts hold at "
        "every look], shift is new/old. "
        "Gold (throughput) and silver (CPU per operation): the whole interval of the shift lies beyond "
        f"{_margin(generations)}; ▲ in favour of {generations.new.second}, ▼ of {generations.new.first}. "
        "r/o: read calls per operation, rKB/o: kB read from storage per operation; 1 where both read next to nothing, "
        "inf where only the second reads."
    )


def _load_sentence(load: TestShift) -> str:
    """Loading is done once for each target: figures, but nothing to judge by."""
    figures = [
        f"{_SHIFTED[metric]} {cell(change.old)} in the old generation and {cell(change.new)} in the new"
        for metric in MARKED
        if (change := load.changes.get(metric))
    ]
    return f"Load, one run of each target (n = 1, no verdict, in no mean): {'; '.join(figures)}."


def _margin(generations: Generations) -> str:
    return f"{generations.shifts.margin * 100:g} %"


def _mean_sentence(generations: Generations, metric: str) -> str:
    mean, count = generations.shifts.means[metric], generations.shifts.tests_in_mean[metric]
    over = "1 test" if count == 1 else f"{count} tests"
    return (
        f"Geometric mean of the ratios in {_SHIFTED[metric]} over {over}: {cell(mean.old)} in the old generation, "
        f"{cell(mean.new)} in the new, shift {cell(mean.shift)}."
    )


def _mark_sentence(generations: Generations, metric: str) -> str:
    shifts = generations.shifts
    gains, losses = (len(shifts.marked(metric, mark)) for mark in (Mark.GAIN, Mark.LOSS))
    return (
        f"{METALS[metric].capitalize()}: {_SHIFTED[metric]} shifted by more than {_margin(generations)} in favour of "
        f"{generations.new.second} in {gains} of {len(shifts.judged)} tests, of {generations.new.first} in {losses}."
    )


def cell(value: Ratio | None, with_interval: bool = True) -> str:
    """`1.081 [1.070, 1.092]`, or a dash."""
    if value is None:
        return "–"
    return ratio_text(value.value, value, with_interval)


def mark(metric: str, change: Change) -> str:
    """`gold ▲`; empty without a mark."""
    return f"{METALS[metric]} {SIGNS[change.mark]}" if change.mark else ""


def lines(generations: Generations) -> list[TestShift]:
    """One per test, and a last one for the geometric means."""
    return [*generations.shifts.judged, TestShift(MEAN, generations.shifts.means)]


def change_of(item: TestShift, metric: str) -> Change:
    return item.changes.get(metric, _NONE)


def blocks_of(item: TestShift) -> str:
    """`4`, or `4 / 6` where the generations have different numbers of blocks; empty for the geometric means."""
    if item.test == MEAN:
        return ""
    change = change_of(item, THROUGHPUT)
    counts = [side.blocks for side in (change.old, change.new) if side is not None]
    return " / ".join(map(str, dict.fromkeys(counts))) or "–"


def flat(generations: Generations) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Column names; a line per test, one for the geometric means, and one for the load; ratios as numbers, None: not known."""
    table = [dict(_flat_line(item)) for item in lines(generations)]
    # the load has a line of its own behind the means: one run, judged by nobody
    table += [dict(_flat_line(generations.shifts.load))] if generations.shifts.load else []
    return list(table[0]), [tuple(line.values()) for line in table]


def _flat_line(item: TestShift) -> Iterator[tuple[str, Any]]:
    yield "test", item.test
    for metric, short in SHORT.items():
        change = change_of(item, metric)
        sides = {"old": change.old, "new": change.new} | ({"shift": change.shift} if metric in MARKED else {})
        for side, value in sides.items():
            yield f"{short} {side}", None if value is None else value.value
            for end, bound in (Spread() if value is None else spread_of(value))._asdict().items():
                yield f"{short} {side} {end}", bound
        if metric in MARKED:
            yield METALS[metric], str(change.mark)
    throughput = change_of(item, THROUGHPUT)
    yield "blocks old", None if throughput.old is None else throughput.old.blocks
    yield "blocks new", None if throughput.new is None else throughput.new.blocks
    yield "left out", item.left_out


def as_json(generations: Generations) -> dict[str, Any]:
    """Plain dicts and lists; an infinite ratio is the text "inf"."""
    shifts = generations.shifts
    return {
        "old": {"first": generations.old.first, "second": generations.old.second},
        "new": {"first": generations.new.first, "second": generations.new.second},
        "margin": shifts.margin,
        "confidence": CONFIDENCE,
        "tests": [
            {"test": item.test, "left_out": item.left_out, "metrics": _changes_json(item.changes)}
            for item in shifts.judged
        ],
        "load": _changes_json(shifts.load.changes) if shifts.load else None,
        "geometric_means": _changes_json(shifts.means),
        "tests_in_means": shifts.tests_in_mean,
        "notes": list(generations.notes),
    }


def _changes_json(changes: Mapping[str, Change]) -> dict[str, Any]:
    return {
        metric: {
            "old": _ratio_json(change.old),
            "new": _ratio_json(change.new),
            "shift": _ratio_json(change.shift),
            "mark": str(change.mark),
        }
        for metric, change in changes.items()
    }


def _ratio_json(value: Ratio | None) -> dict[str, Any] | None:
    if value is None:
        return None
    plain: float | str = "inf" if math.isinf(value.value) else value.value
    return {"ratio": plain, **spread_of(value)._asdict(), "blocks": value.blocks}
