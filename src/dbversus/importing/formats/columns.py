"""Units of the columns of the reference's reports, and lines of columns."""

from functools import lru_cache

from dbversus.importing.model import Metric

_UNITS = {
    "1/s": "r/s w/s o/s cs/s qps rps wps csps p50 p75 p90 p95 p99",
    "MB/s": "rMB/s wMB/s rmbps wmbps",
    "KB/s": "rkbps wkbps",
    "1/op": "r/o w/o cs/o rpq cspq",
    "KB/op": "rKB/o wKB/o rkbpq wkbpq",
    "1/row": "wpi",
    "KB/row": "wkbpi",
    "%": "cpu/s cpups",
    "%·s/op": "cpu/o",
    "µs/op": "cpupq ccpupq",
    "rows/s": "ips",
    "GB": "dbgb dbgb1 dbgb2 rss vsz",
    "s": "maxop",
}
UNITS = {name: unit for unit, names in _UNITS.items() for name in names.split()}
"""Name of a column → its unit (the reference's definitions: docs/import.md)."""


@lru_cache(maxsize=1_000)
def metric_of(column: str) -> Metric:
    return Metric(column, UNITS.get(column, ""))


def cells_of(line: str) -> list[str]:
    """Between tabs, several of which may stand together."""
    return [cell.strip() for cell in line.split("\t") if cell.strip()]
