"""Several sizes of tables: cases of one test (`scan@1m`, `scan@10m`), and whether target ÷ base depends on the size."""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from dbversus.stats.model import BlockValue
from dbversus.units import parse_count, show_count

_CASE = re.compile(r"(?P<test>.+)@(?P<size>\d+(?:k|m|rows))(?P<clients>@\d+)?")


def size_of(name: str) -> tuple[str, int] | None:
    """Test (with its number of clients) and rows per table of a case; None: the name has no size."""
    match = _CASE.fullmatch(name)
    if match is None:
        return None
    return f"{match['test']}{match['clients'] or ''}", parse_count(match["size"].removesuffix("rows"), "table_size")


def interaction_name(test: str, size: int, first: int) -> str:
    """What a test is called where target ÷ base of one size is set against that of the smallest: `scan@10m/1m`."""
    return f"{test}@{show_count(size)}/{show_count(first)}"


def interaction_margins(margins: Mapping[tuple[str, str], float]) -> dict[tuple[str, str], float]:
    """Margins by (test, metric) for interactions: the wider one of their two cases."""
    by_test: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    for (name, metric), share in margins.items():
        if case := size_of(name):
            by_test[case[0], metric][case[1]] = share
    return {
        (interaction_name(test, size, min(of_size)), metric): max(share, of_size[min(of_size)])
        for (test, metric), of_size in by_test.items()
        for size, share in of_size.items()
        if size != min(of_size)
    }


def interactions(values: Iterable[BlockValue]) -> list[BlockValue]:
    """ln(target/base) with each larger size minus that with the smallest, of blocks in which both were measured.

    This is the interaction of size and target: what both targets lose to larger tables alike is not in it, nor what the host
    did to a block.
    """
    cells: dict[tuple[str, str, str], dict[int, dict[int, BlockValue]]] = defaultdict(lambda: defaultdict(dict))
    for value in values:
        if (case := size_of(value.test)) and value.value is not None:
            cells[case[0], value.target, value.metric][case[1]][value.block] = value
    made = []
    for (test, _, _), of_size in cells.items():
        first, *larger = sorted(of_size)
        for size in larger:
            name = interaction_name(test, size, first)
            shared = sorted(of_size[size].keys() & of_size[first].keys())
            made += [_difference(name, of_size[size][block], of_size[first][block]) for block in shared]
    return made


def _difference(name: str, ours: BlockValue, first: BlockValue) -> BlockValue:
    assert ours.value is not None and first.value is not None
    error = None if ours.error is None or first.error is None else math.hypot(ours.error, first.error)
    rows, disturbed = min(ours.rows, first.rows), max(ours.disturbed, first.disturbed)
    return BlockValue(name, ours.target, ours.metric, ours.block, ours.value - first.value, rows, disturbed, error)
