"""What a test read and wrote, what paying its debt took, and how that compares with the rows that it inserted."""

from collections.abc import Mapping
from typing import Any

Sums = Mapping[str, Any]


def disk(sums: Sums, base: float | None, rows: float | None) -> dict[str, float | None]:
    """Requests to the disk and their bytes, per second of driven time and per `base`, or inserted row; as the reference's."""
    seconds = sums["seconds"]
    return {
        "rps": over(sums["disk_reads"], seconds),
        "rmbps": over(sums["disk_read_bytes"], seconds * 1e6),
        "wps": over(sums["disk_writes"], seconds),
        "wmbps": over(sums["disk_write_bytes"], seconds * 1e6),
        "rpq": over(sums["disk_reads"], base),
        "rkbpq": over(sums["disk_read_bytes"], (base or 0) * 1e3),
        "wpi": over(sums["disk_writes"], rows),
        "wkbpi": over(sums["disk_write_bytes"], (rows or 0) * 1e3),
    }


def paid(sums: Sums, line: Sums, drained: Sums, amounts: Sums) -> dict[str, float | None]:
    """The debt that was paid after the test, and the amplifications.

    The drain pays for all operations before it: warm-ups and pilots too, where the test has such. The test has its share.
    """
    share = min(1.0, sums["ops"] / drained["ops"]) if drained.get("ops") else 1.0
    cpu_us, drain_bytes = (_times(drained.get(name), share) for name in ("cpu_us", "write_bytes"))
    written = None if sums["write_bytes"] is None else sums["write_bytes"] + (drain_bytes or 0.0)
    return {
        "dcpupq": over(cpu_us, line["base"]),
        "dwmb": over(drained.get("write_bytes"), line["blocks"] * 1e6),
        "dwkbpi": over(drain_bytes, (line["rows"] or 0) * 1e3),
        "wamp": over(written, amounts.get("inserted_bytes")),
        "samp": amounts.get("space"),
        "dbgb1": amounts.get("database_gb"),
        "dbgb2": amounts.get("data_dir_gb"),
    }


def over(value: float | None, by: float | None) -> float | None:
    """None where either is not known, or there is nothing to divide by."""
    return None if value is None or not by else float(value) / by


def _times(value: float | None, share: float) -> float | None:
    return None if value is None else float(value) * share
