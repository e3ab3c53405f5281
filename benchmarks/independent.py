#!/usr/bin/env python
"""How often is dbversus right, in runs that have nothing in common? A build against a copy of itself, again and again.

`measure` makes experiments of four kinds, each with a seed and data of its own, in a folder of its own such as
`quick-postgres-017`:

  quick     profile quick, equal copies
  busy      the same while a process of ours computes on one core
  standard  profile standard; the second copy is slowed down in eight tests, by 5 % in four and by 3 % in four others, in turn
            from suite to suite (docs/injection.md), and is equal in the rest
  fine      profile fine; the second copy is slowed down by 1 % in every other test, and in the next run in the others

What is finished is not measured again, and what was interrupted is resumed, so it can be stopped and started at will. Margins are
the usual ones, whatever this host was calibrated to. `table` counts what came of the runs. `export` writes that as CSV, for
folders that do not last: `measure --kept FILE` leaves out what is in the file, and `table` counts files and folders together.
"""

import argparse
import shlex
import sys
from pathlib import Path

from common import make_parser, told
from independent_runs.kept import names_in, outcomes_in, write_kept
from independent_runs.measure import Plan, measure_all
from independent_runs.plan import KINDS, TARGETS, planned
from independent_runs.tables import report

from dbversus.cli.interrupts import heed_interrupts
from dbversus.errors import UsageError
from dbversus.units import parse_count

EXAMPLE = """examples:
  benchmarks/independent.py measure FOLDER                                       # all of them: most of a day
  benchmarks/independent.py measure FOLDER --dbms postgres --kind quick --minutes 60
  benchmarks/independent.py table FOLDER
  benchmarks/independent.py export docs/results/independent.csv FOLDER > all.csv   # what was known, and what is new
  benchmarks/independent.py measure FOLDER --kept all.csv                        # the others, another day
"""


def measure(asked: argparse.Namespace) -> None:
    heed_interrupts()
    if asked.runs is not None and asked.runs < 1:
        raise UsageError(f"--runs is {asked.runs}; 1 or more is accepted.")
    choices = {} if asked.tests is None else {"tests": asked.tests}
    if asked.table_size is not None:
        choices["table_size"] = parse_count(asked.table_size, "--table-size")
    measure_all(
        Plan(
            asked.folder,
            planned(asked.dbms, asked.kind, asked.runs, asked.target),
            shlex.join(sys.argv),
            asked.target,
            asked.minutes,
            asked.busy_cpu,
            choices,
            names_in(asked.kept),
        )
    )


def table(asked: argparse.Namespace) -> None:
    print(report(outcomes_in(asked.sources)))


def export(asked: argparse.Namespace) -> None:
    write_kept(outcomes_in(asked.sources), sys.stdout)


def parse_arguments() -> argparse.Namespace:
    parser = make_parser(__doc__, EXAMPLE)
    verbs = parser.add_subparsers(required=True, metavar="measure|table|export")
    first = verbs.add_parser("measure", help="make runs, or go on with them")
    first.add_argument("folder", type=Path)
    first.add_argument("--dbms", choices=list(TARGETS), help="only this one")
    first.add_argument("--kind", choices=KINDS, help="only this one")
    first.add_argument(
        "--runs",
        type=int,
        help="of each kind and DBMS (default: 60 quick, 20 busy, 12 standard, 2 fine; MariaDB 20, 0, 6, 0)",
    )
    first.add_argument("--minutes", type=float, help="begin no run after so many")
    first.add_argument(
        "--target", help="another build than the usual one, such as postgres:16; `--dbms` follows from it"
    )
    first.add_argument(
        "--busy-cpu", type=int, metavar="N", help="keep this core busy, not the one that the scheduler picks"
    )
    first.add_argument("--tests", help="globs, comma separated, for a trial (default: those of the profile)")
    first.add_argument("--table-size", help="rows, for a trial (default: that of the profile)")
    first.add_argument(
        "--kept",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="of `export`, of the same builds: its runs are left out",
    )
    first.set_defaults(run=measure)
    for name, run, words in (
        ("table", table, "count what came of the runs"),
        ("export", export, "write what came of the runs as CSV"),
    ):
        verb = verbs.add_parser(name, help=words)
        verb.add_argument(
            "sources", type=Path, nargs="+", metavar="SOURCE", help="folder of `measure`, or file of `export`"
        )
        verb.set_defaults(run=run)
    return parser.parse_args()


def main() -> None:
    asked = parse_arguments()
    asked.run(asked)


if __name__ == "__main__":
    told(main)
