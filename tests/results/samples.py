"""The smallest journals that say something."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hdrh.histogram import HdrHistogram

from dbversus.results.schema import SLOT_COLUMNS

from ..journals import DictJournal

HEADER: dict[str, Any] = {
    "type": "experiment",
    "schema": 2,
    "dbversus": "0.1.0",
    "command": "dbversus compare postgres:13.1 postgres:17.2",
    "targets": [
        {"name": "t0", "label": "postgres:13.1", "dbms": "postgres", "version": "13.1", "config": ""},
        {"name": "t1", "label": "postgres:17.2", "dbms": "postgres", "version": "17.2", "config": "fpw_off"},
    ],
    "tests": ["point-query"],
    "clients": [1],
}


def row(block: int, number: int, disturbed: bool = False) -> dict[str, Any]:
    figures = {name: 5 for name in SLOT_COLUMNS if name.startswith(("server_", "client_", "disk_", "device_"))}
    slots = [
        {"target": name, "position": place, "elapsed_ns": 50_000_000, "ops": 1000 + 100 * place, "statements": 1000,
         "rows": 1000, "affected": 0, "errors": {"deadlock": 2, "other": 1}, "mean_ns": 1, "p50_ns": 1, "p95_ns": 1,
         "p99_ns": 1, "max_ns": 1, **figures}
        for place, name in enumerate(("t0", "t1"))
    ]  # fmt: skip
    return {
        "type": "row",
        "block": block,
        "test": "point-query",
        "clients": 1,
        "row": number,
        "started_unix_ns": 1,
        "disturbed": disturbed,
        "disturbed_why": "foreign CPU" if disturbed else None,
        "host_figures": {"wall_ns": 110_000_000, "foreign_cpu_ns": 0, "psi_cpu_us": None},
        "slots": slots,
    }


def histogram(values_ns: Iterable[int]) -> str:
    made = HdrHistogram(1, 3_600_000_000_000, 3)
    for value in values_ns:
        made.record_value(value)
    text: bytes = made.encode()
    return text.decode()


def write_journal(directory: Path, rows: int, header: dict[str, Any] | None = None) -> None:
    with DictJournal(directory) as journal:
        journal.append(header or HEADER)
        for number in range(rows):
            journal.append(row(0, number))
        hdr = {"t0": histogram([1000, 2000, 3000]), "t1": histogram([10_000])}
        journal.append({"type": "latency", "block": 0, "test": "point-query", "hdr": hdr})
        figures = {"rows": 1000, "elapsed_ns": 2_000_000}
        journal.append({"type": "load", "target": "t1", "table": "sbtest1", "earlier": False, "figures": figures})


def write_judged_load(directory: Path, blocks: int = 3) -> None:
    """Blocks that repeat the load, of which an operation is a row; what was loaded once is ten times as fast."""
    with DictJournal(directory) as journal:
        journal.append({**HEADER, "tests": ["load", "point-query"], "table_size": 1100, "spec": {"judge_load": True}})
        for target in ("t0", "t1"):
            figures = {"rows": 2000, "elapsed_ns": 10_000_000, "server_cpu_ns": 1000}
            journal.append({"type": "load", "target": target, "table": "sbtest1", "earlier": False, "figures": figures})
        for block in range(blocks):
            plan = {"slot": {"ops": 1000, "slice_ms": 1000}, "settle": {"ops": 0}, "rows": 1, "does": {"": "insert"}}
            journal.append({"type": "slots", "block": block, "test": "load", **plan})
            for test in ("load", "point-query"):
                journal.append({**row(block, 0), "test": test})
            journal.append({"type": "block", "block": block, "event": "finished"})
