"""What `jobs summaryjson` of HammerDB 6 writes: results, and series of TPM with the second."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from dbversus.importing.formats.hammerdb import (
    MINUTES,
    NOPM,
    QUERIES,
    QUERIES_PER_S,
    QUERY_MEAN,
    SETS,
    SETS_TIME,
    TPM,
    USERS,
)
from dbversus.importing.formats.sysbench import test_name
from dbversus.importing.lines import Text
from dbversus.importing.model import Metric, Sheet, Source

_SCHEMA = re.compile(r'"schema"\s*:\s*"hammerdb-job-report-v\d+"')
_OF_RESULT: Mapping[str, Metric] = {
    "active_virtual_users": USERS,
    "nopm": NOPM,
    "tpm": TPM,
    "queries": QUERIES,
    "query_sets": SETS,
    "geomean_seconds": QUERY_MEAN,
    "total_query_time_seconds": SETS_TIME,
}
_OF_CONFIG: Mapping[str, Metric] = {
    "warehouses": Metric("warehouses", ""),
    "scale_factor": Metric("scale_factor", ""),
    "rampup_minutes": Metric("ramp_up", "min"),
    "duration_minutes": MINUTES,
}
_OF_MACHINE: Mapping[str, Mapping[str, Metric]] = {
    "cpu_percent": {f"{kind}_pct": Metric(f"cpu_{kind}", "%") for kind in ("usr", "sys", "irq", "idle")},
    "iops": {"value": Metric("iops", "1/s")},
    "mbps": {"value": Metric("mbps", "MB/s")},
}
_UNITS = {"_ms": "ms", "_pct": "%", "seconds": "s"}
_NAMELESS = re.compile(r"results?|summary|[0-9a-f]{16,}", re.IGNORECASE)
_LONGEST_CHARACTERS = 64 << 20

Figure = tuple[str, Metric, Any, float | None]
"""Key at which it stands, metric, value, and second."""


def fits(name: str, head: str) -> bool:
    return bool(_SCHEMA.search(head))


def read(source: Source, text: Text, sheet: Sheet) -> str:
    rows = dict(text)
    whole = "\n".join(rows.values())
    if len(whole) > _LONGEST_CHARACTERS:
        return "it is longer than a summary is"
    try:
        content = json.loads(whole)
    except ValueError as error:
        return f"it is no JSON, or cut off ({error})"
    if not isinstance(content, dict):
        return "it is no JSON object"
    result, job = _part(content, "result"), _part(content, "job")
    users = str(result.get("active_virtual_users") or _part(content, "benchmark_config").get("virtual_users") or "")
    name = test_name(source.name)
    test = str(job.get("benchmark") or name).lower() if _NAMELESS.fullmatch(name) else name
    place = sheet.run_of(source, test, int(users) if users.isdecimal() else None)
    for key, metric, value, second in _figures(content):
        line = next((number for number, row in rows.items() if f'"{key}"' in row), 1)
        sheet.add(place, metric, line, str(value), **({} if second is None else {"second": second}))
    for number, row in rows.items():
        sheet.keep(number, row, "note")
    return "" if "nopm" in result or "geomean_seconds" in result else "it has no result"


def _figures(content: Mapping[str, Any]) -> Iterator[Figure]:
    for part, metrics in (("result", _OF_RESULT), ("benchmark_config", _OF_CONFIG)):
        of_part = _part(content, part)
        yield from (
            (key, metric, of_part[key], None) for key, metric in metrics.items() if of_part.get(key) is not None
        )
    yield from _rate(_part(content, "result"))
    began = _moment(_part(content, "job").get("timestamp"))
    for series in _rows(_part(content, "transaction_count"), "series"):
        yield from _series(_rows(series, "points"), began, {"value": TPM})
    for name, metrics in _OF_MACHINE.items():
        yield from _series(_rows(_part(content, "metrics"), name), began, metrics)
    for row in _rows(_part(content, "response_times"), "rows"):
        yield from _of_row(str(row.get("name") or ""), row)
    for row in _rows(_part(content, "query_times"), "rows"):
        yield from _of_row(f"query {row.get('name')}", row)


def _rate(result: Mapping[str, Any]) -> Iterator[Figure]:
    """Of TPROC-H, queries in their time."""
    try:
        queries, elapsed_s = (
            float(result["queries"]) * float(result["query_sets"]),
            float(result["total_query_time_seconds"]),
        )
    except (KeyError, TypeError, ValueError):
        return
    if elapsed_s > 0:
        yield "total_query_time_seconds", QUERIES_PER_S, f"{queries / elapsed_s:.6f}", None


def _series(
    points: Sequence[Mapping[str, Any]], began: datetime | None, metrics: Mapping[str, Metric]
) -> Iterator[Figure]:
    """With seconds from the start of the job, else from the first point."""
    for point in points:
        moment = _moment(point.get("timestamp"))
        began = began or moment
        if moment is None or began is None:
            continue
        second = (moment - began).total_seconds()
        yield from ((key, metric, point[key], second) for key, metric in metrics.items() if _is_number(point.get(key)))


def _moment(text: object) -> datetime | None:
    try:
        return datetime.fromisoformat(str(text)).replace(tzinfo=None)
    except ValueError:
        return None


def _of_row(name: str, row: Mapping[str, Any]) -> Iterator[Figure]:
    """As a log has them: `p95_ms` of NEWORD is `NEWORD p95` in ms; `seconds` of a query is its own time."""
    for key, value in row.items():
        if _is_number(value):
            figure, unit = next(
                ((key.removesuffix(end), unit) for end, unit in _UNITS.items() if key.endswith(end)), (key, "")
            )
            yield key, Metric(f"{name} {figure}".strip(), unit), value, None


def _part(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = content.get(name)
    return part if isinstance(part, dict) else {}


def _rows(part: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    rows = part.get(name)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
