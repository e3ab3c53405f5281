#!/usr/bin/env python
"""How long `dbversus report` takes for an experiment of many slots, and how much memory.

Makes an experiment of 2 targets, 40 tests and 12 blocks, as tests/report/synthetic.py does: few rows of each block are
made and written as a run would, and then repeated, each time with other noise. The reports are written by a process of its own.
"""

import argparse
import dataclasses
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
from common import make_parser, markdown, say, told

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.report.synthetic import FAILED_TEST, TRUTHS, WRONG_TEST, write_results

EXAMPLE = """example:
  benchmarks/report_speed.py > report_speed.md
  benchmarks/report_speed.py --slots 100_000 --folder /dev/shm
"""
TARGETS, BLOCKS, COPIES_OF_TEST, ROWS = 2, 12, 4, 10
_ROW = re.compile(rb'"row":(\d+)')
_NOISE_SHARE = 0.05
# figures that verdicts stand on
_NOISY = ("elapsed_ns", "server_cpu_ns", "server_write_bytes")


def make_experiment(directory: Path, slots: int) -> int:
    """About that many slots; gives how many there are."""
    own = [truth for truth in TRUTHS if truth.name not in (WRONG_TEST, FAILED_TEST)]
    truths = tuple(
        dataclasses.replace(truth, name=f"{truth.name}-{copy}") for copy in range(COPIES_OF_TEST) for truth in own
    )
    write_results(directory, targets=TARGETS, rows=ROWS, blocks=BLOCKS, truths=truths)
    times = max(1, slots // (len(truths) * BLOCKS * TARGETS * ROWS))
    repeat_journal(directory / "journal.jsonl", times)
    return repeat_slots(directory / "slots.parquet", times)


def repeat_journal(path: Path, times: int) -> None:
    """Each row with other numbers, `times` in all: reading passes over them, but has to find where they end."""
    lines = path.read_bytes().splitlines(keepends=True)
    with path.open("wb") as file:
        for line in lines:
            file.write(line)
            if line.startswith(b'{"type":"row",'):
                number = int(_ROW.search(line)[1])  # type: ignore[index]
                file.writelines(_ROW.sub(b'"row":%d' % (number + copy * ROWS), line, 1) for copy in range(1, times))


def repeat_slots(path: Path, times: int) -> int:
    noisy = ", ".join(f"({name} * (1 + {_NOISE_SHARE} * (random() - 0.5)))::BIGINT AS {name}" for name in _NOISY)
    repeated = path.with_suffix(".repeated")
    with duckdb.connect() as connection:
        connection.execute(
            f"""COPY (
                SELECT slots.* REPLACE (
                    (row + copy * {ROWS})::INTEGER AS row, started_unix_ns + copy * 1000000 AS started_unix_ns, {noisy})
                FROM read_parquet('{path}') slots, range({times}) AS copies(copy)
            ) TO '{repeated}' (FORMAT parquet, COMPRESSION zstd)"""  # noqa: S608
        )
        [(made,)] = connection.execute("SELECT count(*) FROM read_parquet(?)", [str(repeated)]).fetchall()
    repeated.replace(path)
    return int(made)


def report(directory: Path) -> tuple[float, float, float]:
    """Seconds, CPU seconds and the most memory in MB."""
    program = "from dbversus.cli.main import main; main()"
    began_s = time.monotonic()
    process = subprocess.Popen([sys.executable, "-c", program, "report", str(directory)], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.monotonic() - began_s
    if status:
        raise SystemExit(os.waitstatus_to_exitcode(status))
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def parse_arguments() -> argparse.Namespace:
    parser = make_parser(__doc__, EXAMPLE)
    parser.add_argument("--slots", type=int, default=1_000_000, help="about so many (default: %(default)s)")
    parser.add_argument("--folder", type=Path, help="where the experiment is made for a while (default: the usual one)")
    parser.add_argument("--keep", action="store_true", help="leave the experiment there")
    return parser.parse_args()


def main() -> None:
    asked = parse_arguments()
    place = Path(tempfile.mkdtemp(prefix="report-speed-", dir=asked.folder))
    try:
        say("making the experiment")
        slots = make_experiment(place / "results", asked.slots)
        seconds, cpu_s, memory_mb = report(place / "results")
        page_kb = (place / "results/report.html").stat().st_size / 1024
        head = ["slots", "tests", "blocks", "seconds", "CPU seconds", "memory MB", "report.html kB"]
        tests = (len(TRUTHS) - 2) * COPIES_OF_TEST
        print(
            markdown(
                head,
                [
                    [
                        f"{slots:,}",
                        str(tests),
                        str(BLOCKS),
                        f"{seconds:.1f}",
                        f"{cpu_s:.1f}",
                        f"{memory_mb:.0f}",
                        f"{page_kb:.0f}",
                    ]
                ],
            )
        )
    finally:
        if not asked.keep:
            shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    told(main)
