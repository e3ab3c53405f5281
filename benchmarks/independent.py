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

`keep` adds what verdicts are made from, the values of all blocks, to a Parquet file, with the commit that measured them; `judge`
judges such a file by the rules of the code at hand, whatever those were when it was measured, and counts as `table` does. `leads`
names the causes and leads that changes would be given if the copies were different builds: there should be none.
"""

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from common import make_parser, told
from independent_runs.evidence import SUFFIX, judged_anew, keep, measured_by, read_evidence
from independent_runs.kept import names_in, outcomes_in, write_kept
from independent_runs.leads import leads_table
from independent_runs.measure import Plan, measure_all
from independent_runs.plan import KINDS, TARGETS, planned
from independent_runs.tables import ABOUT_JUDGED_ANEW, report

from dbversus.cli.interrupts import heed_interrupts
from dbversus.errors import UsageError
from dbversus.units import parse_count

EXAMPLE = """examples:
  benchmarks/independent.py measure FOLDER                                       # all of them: most of a day
  benchmarks/independent.py measure FOLDER --dbms postgres --kind quick --minutes 60
  benchmarks/independent.py table FOLDER
  benchmarks/independent.py export docs/results/independent.csv FOLDER > all.csv   # what was known, and what is new
  benchmarks/independent.py measure FOLDER --kept all.csv                        # the others, another day
  benchmarks/independent.py keep docs/results/independent.parquet FOLDER         # to be judged by later rules too
  benchmarks/independent.py judge docs/results/independent.parquet
  benchmarks/independent.py leads FOLDER
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
            _names_kept(asked.kept),
        )
    )


def _names_kept(files: Sequence[Path]) -> frozenset[str]:
    values = [file for file in files if file.suffix == SUFFIX]
    outcomes = [file for file in files if file.suffix != SUFFIX]
    return names_in(outcomes).union(run.run for file in values for run in read_evidence(file))


def table(asked: argparse.Namespace) -> None:
    print(report(outcomes_in(asked.sources)))


def export(asked: argparse.Namespace) -> None:
    write_kept(outcomes_in(asked.sources), sys.stdout)


def keep_values(asked: argparse.Namespace) -> None:
    keep(asked.file, asked.folders)


def judge(asked: argparse.Namespace) -> None:
    runs = read_evidence(asked.file)
    print(report([judged_anew(run) for run in runs]))
    print(f"\n{ABOUT_JUDGED_ANEW}{measured_by(runs)}")


def leads(asked: argparse.Namespace) -> None:
    print(leads_table(asked.folders))


def parse_arguments() -> argparse.Namespace:
    parser = make_parser(__doc__, EXAMPLE)
    verbs = parser.add_subparsers(required=True, metavar="measure|table|export|keep|judge|leads")
    first = verbs.add_parser("measure", help="make runs, or go on with them")
    first.add_argument("folder", type=Path)
    first.add_argument("--dbms", choices=list(TARGETS), help="only this one")
    first.add_argument("--kind", choices=KINDS, help="only this one")
    first.add_argument(
        "--runs",
        type=int,
        help="of each kind and DBMS (default: 40 quick, 20 busy, 6 standard, 2 fine; MariaDB 20, 0, 6, 0; MySQL 10, 0, 4, 0)",
    )
    first.add_argument("--minutes", type=float, help="start no more runs once so many have passed")
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
        help="of `export` or `keep`, of the same builds: its runs are left out",
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
    kept = verbs.add_parser(
        "keep", help="add the block values of finished runs to a file; a run that is in it stays as it is"
    )
    kept.add_argument("file", type=Path, metavar="FILE", help="ends in .parquet; made where it is not there")
    kept.add_argument("folders", type=Path, nargs="+", metavar="FOLDER", help="of `measure`")
    kept.set_defaults(run=keep_values)
    judged = verbs.add_parser(
        "judge", help="judge kept block values by the rules of this code, and count what came of it"
    )
    judged.add_argument("file", type=Path, metavar="FILE", help="of `keep`")
    judged.set_defaults(run=judge)
    lead = verbs.add_parser(
        "leads", help="name the causes and leads that changes would have if copies were different builds"
    )
    lead.add_argument("folders", type=Path, nargs="+", metavar="FOLDER", help="of `measure`")
    lead.set_defaults(run=leads)
    return parser.parse_args()


def main() -> None:
    asked = parse_arguments()
    asked.run(asked)


if __name__ == "__main__":
    told(main)
