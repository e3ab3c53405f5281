#!/usr/bin/env python
"""How often runs of one and the same comparison give a small change two names: a change in one, equivalent in another.

Simulates comparisons of eight tests, as dbversus.stats.simulation does. Four tests change by -8, +5, +3.5 and +3.5 %, one
by what the line says, three not at all. Each line has the shares of that test's headlines, its blocks on average, and the
chance that of three runs one calls it a regression or improvement and another equivalent. `--shares` are those of the margin
in src/dbversus/stats/judging/looks.py: within which a test is equivalent, and from which it has changed; `inf` sets no bound.
"""

import argparse
import math
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
from common import make_parser, markdown, told

from dbversus.errors import UsageError
from dbversus.stats.headline import headline
from dbversus.stats.judging import looks
from dbversus.stats.judging.sequential import LOOKS, check_looks
from dbversus.stats.model import CHANGES, Verdict
from dbversus.stats.simulation.simulate import World, run_suite

EXAMPLE = """example:
  benchmarks/small_changes.py > small.md
  benchmarks/small_changes.py --shares inf 0.5 --sd 0.01 --changes 0.015 0.02
"""
OTHERS = {1: -0.08, 2: 0.05, 3: 0.035, 4: 0.035}
TESTS, RUNS = 8, 3
Shares = tuple[float, float]
Looks = tuple[int, ...]
HEAD = [
    "spread between blocks",
    "true change",
    "changed",
    "small change",
    "equivalent",
    "none of these",
    "blocks",
    "two names in three runs",
]


@contextmanager
def judged_with(shares: Shares) -> Iterator[None]:
    within, changed = shares
    with patch.multiple(looks, EQUIVALENT_WITHIN=within, CHANGED_FROM=changed):
        yield


def names_of(asked: tuple[Shares, float, float, int, int, Looks]) -> tuple[Counter[Verdict], float]:
    """Headlines of the first test in so many suites, and its blocks on average."""
    shares, sd, change, suites, seed, taken = asked
    world, rng = World(tests=TESTS, sd=sd, changes={0: change, **OTHERS}, looks=taken), np.random.default_rng(seed)
    names, blocks = Counter[Verdict](), 0
    with judged_with(shares):
        for _ in range(suites):
            own = [finding for finding in run_suite(world, rng).final if finding.test == "t0"]
            names[headline(own)[0]] += 1
            blocks += max(finding.blocks for finding in own)
    return names, blocks / suites


def two_names(changed: float, equivalent: float) -> float:
    """The chance that of RUNS runs at least one says either."""
    return 1 - (1 - changed) ** RUNS - (1 - equivalent) ** RUNS + (1 - changed - equivalent) ** RUNS


def line(sd: float, change: float, names: Counter[Verdict], blocks: float) -> list[str]:
    suites = names.total()
    changed = sum(names[each] for each in CHANGES) / suites
    small, equivalent = (names[each] / suites for each in (Verdict.SMALL_CHANGE, Verdict.EQUIVALENT))
    shares = (changed, small, equivalent, max(0.0, 1 - changed - small - equivalent))
    told_shares = [f"{100 * share:.0f} %" for share in shares]
    return [
        f"{100 * sd:.1f} %",
        f"{100 * change:+.2f} %",
        *told_shares,
        f"{blocks:.1f}",
        f"{100 * max(0.0, two_names(changed, equivalent)):.0f} %",
    ]


def parse_arguments() -> argparse.Namespace:
    parser = make_parser(__doc__, EXAMPLE)
    usual = (looks.EQUIVALENT_WITHIN, looks.CHANGED_FROM)
    parser.add_argument("--shares", type=float, nargs=2, default=usual, metavar=("WITHIN", "FROM"))
    parser.add_argument("--sd", type=float, nargs="+", default=[0.01, 0.015], help="spread between blocks")
    parser.add_argument(
        "--changes", type=float, nargs="+", default=[0, 0.01, 0.015, 0.0175, 0.02, 0.0225, 0.025, 0.03, 0.04]
    )
    parser.add_argument(
        "--looks", type=int, nargs="+", default=LOOKS, metavar="BLOCKS", help="numbers of blocks to look after"
    )
    parser.add_argument("--suites", type=int, default=400, help="of each line (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=7)
    return parser.parse_args()


def main() -> None:
    asked = parse_arguments()
    if asked.suites < 1 or min(asked.sd) <= 0 or any(math.isnan(share) or share < 0 for share in asked.shares):
        raise UsageError("--suites takes 1 or more, --sd numbers above 0, --shares numbers from 0 on or inf.")
    check_looks(tuple(asked.looks))
    places = [(sd, change) for sd in asked.sd for change in asked.changes]
    tasks = [(tuple(asked.shares), *place, asked.suites, asked.seed, tuple(asked.looks)) for place in places]
    with ProcessPoolExecutor() as pool:
        found = pool.map(names_of, tasks)
        print(markdown(HEAD, [line(*place, *names) for place, names in zip(places, found, strict=True)]))


if __name__ == "__main__":
    told(main)
