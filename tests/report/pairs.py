"""Writes results of two DBMSs in two generations, with known ratios: the smallest journals that such a comparison needs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dbversus.results.write import create_results_dir

from ..journals import DictJournal

BLOCKS, ROWS = 4, 8


@dataclass(frozen=True)
class Contender:
    """One target: its label, DBMS and version, and time and CPU per operation relative to the first of all targets."""

    label: str
    dbms: str
    version: str
    time: float = 1.0
    cpu: float = 1.0
    read_bytes: float = 0.0


FOUR = (
    Contender("postgres:11", "postgres", "11.22"),
    Contender("mysql:5.6", "mysql", "5.6.51", time=1.25, cpu=0.9),
    Contender("postgres:17", "postgres", "17.2", time=0.8, read_bytes=4096),
    Contender("mysql:8.0", "mysql", "8.0.36", time=2.0, cpu=1.8),
)
TESTS = ("point-query", "update-index")


def write_pairs(
    directory: Path, contenders: Sequence[Contender] = FOUR, blocks: int = BLOCKS, seed: int = 1, **header: Any
) -> Path:
    """A results directory, not sealed; `header`: more for its first line."""
    rng = np.random.default_rng(seed)
    create_results_dir(directory)
    names = [f"t{number}" for number in range(len(contenders))]
    described = [
        {"name": name, "label": each.label, "dbms": each.dbms, "version": each.version, "config": ""}
        for name, each in zip(names, contenders, strict=True)
    ]
    first = {"type": "experiment", "schema": 2, "targets": described, "tests": ["load", *TESTS], "table_size": 1000}
    with DictJournal(directory) as journal:
        journal.append({**first, **header})
        for name, each in zip(names, contenders, strict=True):
            journal.append(_load(name, each))
        for test in TESTS:
            answers = {name: {"rows": 20, "affected": 0, "checksum": "9f"} for name in names}
            journal.append({"type": "check", "test": test, "targets": answers, "agree": True, "differs": []})
        for block in range(blocks):
            shift = dict(zip(names, rng.normal(0, 0.004, len(names)), strict=True))
            for test in TESTS:
                for row in range(ROWS):
                    slots = [_slot(name, each, shift[name]) for name, each in zip(names, contenders, strict=True)]
                    journal.append(_row(test, block, row, slots))
    return directory


def wrong_answer(directory: Path, test: str, name: str, names: Sequence[str]) -> None:
    """Journals a check in which one target answers otherwise."""
    answers = {each: {"rows": 20, "affected": 0, "checksum": "00" if each == name else "9f"} for each in names}
    with DictJournal(directory) as journal:
        journal.append({"type": "check", "test": test, "targets": answers, "agree": False, "differs": [name]})


def _load(name: str, contender: Contender) -> dict[str, Any]:
    elapsed = int(10**9 * contender.time)
    figures = {"rows": 1000, "elapsed_ns": elapsed, "server_cpu_ns": int(5 * 10**8 * contender.cpu)}
    return {"type": "load", "target": name, "table": "sbtest1", "earlier": False, "figures": figures}


def _row(test: str, block: int, row: int, slots: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "type": "row",
        "disturbed": False,
        "block": block,
        "test": test,
        "clients": 1,
        "row": row,
        "started_unix_ns": 1,
        "host_figures": {"wall_ns": 200_000_000, "foreign_cpu_ns": 0, "steal_ns": 0},
        "slots": slots,
    }


def _slot(name: str, contender: Contender, shift: float) -> dict[str, Any]:
    ops = 1000
    op_ns = 50_000 * contender.time * np.exp(shift)
    figures = {"rows": ops, "affected": 0, "errors": {}, "server_read_bytes": int(ops * contender.read_bytes)}
    return {
        "target": name, "position": int(name[1:]), "elapsed_ns": int(ops * op_ns), "ops": ops, "statements": ops,
        "server_cpu_ns": int(ops * 30_000 * contender.cpu * np.exp(shift)), "server_switches": 2 * ops,
        "disk_reads": ops // 2 if contender.read_bytes else 0, "disk_write_bytes": 512 * ops, "server_write_bytes": 512 * ops,
        "disk_read_bytes": int(ops * contender.read_bytes), **figures,
    }  # fmt: skip
