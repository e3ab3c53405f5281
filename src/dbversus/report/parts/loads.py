"""Load figures: each target's own, with when they were taken, or whose data it shares."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from dbversus.report.model import LoadFigure
from dbversus.results.loads import is_own
from dbversus.results.read import Results
from dbversus.stats.metrics import LOAD_TEST
from dbversus.stats.model import Finding

ONE_RUN = timedelta(hours=1)

Ratios = Mapping[tuple[str, str], float | None]


def load_figures(results: Results, findings: Sequence[Finding]) -> tuple[LoadFigure, ...]:
    ratios = {(item.target, item.metric): item.ratio for item in findings if item.test == LOAD_TEST}
    loads = [record for record in results.loads if is_own(record) or record.get("shares")]
    of_base = {record.get("table"): record for record in loads if record["target"] == results.base.name}
    return tuple(_figure(results, record, ratios, of_base.get(record.get("table"))) for record in loads)


def _figure(
    results: Results, record: Mapping[str, Any], ratios: Ratios, of_base: Mapping[str, Any] | None
) -> LoadFigure:
    label, table = results.label(record["target"]), str(record.get("table", ""))
    earlier, loaded_at = bool(record.get("earlier")), record.get("loaded_at")
    if not is_own(record):
        return LoadFigure(label, table, earlier, loaded_at, shares=record["shares"])
    rows, seconds = int(record.get("rows") or 0), record["elapsed_ns"] / 1e9
    cpu_ns = record.get("server_cpu_ns")
    rate_ratio = ratios.get((label, "load_rows_per_s"))
    compared = of_base if rate_ratio is not None else None
    return LoadFigure(
        label,
        table,
        earlier,
        loaded_at,
        rows=rows,
        rows_per_s=rows / seconds,
        seconds=seconds,
        server_cpu_us_per_row=cpu_ns / 1e3 / rows if cpu_ns is not None and rows else None,
        rate_ratio=rate_ratio,
        cpu_ratio=ratios.get((label, "load_cpu_us_per_row")),
        note=_note(record, compared) if compared else "",
    )


def _note(record: Mapping[str, Any], of_base: Mapping[str, Any]) -> str:
    """What a ratio of two loads has to be read with."""
    if (record.get("earlier") or of_base.get("earlier")) and not _of_one_run(record, of_base):
        return f"n = 1, and loads of other times are compared: {_when(record)} against {_when(of_base)}"
    return "n = 1"


def _of_one_run(record: Mapping[str, Any], of_base: Mapping[str, Any]) -> bool:
    """Whether two earlier loads are likely to be of one run: it loads one target after the other."""
    times = [each.get("loaded_at") for each in (record, of_base)]
    if None in times:
        return False
    first, second = (datetime.fromisoformat(str(time)) for time in times)
    return abs(first - second) <= ONE_RUN


def _when(record: Mapping[str, Any]) -> str:
    return when_text(bool(record.get("earlier")), record.get("loaded_at"))


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
