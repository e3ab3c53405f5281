"""What `jobs summaryjson` of HammerDB 6 writes: results, and series of TPM with the second."""

import json
import re
from collections.abc import Iterator, Mapping
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
    for series in _rows(_part(content, "transaction_count"), "series"):
        yield from _series(series)
    for part, unit in (("response_times", "ms"), ("query_times", "s")):
        of_part = _part(content, part)
        unit = {"milliseconds": "ms", "seconds": "s"}.get(str(of_part.get("unit")), unit)
        for row in _rows(of_part, "rows"):
            yield from _of_row(row, unit)


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


def _series(series: Mapping[str, Any]) -> Iterator[Figure]:
    first: datetime | None = None
    for point in _rows(series, "points"):
        try:
            moment = datetime.fromisoformat(str(point.get("timestamp")))
        except ValueError:
            continue
        first = first or moment
        second = (moment - first).total_seconds() if (moment.tzinfo is None) == (first.tzinfo is None) else None
        if second is not None and _is_number(point.get("value")):
            yield "points", TPM, point["value"], second


def _of_row(row: Mapping[str, Any], unit: str) -> Iterator[Figure]:
    """A row of response times: its name, and figures by theirs."""
    name = next((str(value) for value in row.values() if not _is_number(value) and isinstance(value, str)), "")
    for key, value in row.items():
        if _is_number(value):
            yield key, Metric(f"{name} {key}".strip(), unit), value, None


def _part(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = content.get(name)
    return part if isinstance(part, dict) else {}


def _rows(part: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    rows = part.get(name)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
