#!/usr/bin/env python
"""How often does dbversus name the right cause? Pairs of targets that differ in a way that is known, but not to the code.

Each case is a file in planted/cases: two targets and tests. `dbversus compare --profile quick` and `dbversus explain --measure`
run in a folder of the case's own, as somebody would type them. Their answers are kept in a CSV file, and scored by
planted/key.toml, which says what was planted and is not read before. Most configs differ in settings besides that do nothing.

What has an answer is not measured again, and what was interrupted is resumed, so it can be stopped and started at will. `--again`
measures cases once more; the first answer of a case, which no change of code has seen, is counted apart from the latest.
"""

import argparse
import sys
from pathlib import Path

from common import make_parser, markdown, say, told
from planted.answer import read_answers
from planted.case import read_cases
from planted.measure import Plan, measure_all
from planted.score import read_key
from planted.tables import report

from dbversus.cli.interrupts import heed_interrupts
from dbversus.errors import UsageError

KEPT = Path(__file__).parents[1] / "docs" / "results" / "planted-causes.csv"
EXAMPLE = """examples:
  benchmarks/planted_causes.py /tmp/planted                          # all that has no answer yet
  benchmarks/planted_causes.py /tmp/planted --only 'p0*' --budget 60 # minutes, after which no case is begun
  benchmarks/planted_causes.py /tmp/planted --only p07 --again
  benchmarks/planted_causes.py --list
  benchmarks/planted_causes.py --table > table.md
"""


def parse_arguments() -> argparse.Namespace:
    parser = make_parser(__doc__, EXAMPLE)
    parser.add_argument("folder", type=Path, nargs="?", help="for results and libraries")
    parser.add_argument("--only", metavar="GLOBS", help="cases by name, commas between")
    parser.add_argument("--budget", type=float, metavar="MINUTES", help="begin no case after so many")
    parser.add_argument("--again", action="store_true", help="measure cases that have an answer once more")
    parser.add_argument("--kept", type=Path, default=KEPT, metavar="FILE", help="CSV of answers (default: %(default)s)")
    parser.add_argument("--list", action="store_true", help="show the cases, without what was planted, and end")
    parser.add_argument("--table", action="store_true", help="show what came of the answers kept, and end")
    asked = parser.parse_args()
    if asked.folder is None and not (asked.list or asked.table):
        raise UsageError("Name a folder for results, or --list, or --table.")
    return asked


def show_cases(globs: str | None, kept: Path) -> None:
    runs = [one.case for one in read_answers(kept)]
    rows = [
        [one.name, one.case.base, one.case.target, one.case.tests, str(runs.count(one.name))]
        for one in read_cases(globs)
    ]
    print(markdown(["case", "base", "target", "tests", "answers"], rows))


def show_answers(globs: str | None, kept: Path) -> None:
    names = {one.name for one in read_cases(globs)}
    answers = [one for one in read_answers(kept) if one.case in names]
    if answers:
        print(report(answers, read_key()))
    else:
        say(f"{kept} has no answers yet")


def main() -> None:
    asked = parse_arguments()
    if asked.list:
        show_cases(asked.only, asked.kept)
        return
    if not asked.table:
        heed_interrupts()
        try:
            measure_all(Plan(asked.folder, read_cases(asked.only), asked.kept, asked.again, asked.budget))
        finally:
            sys.stdout.flush()
    show_answers(asked.only, asked.kept)


if __name__ == "__main__":
    told(main)
