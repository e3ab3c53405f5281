#!/usr/bin/env python
"""Experiments on the protocol itself: what its choices cost, and what they buy.

`offline` reads stored results and runs nothing: spread against rows per block, the number of rows that gives most for the
time, how much slots differ by how far they are apart, sets of looks, rows by need. `live` runs short experiments, all
levels of one choice in turns, and shows the variance of a result × the machine's minutes, and how far the figures are from
those of long undisturbed slots.
"""

import argparse
from pathlib import Path

from common import make_parser, told
from tuning import live, offline
from tuning.factors import FACTORS

from dbversus.errors import UsageError

EXAMPLE = """example:
  benchmarks/tune.py offline results/calibration > rows.md
  benchmarks/tune.py live slot --minutes 40 > slot.md
  benchmarks/tune.py live freeze --quick
  benchmarks/tune.py live settle --targets postgres:13.1 postgres:17
"""


def parse_arguments() -> argparse.Namespace:
    parser = make_parser(__doc__, EXAMPLE)
    kinds = parser.add_subparsers(dest="kind", required=True)
    stored = kinds.add_parser("offline", help="what stored results tell")
    stored.add_argument("directories", nargs="+", type=Path, metavar="DIR", help="results directories")
    stored.add_argument("--replays", type=int, default=100, help="experiments drawn (default: %(default)s)")
    stored.add_argument("--resamples", type=int, default=20, help="subsets of rows drawn (default: %(default)s)")
    stored.add_argument("--share", type=float, default=0.1, help="of tests that change (default: %(default)s)")
    stored.add_argument("--effect", type=float, default=0.05, help="their change (default: %(default)s)")
    stored.add_argument("--seed", type=int, default=1)
    tried = kinds.add_parser("live", help="runs experiments")
    tried.add_argument("factor", choices=FACTORS)
    tried.add_argument("--targets", nargs=2, default=["postgres:17", "postgres:17"], metavar=("BASE", "TARGET"))
    tried.add_argument("--minutes", type=float, help="in all; no round is begun that would end later")
    tried.add_argument("--quick", action="store_true", help="a small table, short tests, 8 minutes")
    tried.add_argument("--table-size", help="rows (default: 1m, with --quick 100k)")
    tried.add_argument("--tests", help="globs (default: some reads and two writes)")
    tried.add_argument("--keep", type=Path, metavar="DIR", help="keep the results of all runs there")
    return parser.parse_args()


def main() -> None:
    asked = parse_arguments()
    if asked.kind == "live":
        print(live.report(live.make_plan(asked)))
        return
    if asked.replays < 2 or asked.resamples < 1 or not 0 <= asked.share <= 1:
        raise UsageError("--replays takes 2 or more, --resamples 1 or more, --share a number from 0 to 1.")
    draws = offline.Draws(asked.replays, asked.share, asked.effect, asked.seed)
    for directory in asked.directories:
        print(offline.report(directory, draws, asked.resamples), flush=True)


if __name__ == "__main__":
    told(main)
