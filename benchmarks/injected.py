#!/usr/bin/env python
"""What was added to slowed-down copies, and what was measured of it: CPU per operation, test by test, of stored experiments.

*Truly added* is what the preloaded library burned (docs/injection.md), *shown* the mean over blocks of what is judged, without
weights. *The rest* is what operations of the copy cost without what was burned, compared with those of the base: what burning
changes besides, and chance. Its standard error is that of the mean over blocks.
"""

import argparse
import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from common import make_parser, markdown, told

from dbversus.errors import UsageError
from dbversus.results.read import open_results
from dbversus.results.stored import Results
from dbversus.stats.judge import judged_values
from dbversus.stats.metrics import CPU
from dbversus.stats.simulation.injected import true_log_ratios
from dbversus.stats.values.finished import of_finished_blocks

EXAMPLE = """example:
  dbversus run experiment.toml --out results/slowed      # with [inject.1.cpu], see docs/injection.md
  benchmarks/injected.py results/slowed
"""
HEAD = ["test", "target", "blocks", "truly added", "shown", "the rest"]


@dataclass(frozen=True)
class Slowed:
    """A test of a slowed-down target: by block, what was added and what is shown, both ln of CPU per operation ÷ the base's."""

    test: str
    target: str
    added: Sequence[float]
    shown: Sequence[float]

    @property
    def rest(self) -> list[float]:
        """By block, ln of the rest of the copy's cost ÷ the base's."""
        return [shown - added for shown, added in zip(self.shown, self.added, strict=True)]


def slowed_in(results: Results) -> Iterator[Slowed]:
    """Tests of targets to which CPU was added, in the order of their names."""
    finished = of_finished_blocks(results)
    truths = {place: truth for place, truth in true_log_ratios(finished).items() if truth}
    places: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for value in judged_values(finished):
        place = value.test, value.target, value.block
        if value.metric == CPU and value.value is not None and place in truths:
            places.setdefault(place[:2], []).append((truths[place], value.value))
    for (test, target), pairs in sorted(places.items()):
        yield Slowed(test, target, *zip(*pairs, strict=True))


def line(slowed: Slowed) -> list[str]:
    blocks = len(slowed.rest)
    changes = [
        f"{100 * math.expm1(statistics.fmean(logs)):+.2f} %" for logs in (slowed.added, slowed.shown, slowed.rest)
    ]
    if blocks > 1:
        changes[-1] += f" ± {100 * statistics.stdev(slowed.rest) / math.sqrt(blocks):.2f}"
    return [slowed.test, slowed.target, str(blocks), *changes]


def parse_arguments() -> argparse.Namespace:
    parser = make_parser(__doc__, EXAMPLE)
    parser.add_argument("results", type=Path, nargs="+", help="results directories")
    return parser.parse_args()


def main() -> None:
    rows = [line(slowed) for path in parse_arguments().results for slowed in slowed_in(open_results(path))]
    if not rows:
        raise UsageError("Nothing was added to the CPU time of any target; `inject` in an experiment file does that.")
    print(markdown(HEAD, rows))


if __name__ == "__main__":
    told(main)
