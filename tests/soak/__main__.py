"""`python -m tests.soak --minutes 120 --seed 7`: exit status 1 when anything was wrong, 130 when it was interrupted."""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from .soak import plan, possible_kinds, prepare, soak
from .summary import show, violations


def main() -> int:
    asked = _arguments()
    folder = Path(asked.folder or tempfile.mkdtemp(prefix="dbv-soak-"))
    host = prepare(folder)
    kinds, skipped = possible_kinds(host)
    say(f"in {folder}, seed {asked.seed}: {', '.join(host.targets.values())}")
    outcomes = soak(plan(asked.seed, host, kinds), host, say, asked.minutes, asked.experiments)
    show(outcomes, skipped, Console(width=120))
    if violations(outcomes):
        print(f"{violations(outcomes)} violations; their results directories are kept in {host.place.kept}")
        return 1
    if not asked.folder:
        shutil.rmtree(folder, ignore_errors=True)
    print("no violations")
    return 0


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=120, help="no experiment is started later (%(default)s)")
    parser.add_argument("--experiments", type=int, default=10_000, help="at most so many (%(default)s)")
    parser.add_argument("--seed", type=int, default=7, help="of what happens when (%(default)s)")
    parser.add_argument("--folder", help="where to work, and keep what is wrong (a new one in the temporary folder)")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
