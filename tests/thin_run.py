"""Writes a small copy of a stored run to tests/data/runs: `python -m tests.thin_run DIR…`.

It holds what judging needs of the journal: rows and what their slots cost, blocks, drains, counters. What reports show besides is
left out (settings, plans, response times, memory, state of the data), and so are user and system CPU, calls and faults.
"""

import json
import lzma
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "data/runs"
RECORDS = ("experiment", "load", "block", "drain", "counters", "background", "look", "finished")
ROW = ("type", "dropped", "tag", "row", "started_unix_ns")
HOST = ("wall_ns", "foreign_cpu_ns", "steal_ns")
SLOT = (
    "target",
    "position",
    "elapsed_ns",
    "ops",
    "affected",
    "server_cpu_ns",
    "server_foreground_cpu_ns",
    "server_background_cpu_ns",
    "server_read_bytes",
    "server_write_bytes",
)


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for folder in map(Path, sys.argv[1:]):
        lines = (folder / "journal.jsonl").read_text().splitlines()
        kept = [thin(record) for record in map(json.loads, lines) if record["type"] in ("row", *RECORDS)]
        text = "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in kept)
        path = FOLDER / f"{folder.resolve().name}.jsonl.xz"
        path.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
        print(f"{path}: {path.stat().st_size} bytes")


def thin(record: dict[str, Any]) -> dict[str, Any]:
    if record["type"] != "row":
        return record
    slots = [_only(slot, SLOT) for slot in record["slots"]]
    return {**_only(record, ROW), "host": _only(record["host"], HOST), "slots": slots}


def _only(record: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: record[name] for name in names if name in record}


if __name__ == "__main__":
    main()
