"""Writes a small copy of a stored run to tests/data/runs: `python -m tests.thin_run DIR…`.

It holds what judging needs of the journal: rows and what their slots cost, blocks, drains, counters. What reports show besides is
left out (settings, plans, response times, memory, state of the data), and so are user and system CPU, calls and faults.
"""

import lzma
import sys
from pathlib import Path
from typing import TypeVar

import msgspec

from dbversus.results.journal import parse_journal
from dbversus.results.records import (
    AnyRecord,
    Background,
    Block,
    Counters,
    Drain,
    Experiment,
    Finished,
    HostFigures,
    Load,
    Look,
    Row,
    Slot,
    encode,
)
from dbversus.results.schema import JOURNAL, SCHEMA_VERSION

FOLDER = Path(__file__).parent / "data/runs"
KEPT = (Experiment, Load, Block, Row, Drain, Counters, Background, Look, Finished)
HOST = ("wall_ns", "foreign_cpu_ns", "steal_ns")
SLOT = (
    "target",
    "position",
    "settle_ops",
    "settle_read_bytes",
    "settle_write_bytes",
    "elapsed_ns",
    "ops",
    "affected",
    "server_cpu_ns",
    "server_foreground_cpu_ns",
    "server_background_cpu_ns",
    "server_read_bytes",
    "server_write_bytes",
)

Figures = TypeVar("Figures", HostFigures, Slot)


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for folder in map(Path, sys.argv[1:]):
        records, _ = parse_journal(folder / JOURNAL)
        text = b"".join(encode(thin(record)) + b"\n" for record in records if isinstance(record, KEPT))
        path = FOLDER / f"{folder.resolve().name}.jsonl.xz"
        path.write_bytes(lzma.compress(text, preset=9 | lzma.PRESET_EXTREME))
        print(f"{path}: {path.stat().st_size} bytes")


def thin(record: AnyRecord) -> AnyRecord:
    if isinstance(record, Experiment):  # it is written in the words of today, whatever it was stored in
        return msgspec.structs.replace(record, schema=SCHEMA_VERSION)
    if not isinstance(record, Row):
        return record
    slots = [_only(slot, SLOT) for slot in record.slots]
    return msgspec.structs.replace(record, host_figures=_only(record.host_figures, HOST), slots=slots, order=[])


def _only(figures: Figures, names: tuple[str, ...]) -> Figures:
    return type(figures)(**{name: getattr(figures, name) for name in names})


if __name__ == "__main__":
    main()
