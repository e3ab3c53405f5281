#!/usr/bin/env python
"""The worked example of docs/protocol.md: one test of a stored run, from its slots to its verdict.

Prints the table that stands there. `--svg FILE` draws the picture instead; both come from dbversus's own statistics.
"""

import argparse
import lzma
import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from common import make_parser, markdown, say, told
from worked_picture import Figures, Shown, picture

from dbversus.results.layout import lay_out
from dbversus.results.read import open_results
from dbversus.results.schema import JOURNAL
from dbversus.results.stored import Results
from dbversus.stats.judge import looks_of
from dbversus.stats.judging.estimate import draw_in
from dbversus.stats.judging.verdicts import assess
from dbversus.stats.judging.weights import weigh
from dbversus.stats.metrics import CPU, PRIMARY, Columns, Floats, metric_named, parts
from dbversus.stats.model import BlockValue, Finding
from dbversus.stats.values.blocks import block_values, slot_logs
from dbversus.stats.values.midmean import TRIMMED
from dbversus.stats.values.table import tabulate

EXAMPLE = """examples:
  benchmarks/worked_example.py
  benchmarks/worked_example.py --svg docs/images/protocol.svg
"""
RUN = Path(__file__).parents[1] / "tests/data/runs/postgres-11-13.jsonl.xz"
TEST = "points-covered-si"
FIRST_LOOK = 4


@dataclass(frozen=True)
class Worked:
    """CPU per operation of one test: rows of its first block, values of all blocks, and what is said of them.

    `base` and `target` are in µs per operation, one per row; `values` are ln(target/base), one per block, and `weights` what
    they count.
    """

    base: Floats
    target: Floats
    values: Sequence[float]
    weights: Sequence[float]
    first_look: Finding
    last: Finding


def work_out() -> Worked:
    """The example from the stored run."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / JOURNAL).write_bytes(lzma.decompress(RUN.read_bytes()))
        results = open_results(Path(folder))
        values = block_values(lay_out(results.slots, results.base.label), PRIMARY)
        base, target = _first_rows(results)
    looks = looks_of(results.header)
    ours = [value.value for value in values if (value.test, value.metric) == (TEST, CPU) and value.value is not None]
    sooner = [value for value in values if value.block < FIRST_LOOK]
    return Worked(base, target, ours, _weights(values), _finding(sooner, looks), _finding(values, looks))


def _first_rows(results: Results) -> tuple[Floats, Floats]:
    """CPU per operation of base and target in each row of the test's first block."""
    slots = results.slots
    chosen = (slots["test"] == TEST) & (slots["block"] == 0)
    columns: Columns = {name: column[chosen] for name, column in slots.items()}
    layout = lay_out(columns, results.base.label)
    pairs = layout.pairs(layout.others[0])
    found = parts(metric_named(CPU), columns)
    assert found
    cost = np.exp(slot_logs(found))
    return cost[pairs.theirs], cost[pairs.ours]


def _weights(values: Sequence[BlockValue]) -> list[float]:
    blocks = tabulate(values, PRIMARY, {})
    weight, _ = weigh(blocks, draw_in(blocks, blocks.value))
    found: list[float] = weight[[key[0] == TEST and key[2] == CPU for key in blocks.keys].index(True)].tolist()
    return found


def _finding(values: Sequence[BlockValue], looks: tuple[int, ...]) -> Finding:
    return next(each for each in assess(values, PRIMARY, looks) if (each.test, each.metric) == (TEST, CPU))


def table(worked: Worked) -> str:
    """Each step with its figures."""
    last, first = worked.last, worked.first_look
    blocks = [f"{math.exp(value):.3f}" for value in worked.values]
    rows = [
        ["first row", f"{worked.base[0]:.0f} µs on 11, {worked.target[0]:.0f} µs on 13: {_ratios(worked)[0]:.3f}"],
        ["first block", f"{len(worked.base)} rows between {_span(_ratios(worked))}; midmean {blocks[0]}"],
        ["first four blocks", ", ".join(blocks[:FIRST_LOOK])],
        ["look after four", f"{_shown(first)}, q = {first.q_value:.4f}: {first.verdict}, to be measured again"],
        [
            "two more blocks",
            f"{', '.join(blocks[FIRST_LOOK:])} (weighs {_how_much(worked.weights[FIRST_LOOK : len(blocks)])} as much)",
        ],
        ["look after six", f"**{_shown(last)}: {last.verdict}**, {last.note}"],
    ]
    return markdown(["step", "server CPU per operation"], rows).replace("---:", "---")


def figures(worked: Worked) -> Figures:
    """What the picture shows of it."""
    last = worked.last
    assert last.ratio and last.low and last.high
    rank = np.argsort(np.argsort(_ratios(worked)))
    cut = int(TRIMMED * len(rank))
    return Figures(
        base=worked.base.tolist(),
        target=worked.target.tolist(),
        kept=((rank >= cut) & (rank < len(rank) - cut)).tolist(),
        blocks=[math.exp(value) for value in worked.values],
        first_look=FIRST_LOOK,
        result=Shown(last.ratio, last.low, last.high),
        margin=last.margin,
    )


def _ratios(worked: Worked) -> Floats:
    ratios: Floats = worked.target / worked.base
    return ratios


def _how_much(weights: Sequence[float]) -> str:
    first, second = weights
    return f"{second / first:.1f} times"


def _span(ratios: Floats) -> str:
    return f"{ratios.min():.3f} and {ratios.max():.3f}"


def _shown(finding: Finding) -> str:
    return f"{finding.ratio:.3f} [{finding.low:.3f}, {finding.high:.3f}]"


def parse_arguments() -> argparse.Namespace:
    parser = make_parser(__doc__, EXAMPLE)
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draw the picture into this file")
    return parser.parse_args()


def main() -> None:
    asked = parse_arguments()
    worked = work_out()
    if asked.svg:
        asked.svg.write_text(picture(figures(worked)))
        say(f"drawn: {asked.svg}")
    else:
        print(table(worked))


if __name__ == "__main__":
    told(main)
