"""Load figures: each target's own, with when they were taken, or whose data it shares."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from dbversus.report.model import Assessment, LoadFigure
from dbversus.results.records import Load, LoadFigures
from dbversus.results.stored import Results
from dbversus.stats.metrics import LOAD_TEST

ONE_RUN = timedelta(hours=1)

_COPY = re.compile(r"(?P<stem>.*?)(?P<number>\d+)(?P<size>@\w+)?")


def load_figures(results: Results) -> tuple[LoadFigure, ...]:
    """Tables that begin empty have none; copies of a table are one, with their totals."""
    empty = {load.table for load in results.loads if load.own and not load.own.rows}
    loads = [load for load in results.loads if (load.own or load.shares) and load.table not in empty]
    last = {(load.target, load.table or ""): load for load in loads}
    names = _names_of_copies({table: load for (_, table), load in reversed(last.items())})
    groups: dict[tuple[str, str], list[Load]] = {}
    for (target, table), load in last.items():
        groups.setdefault((target, names.get(table, table)), []).append(load)
    together = {place: _together(group) for place, group in groups.items()}
    return tuple(
        _figure(results, load, table, together.get((results.base.name, table))) for (_, table), load in together.items()
    )


def _names_of_copies(loads: Mapping[str, Load]) -> dict[str, str]:
    """Table → `thing1 to thing50`, of tables that differ in a number from 1 on, and have as many rows."""
    stems: dict[tuple[str, str], dict[int, str]] = {}
    for table in loads:
        if found := _COPY.fullmatch(table):
            stems.setdefault((found["stem"], found["size"] or ""), {})[int(found["number"])] = table
    names: dict[str, str] = {}
    for (stem, size), tables in stems.items():
        rows = {figures.rows if (figures := loads[table].own) else None for table in tables.values()}
        if len(tables) > 1 and sorted(tables) == list(range(1, len(tables) + 1)) and len(rows) == 1:
            names |= dict.fromkeys(tables.values(), f"{stem}1 to {stem}{len(tables)}{size}")
    return names


def _together(loads: Sequence[Load]) -> Load:
    """One load with the sums of all; what one of them does not tell is not known."""
    own = [load.own for load in loads if load.own]
    if len(loads) == 1 or len(own) < len(loads):
        return loads[-1]
    sums = LoadFigures(**{name: total(own, name) for name in ("rows", "elapsed_ns", "server_cpu_ns")})
    return msgspec.structs.replace(loads[-1], earlier=any(load.earlier for load in loads), figures=sums)


def total(loads: Iterable[LoadFigures | None], name: str) -> Any:
    """Sum of a figure over loads; None when any of them does not know it."""
    values = [getattr(figures, name, None) for figures in loads]
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _figure(results: Results, load: Load, table: str, of_base: Load | None) -> LoadFigure:
    label, figures = results.label(load.target), load.own
    if figures is None:
        return LoadFigure(label, table, load.earlier, load.loaded_at, shares=load.shares)
    compared = of_base if of_base and of_base.own and load.target != results.base.name else None
    rate, cpu = _per_second(figures), _cpu_us_per_row(figures)
    base_rate, base_cpu = (_per_second(compared.own), _cpu_us_per_row(compared.own)) if compared else (None, None)
    return LoadFigure(
        label,
        table,
        load.earlier,
        load.loaded_at,
        rows=figures.rows or 0,
        rows_per_s=rate,
        seconds=(figures.elapsed_ns or 0) / 1e9,
        server_cpu_us_per_row=cpu,
        rate_ratio=rate / base_rate if rate and base_rate else None,
        cpu_ratio=cpu / base_cpu if cpu and base_cpu else None,
        note=_note(load, compared) if compared else "",
    )


def _per_second(figures: LoadFigures | None) -> float | None:
    return (figures.rows or 0) / figures.elapsed_ns * 1e9 if figures and figures.elapsed_ns else None


def _cpu_us_per_row(figures: LoadFigures | None) -> float | None:
    return figures.server_cpu_ns / 1e3 / figures.rows if figures and figures.rows and figures.server_cpu_ns else None


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


def loads_note(assessment: Assessment) -> str:
    """What figures of loads do not have, and which ones do."""
    note = "Each table is loaded once (n = 1), so these figures have no interval and no verdict."
    if is_load_judged(assessment):
        note = (
            "This is how the data of the tests was loaded: once (n = 1), so without an interval or a verdict. Every block loads "
            f"a table again, on a fresh server: that is the test {LOAD_TEST}, which has both."
        )
    return " ".join(filter(None, [note, times_note(assessment.loads)]))


def is_load_judged(assessment: Assessment) -> bool:
    """Whether every block repeats the load, as a test."""
    return bool(assessment.header.spec.get("judge_load"))


def times_note(loads: Sequence[LoadFigure]) -> str:
    """A sentence where ratios are of loads of different times; else empty."""
    if not any(load.note and load.note != "n = 1" for load in loads):
        return ""
    return "Loads of different times are compared here: the host, and other work on it, may have differed."
