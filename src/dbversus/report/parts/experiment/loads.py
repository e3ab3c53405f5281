"""Load figures: each target's own, with when they were taken, or whose data it shares."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from dbversus.report.model import LoadFigure
from dbversus.results.records import Load
from dbversus.results.stored import Results
from dbversus.stats.metrics import LOAD_TEST
from dbversus.stats.model import Finding

ONE_RUN = timedelta(hours=1)

Ratios = Mapping[tuple[str, str], float | None]


def load_figures(results: Results, findings: Sequence[Finding]) -> tuple[LoadFigure, ...]:
    """Tables that begin empty have none."""
    ratios = {(item.target, item.metric): item.ratio for item in findings if item.test == LOAD_TEST}
    empty = {load.table for load in results.loads if load.own and not load.own.rows}
    loads = [load for load in results.loads if (load.own or load.shares) and load.table not in empty]
    of_base = {load.table: load for load in loads if load.target == results.base.name}
    return tuple(_figure(results, load, ratios, of_base.get(load.table)) for load in loads)


def _figure(results: Results, load: Load, ratios: Ratios, of_base: Load | None) -> LoadFigure:
    label, table = results.label(load.target), load.table or ""
    figures = load.own
    if figures is None:
        return LoadFigure(label, table, load.earlier, load.loaded_at, shares=load.shares)
    rows, seconds = figures.rows or 0, (figures.elapsed_ns or 0) / 1e9
    cpu_ns = figures.server_cpu_ns
    rate_ratio = ratios.get((label, "load_rows_per_s"))
    compared = of_base if rate_ratio is not None else None
    return LoadFigure(
        label,
        table,
        load.earlier,
        load.loaded_at,
        rows=rows,
        rows_per_s=rows / seconds,
        seconds=seconds,
        server_cpu_us_per_row=cpu_ns / 1e3 / rows if cpu_ns is not None and rows else None,
        rate_ratio=rate_ratio,
        cpu_ratio=ratios.get((label, "load_cpu_us_per_row")),
        note=_note(load, compared) if compared else "",
    )


def _note(load: Load, of_base: Load) -> str:
    """What a ratio of two loads has to be read with."""
    if (load.earlier or of_base.earlier) and not _of_one_run(load, of_base):
        return f"n = 1, and loads of other times are compared: {_when(load)} against {_when(of_base)}"
    return "n = 1"


def _of_one_run(load: Load, of_base: Load) -> bool:
    """Whether two earlier loads are likely to be of one run: it loads one target after the other."""
    if load.loaded_at is None or of_base.loaded_at is None:
        return False
    return abs(datetime.fromisoformat(load.loaded_at) - datetime.fromisoformat(of_base.loaded_at)) <= ONE_RUN


def _when(load: Load) -> str:
    return when_text(load.earlier, load.loaded_at)


def when_text(earlier: bool, loaded_at: str | None) -> str:
    """`this run`, `2026-07-01 12:00 UTC`, or that an older dbversus did not write it down."""
    if not earlier:
        return "this run"
    return f"{loaded_at[:16].replace('T', ' ')} UTC" if loaded_at else "for an earlier run"


def origin_text(load: LoadFigure) -> str:
    """Where a figure is from: `this run`, the time of an earlier load, or whose data there is instead."""
    if load.shares == load.target:
        return f"has data loaded {when_text(True, load.loaded_at)}, with other settings that act at run time"
    if load.shares:
        return f"shares the data of {load.shares}"
    return when_text(load.earlier, load.loaded_at)


def times_note(loads: Sequence[LoadFigure]) -> str:
    """A sentence where ratios are of loads of different times; else empty."""
    if not any(load.note and load.note != "n = 1" for load in loads):
        return ""
    return "Loads of different times are compared here: the host, and other work on it, may have differed."
