"""Writes a results directory as an experiment would: a real journal, server files, host facts; with known changes in it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from hdrh.histogram import HdrHistogram

from dbversus.results.write import create_results_dir, seal

from ..journals import DictJournal

BLOCKS = 4
ROWS = 24
SCANNED_ROWS = 1_000_000
WALL_NS = 104_000_000
FOREIGN_CPU_NS = 78_000_000
"""What other processes use in a disturbed row."""
HOSTILE = "<script>alert('x')</script>"
LABELS = ("postgres:13.1", "postgres:17.11", f"postgres:17.11@{HOSTILE}")
SERVER_WORDS = 'FATAL:  invalid value for parameter "shared_buffers": <b>"128XB"</b>'


@dataclass(frozen=True)
class Truth:
    """A test and its factors on targets 1 and 2: CPU/op, time/op, IO/op. `spread` is the sd of block values (ln)."""

    name: str
    micros: float
    cpu: tuple[float, float] = (1.0, 1.0)
    time: tuple[float, float] | None = None
    io: tuple[float, float] = (1.0, 1.0)
    io_bytes: float = 0.0
    spread: float = 0.004
    disturbed_share: float = 0.03


TRUTHS = (
    Truth("point-query", 28, cpu=(0.97, 0.97)),
    Truth("random-points-100", 410),
    Truth("hot-points", 380, cpu=(1.00, 1.10)),
    Truth("points-covered-si", 520, spread=0.03),
    Truth("range-covered-pk", 130, cpu=(1.002, 1.002)),
    Truth("range-notcovered-si", 240, cpu=(1.16, 1.14)),
    Truth("read-only-10000", 9800, cpu=(0.88, 0.89)),
    Truth("read-only-count", 310, disturbed_share=0.45),
    Truth("scan", 90_000, spread=0.25),
    Truth("update-index", 160, cpu=(1.08, 1.01), time=(1.30, 1.01), io=(1.45, 0.7), io_bytes=5200),
    Truth("update-nonindex", 120, cpu=(1.0, 1.0), time=(1.12, 1.0), io_bytes=3100),
    Truth("insert", 95, cpu=(0.995, 0.995), io=(1.0, 0.62), io_bytes=2400),
)
WRONG_TEST = "random-points-100"
FAILED_TEST = "insert"  # the last target is out from here on


def write_results(
    directory: Path, targets: int = 3, rows: int = ROWS, blocks: int = BLOCKS, truths: tuple[Truth, ...] = TRUTHS
) -> Path:
    """A sealed results directory with `targets` targets, `blocks` blocks and `rows` rows per test and block."""
    rng = np.random.default_rng(7)
    create_results_dir(directory)
    _write_side_files(directory, targets)
    with DictJournal(directory) as journal:
        _write_start(journal, targets, truths)
        for block in range(blocks):
            journal.append({"type": "block", "block": block, "event": "started"})
            for truth in truths:
                _write_test(journal, rng, truth, block, rows, targets)
            journal.append({"type": "block", "block": block, "event": "finished"})
        journal.append({"type": "look", "blocks": blocks, "retired": ["point-query"]})
        journal.append({"type": "finished", "reason": "looks used up"})
    seal(directory)
    return directory


def _write_start(journal: DictJournal, targets: int, truths: tuple[Truth, ...]) -> None:
    described = [
        {
            "name": f"t{n}",
            "label": LABELS[n],
            "dbms": "postgres",
            "version": ("13.1", "17.11", "17.11")[n],
            "config": "",
        }
        for n in range(targets)
    ]
    names = [truth.name for truth in truths]
    command = f"dbversus compare {' '.join(LABELS[:targets])} --table-size 100k --seed 1"
    header = {"schema": 2, "dbversus": "0.1.0", "command": command, "targets": described, "tests": names}
    size = {"clients": [1], "table_size": 100_000, "tables": 1, "seed": 1, "mode": "prepared"}
    journal.append({"type": "experiment", **header, **size})
    for n in range(targets):
        figures = {
            "rows": 100_000,
            "elapsed_ns": 410_000_000 + n * 9_000_000,
            "insert_ns": 330_000_000,
            "after_ns": 80_000_000,
            "server_cpu_ns": 301_000_000,
        }
        journal.append({"type": "load", "target": f"t{n}", "table": "sbtest1", "earlier": False, "figures": figures})
    for name in names:
        differs = ["t1"] if name == WRONG_TEST else []
        answers = {
            f"t{n}": {"rows": 20, "affected": 0, "checksum": "9f" if n != 1 or not differs else "00"}
            for n in range(targets)
        }
        journal.append({"type": "check", "test": name, "targets": answers, "agree": not differs, "differs": differs})
        plan = {"block": 0, "slot": {"ms": 50}, "settle": {"ms": 5}, "rows": ROWS}
        scanned = SCANNED_ROWS if name == "scan" else None
        journal.append({"type": "slots", "test": name, **plan, "rows_scanned_per_op": scanned})


def _write_test(
    journal: DictJournal, rng: np.random.Generator, truth: Truth, block: int, rows: int, targets: int
) -> None:
    names = [f"t{n}" for n in range(targets)]
    if truth.name == FAILED_TEST and targets > 2:
        names.pop()
        if block == 0:
            where = {"target": "t2", "block": 0, "test": truth.name, "stage": "slot"}
            journal.append({"type": "failure", **where, "message": SERVER_WORDS, "final": True})
    shift = {name: rng.normal(0, truth.spread) for name in names}
    for row in range(rows):
        journal.append(_row(rng, truth, block, row, names[::-1] if row % 2 else names, shift))
    hdr = {name: _histogram(rng, truth, int(name[1:])) for name in names}
    journal.append({"type": "latency", "block": block, "test": truth.name, "hdr": hdr, "error_examples": {}})
    journal.append({"type": "test", "block": block, "test": truth.name, "seconds": 4.2})


def _row(
    rng: np.random.Generator, truth: Truth, block: int, row: int, order: list[str], shift: dict[str, float]
) -> dict[str, Any]:
    noise = rng.normal(0, 0.05)
    slots = [_slot(rng, truth, name, place, noise, shift[name]) for place, name in enumerate(order)]
    disturbed = bool(rng.random() < truth.disturbed_share)
    host = {
        "wall_ns": WALL_NS,
        "foreign_cpu_ns": int(rng.exponential(1e6)) + disturbed * FOREIGN_CPU_NS,
        "steal_ns": 10_000,
    }
    return {
        "type": "row",
        "disturbed": disturbed,
        "disturbed_why": "other processes used 75% of a core (limit 50%)" if disturbed else None,
        "block": block,
        "test": truth.name,
        "clients": 1,
        "row": row,
        "order": order,
        "started_unix_ns": 1_760_000_000_000_000_000 + block * 10**12 + row * 10**8,
        "host_figures": host,
        "slots": slots,
    }


def _factors(truth: Truth, name: str) -> tuple[float, float, float]:
    target = int(name[1:])
    if target == 0:
        return 1.0, 1.0, 1.0
    return truth.cpu[target - 1], (truth.time or truth.cpu)[target - 1], truth.io[target - 1]


def _slot(
    rng: np.random.Generator, truth: Truth, name: str, position: int, noise: float, shift: float
) -> dict[str, Any]:
    cpu, wall, io = _factors(truth, name)
    op_ns = truth.micros * 1000 * wall * np.exp(noise + shift + rng.normal(0, 0.02))
    ops = max(1, int(50e6 / op_ns))
    elapsed = int(ops * op_ns)
    server = int(ops * truth.micros * 1000 * 0.62 * cpu * np.exp(noise + shift + rng.normal(0, 0.015)))
    written = int(ops * truth.io_bytes * io * np.exp(rng.normal(0, 0.02)))
    client = int(ops * 9_000)
    return {
        "target": name, "position": position, "elapsed_ns": elapsed, "ops": ops, "statements": ops, "rows": ops,
        "affected": 0, "errors": {}, "mean_ns": int(op_ns), "p50_ns": int(op_ns * 0.96), "p95_ns": int(op_ns * 1.3),
        "p99_ns": int(op_ns * 1.8), "max_ns": int(op_ns * 4), "late": 0, "dropped": 0,
        "server_cpu_ns": server, "server_user_ns": int(server * 0.7), "server_system_ns": int(server * 0.3),
        "server_foreground_cpu_ns": int(server * 0.93), "server_background_cpu_ns": int(server * 0.07),
        "server_wait_ns": ops * 300, "server_switches": 2 * ops, "server_minor_faults": 3, "server_major_faults": 0,
        "server_read_bytes": 0, "server_write_bytes": written, "server_read_calls": 0,
        "server_write_calls": written // 8192, "client_cpu_ns": client, "client_user_ns": int(client * 0.4),
        "client_system_ns": int(client * 0.6), "client_switches": ops,
    }  # fmt: skip


def _histogram(rng: np.random.Generator, truth: Truth, target: int) -> str:
    _, wall, _ = _factors(truth, f"t{target}")
    drawn: npt.NDArray[np.float64] = truth.micros * 1000 * wall * rng.lognormal(0, 0.25, 4000)
    rounded = np.round(drawn, 1 - int(np.log10(truth.micros * 1000)))  # the histogram keeps no more
    histogram = HdrHistogram(1, 60_000_000_000, 2)
    for value, count in zip(*np.unique(rounded.astype(int), return_counts=True), strict=True):
        histogram.record_value(int(value), int(count))
    text: bytes = histogram.encode()
    return text.decode()


def _write_side_files(directory: Path, targets: int) -> None:
    (directory / "experiment.toml").write_text(f"targets = {json.dumps(LABELS[:targets])}\nseed = 1\n")
    host = {
        "cpu": {"model": "Synthetic CPU @ 3.0 GHz", "cores": 2},
        "memory_bytes": 8_000_000_000,
        "kernel": "6.1.0",
        "placement": {"mode": "together", "server_cpus": [0], "client_cpus": [0]},
        "not_measured": ["hardware counters: this host shows none", "drop of page cache: needs root"],
    }
    (directory / "host.json").write_text(json.dumps(host))
    for n in range(targets):
        _write_server(directory / "servers" / f"t{n}", n)


def _write_server(folder: Path, n: int) -> None:
    folder.mkdir(parents=True)
    build = {"dbms": "postgres", "version": ("13.1", "17.11", "17.11")[n], "provider": "npm", "checksum": f"sha256:{n}ab",
             "compiled": "gcc 10.2.1, 64-bit"}  # fmt: skip
    settings = {
        "shared_buffers": "16384",
        "port": f"543{n}",
        "data_directory": f"/data/t{n}",
        "jit": ("off", "on", "on")[n],
    }
    if n == 2:
        settings["wal_compression"] = HOSTILE
    index_scan = "Index Scan using k_1 on sbtest1  (cost=0.42..8.44 rows=1 width=121)\n  Index Cond: (k = 5)"
    bitmap = "Bitmap Heap Scan on sbtest1  (cost=4.2..9.1 rows=3 width=121)\n  Recheck Cond: (k = 5)"
    plans = {"range-notcovered-si": {"range": bitmap if n else index_scan}, "point-query": {"point": index_scan}}
    (folder / "build.json").write_text(json.dumps(build))
    (folder / "settings.json").write_text(json.dumps(settings))
    (folder / "plans.json").write_text(json.dumps(plans))
    (folder / "sizes.json").write_text(json.dumps({"data_dir": 60_000_000 + n * 10**6, "log": 16_777_216}))
    (folder / "config.txt").write_text("shared_buffers = 128MB\n")
    (folder / "log_tail.txt").write_text(f"LOG:  database system is ready to accept connections {HOSTILE}\n")
