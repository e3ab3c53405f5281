#!/usr/bin/env python
"""How long `dbversus import` takes for many runs, and how much memory.

Makes folders as the reference method leaves them: one for each run, with the output of sysbench and the hardware use of each
test, two files that differ from run to run in their rates. Imports all of them in a process of its own. Memory is the sum of
the proportional set sizes of that process and its children, looked at five times a second.
"""

import argparse
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import make_parser, markdown, say, told

from dbversus.results.read import open_results
from dbversus.results.records import Imported

EXAMPLE = """example:
  benchmarks/import_speed.py > import_speed.md
  benchmarks/import_speed.py --runs 1000 --output-only --folder /dev/shm
"""
SAMPLE = Path(__file__).parents[1] / "tests/data/imported/reference/sysbench-2025/x.my9500_rel_o2nofp.z12a_c8r32.pk1"
TEST = "point-query.range100.pk1.dop1"
MEMORY_LOOK_S = 0.2


def make_runs(folder: Path, runs: int, tests: int, kinds: tuple[str, ...]) -> None:
    """`runs` folders with a file of each kind for each of `tests` tests."""
    samples = {kind: (SAMPLE / f"sb.{kind}.{TEST}").read_text() for kind in kinds}
    rate = samples["o"].partition("queries: ")[2].partition("(")[2].partition(" ")[0]
    draw = random.Random(1)
    for run in range(runs):
        own = folder / f"x.my{run:05}.z12a.pk1"
        own.mkdir()
        for test in range(tests):
            new = f"{draw.uniform(1e3, 3e4):.2f}"
            for kind, sample in samples.items():
                (own / f"sb.{kind}.test-{test:02}.range100.pk1.dop1").write_text(sample.replace(rate, new))


def import_runs(folder: Path, out: Path) -> tuple[float, float, float]:
    """Seconds, CPU seconds of all its processes, and the most memory in MB."""
    program = "from dbversus.cli.main import main; main()"
    command = [sys.executable, "-c", program, "import", str(folder), "--out", str(out)]
    before, began_s = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    most_kb = 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            most_kb = max(most_kb, sum(map(memory_kb, family(process.pid))))
            time.sleep(MEMORY_LOOK_S)
    if process.returncode:
        raise SystemExit(process.returncode)
    seconds, after = time.monotonic() - began_s, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return seconds, cpu_s, most_kb / 1024


def family(pid: int) -> list[int]:
    """A process and all that it has started."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        children = []
    return [pid, *(each for child in children for each in family(int(child)))]


def memory_kb(pid: int) -> int:
    """Its proportional set size; 0 when it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def parse_arguments() -> argparse.Namespace:
    parser = make_parser(__doc__, EXAMPLE)
    parser.add_argument("--runs", type=int, default=10_000, help="folders (default: %(default)s)")
    parser.add_argument("--tests", type=int, default=43, help="tests of each run (default: %(default)s)")
    parser.add_argument("--output-only", action="store_true", help="without the files of hardware use")
    parser.add_argument("--folder", type=Path, help="where the files are made for a while (default: the usual one)")
    return parser.parse_args()


def main() -> None:
    asked = parse_arguments()
    kinds = ("o",) if asked.output_only else ("o", "met")
    place = Path(tempfile.mkdtemp(prefix="import-speed-", dir=asked.folder))
    try:
        runs, out = place / "runs", place / "out"
        runs.mkdir()
        say(f"making {asked.runs * asked.tests * len(kinds):,} files")
        make_runs(runs, asked.runs, asked.tests, kinds)
        seconds, cpu_s, memory_mb = import_runs(runs, out)
        [record] = open_results(out).of_type(Imported)
        stored_mb = sum(path.stat().st_size for path in out.iterdir()) / 1e6
        expected = asked.runs * asked.tests * len(kinds)
        if record.files != expected or record.unknown_lines:
            raise SystemExit(f"{record.files} files of {expected} were read; {record.unknown_lines} lines are unknown.")
        head = ["runs", "tests", "files", "figures", "seconds", "CPU seconds", "memory MB", "stored MB"]
        line = [f"{value:,}" for value in (asked.runs, asked.tests, record.files, record.figures)]
        print(markdown(head, [[*line, f"{seconds:.1f}", f"{cpu_s:.1f}", f"{memory_mb:.0f}", f"{stored_mb:.0f}"]]))
    finally:
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    told(main)
