#!/usr/bin/env python
"""Judges stored results with the code at hand: what do today's statistics say of runs that were measured before?

Each argument is a results folder, or a folder of such. One line per run, or with `--tests` one per test. `--json` prints all of
it for a later `--against`, which then says what has changed since.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from common import make_parser, markdown, say, told

from dbversus.errors import UsageError
from dbversus.results.read import open_results
from dbversus.results.schema import JOURNAL
from dbversus.stats.comparison import Comparison, compare
from dbversus.stats.metrics import CPU, LOAD_TEST, PRIMARY, THROUGHPUT

EXAMPLE = """examples:
  benchmarks/judge_again.py RUNS --json > before.json
  benchmarks/judge_again.py RUNS/one-of-them --tests
  benchmarks/judge_again.py RUNS --against before.json
"""
HEADLINE = "headline"
NOTHING = "–"

# run → test (and target, where there are several) → HEADLINE and names of primary metrics → what is said of it
Judged = dict[str, dict[str, dict[str, Any]]]


def judge_all(folders: Sequence[Path]) -> Judged:
    """By name of the run. Raises UsageError for a folder without results, and for two runs of one name."""
    judged: Judged = {}
    for folder in run_folders(folders):
        if folder.name in judged:
            raise UsageError(f"Two of the runs are called {folder.name}; judge them one at a time.")
        say(f"judging {folder.name}")
        judged[folder.name] = judge_one(folder)
    return judged


def run_folders(folders: Sequence[Path]) -> Iterator[Path]:
    for folder in folders:
        found = (
            [folder] if (folder / JOURNAL).is_file() else sorted(path.parent for path in folder.glob(f"*/{JOURNAL}"))
        )
        if not found:
            raise UsageError(f"{folder} is no results folder and holds none; name one with a {JOURNAL}.")
        # resolved: `.` has no name
        yield from (path.resolve() for path in found)


def judge_one(folder: Path) -> dict[str, dict[str, Any]]:
    """Test → what is said of it; the name of a test has its target in it where several are compared."""
    results = open_results(folder)
    compared = [each for each in compare(results) if each.test != LOAD_TEST]
    several = len(results.targets) > 2
    return {f"{each.test} ({each.target})" if several else each.test: _said(each) for each in compared}


def _said(comparison: Comparison) -> dict[str, Any]:
    found = {metric.name: comparison.findings[metric.name] for metric in PRIMARY if metric.name in comparison.findings}
    return {HEADLINE: str(comparison.verdict)} | {
        name: {"verdict": str(finding.verdict), "ratio": finding.ratio, "low": finding.low, "high": finding.high}
        for name, finding in found.items()
    }


def shown(said: Mapping[str, Any], what: str) -> str:
    """`1.003 [0.966, 1.041] regression`, as far as it is known; of the headline the verdict alone."""
    finding = said.get(what)
    if finding is None or isinstance(finding, str):
        return finding or NOTHING
    if finding["ratio"] is None:
        return str(finding["verdict"])
    return f"{finding['ratio']:.3f} {_bounds(finding)}{finding['verdict']}"


def _bounds(finding: Mapping[str, Any]) -> str:
    low, high = finding["low"], finding["high"]
    return "" if low is None or high is None else f"[{low:.3f}, {high:.3f}] "


def counted(verdicts: Iterable[str]) -> str:
    """`3 regression, 1 unstable`, the most frequent first."""
    return ", ".join(f"{count} {verdict}" for verdict, count in Counter(verdicts).most_common()) or NOTHING


def runs_table(judged: Judged) -> str:
    rows = []
    for name, tests in judged.items():
        by_metric = [
            [said[metric]["verdict"] for said in tests.values() if metric in said] for metric in (CPU, THROUGHPUT)
        ]
        headlines = counted(said[HEADLINE] for said in tests.values())
        rows.append([name, str(len(tests)), headlines, *map(counted, by_metric)])
    return markdown(["run", "tests", "verdicts", "CPU per op", "throughput"], rows)


def tests_table(judged: Judged) -> str:
    rows = [
        [name, test, said[HEADLINE], *(shown(said, metric.name) for metric in PRIMARY)]
        for name, tests in judged.items()
        for test, said in tests.items()
    ]
    return markdown(["run", "test", "verdict", *(metric.title for metric in PRIMARY)], rows)


def changes(before: Judged, now: Judged) -> Iterator[list[str]]:
    """A line for whatever is shown otherwise than before, of the runs that both have."""
    for name in (name for name in now if name in before):
        for test in dict.fromkeys([*before[name], *now[name]]):
            was, is_now = before[name].get(test, {}), now[name].get(test, {})
            for what in (HEADLINE, *(metric.name for metric in PRIMARY)):
                if (old := shown(was, what)) != (new := shown(is_now, what)):
                    yield [name, test, what, old, new]


def changes_table(file: Path, now: Judged) -> str:
    before = read_judged(file)
    for name in (name for name in now if name not in before):
        say(f"{file} has no run {name}; it is left out")
    rows = list(changes(before, now))
    return markdown(["run", "test", "of", "before", "now"], rows) if rows else "Nothing has changed."


def read_judged(file: Path) -> Judged:
    """What `--json` printed. Raises UsageError for anything else."""
    try:
        content = json.loads(file.read_text())
    except (OSError, ValueError) as error:
        raise UsageError(f"{file} cannot be read as JSON ({error}); name what --json printed.") from error
    if not isinstance(content, dict) or not all(isinstance(tests, dict) for tests in content.values()):
        raise UsageError(f"{file} is not of this command; name what --json printed.")
    return content


def parse_arguments() -> argparse.Namespace:
    parser = make_parser(__doc__, EXAMPLE)
    parser.add_argument("folders", type=Path, nargs="+", metavar="DIR", help="a results folder, or a folder of such")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--tests", action="store_true", help="a line for each test")
    how.add_argument("--json", action="store_true", help="all of it, for a later --against")
    how.add_argument("--against", type=Path, metavar="FILE", help="only what is not as in this output of --json")
    return parser.parse_args()


def main() -> None:
    asked = parse_arguments()
    judged = judge_all(asked.folders)
    if asked.json:
        json.dump(judged, sys.stdout, indent=1)
        print()
    elif asked.against:
        print(changes_table(asked.against, judged))
    else:
        print(tests_table(judged) if asked.tests else runs_table(judged))


if __name__ == "__main__":
    told(main)
