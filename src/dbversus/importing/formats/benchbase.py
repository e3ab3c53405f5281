"""Results of BenchBase: `*.summary.json`, and `*.results.csv` and `*.samples.csv` with a line per window of time."""

import csv
import json
import re

from dbversus.importing.lines import Text
from dbversus.importing.model import Metric, Sheet, Source

_TIME = "Time (seconds)"
_UNITS = {
    "requests/second": "1/s",
    "req/s": "1/s",
    "microseconds": "µs",
    "millisecond": "ms",
    "milliseconds": "ms",
    "seconds": "s",
}
_NAME = re.compile(r"(.+?)_\d{4}-\d\d-\d\d_[\d-]+\.(?:summary\.json|results\.csv|samples\.csv)$")
_ENTRY = re.compile(r'\s*"[^"]+"\s*:\s*"?([^",{]*)"?,?\s*$')
"""A line of a summary that is printed with a line for each entry."""
_LATENCY, _LATENCIES = "latency", "Latency Distribution"


def fits(name: str, head: str) -> bool:
    return head.startswith(_TIME) or ('"Throughput (requests/second)"' in head and '"Latency Distribution"' in head)


def read(source: Source, text: Text, sheet: Sheet) -> str:
    match = _NAME.match(source.name)
    test = match[1] if match else source.name.split(".")[0]
    return (
        _read_windows(source, test, text, sheet)
        if text.head.startswith(_TIME)
        else _read_summary(source, test, text, sheet)
    )


def _read_summary(source: Source, test: str, text: Text, sheet: Sheet) -> str:
    try:
        content = json.loads(text.head)
    except ValueError as error:
        return f"it is no JSON ({error})" if text.ended else "it is longer than a summary is"
    if not isinstance(content, dict):
        return "it is no JSON object"
    users = str(content.get("terminals") or "")
    place = sheet.run_of(source, test, int(users) if users.isdecimal() else None)
    latencies = content.get(_LATENCIES)
    entries = {**content, **(latencies if isinstance(latencies, dict) else {})}
    rows = list(text)
    for key, value in entries.items():
        if isinstance(value, int | float | str) and _is_number(str(value)):
            sheet.add(place, _metric(key), next((number for number, row in rows if f'"{key}"' in row), 1), str(value))
    for number, row in rows:
        if _ENTRY.match(row) is None or not _is_number(_ENTRY.sub(r"\1", row)):
            sheet.keep(number, row, "note")
    return ""


def _read_windows(source: Source, test: str, text: Text, sheet: Sheet) -> str:
    place = sheet.run_of(source, test)
    numbered = iter(text)
    metrics = [_metric(name) for name in next(csv.reader([next(numbered)[1]]))]
    for number, line in numbered:
        cells = line.split(",")
        if len(cells) != len(metrics) or not _is_number(cells[0]):
            sheet.unknown(number, line)
            continue
        for metric, cell in zip(metrics, cells, strict=True):
            sheet.add(place, metric, number, cell.strip(), float(cells[0]))
    return ""


def _metric(words: str) -> Metric:
    """`99th Percentile Latency (microseconds)` → latency_p99 in µs."""
    name, _, unit = words.partition(" (")
    unit = unit.removesuffix(" scaled").removesuffix(")")
    name = re.sub(r"(\d+)th Percentile Latency", r"latency_p\1", name)
    for word, short in (("Average", "mean"), ("Minimum", "min"), ("Maximum", "max"), ("Median", "p50")):
        name = name.replace(f"{word} Latency", f"{_LATENCY}_{short}")
    return Metric(name.lower().replace(" ", "_"), _UNITS.get(unit, unit))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
