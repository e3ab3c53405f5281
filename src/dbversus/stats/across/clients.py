"""Several numbers of clients: cases of one test (`scan@1`, `scan@4`) taken together, and how each grows with clients."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import fmean

from dbversus.stats.means import Ratio, mean_of_blocks
from dbversus.stats.model import BlockValue

_ALL = "all"


def case_of(name: str) -> tuple[str, int] | None:
    """Test and number of clients of a case; None: the name has no number of clients."""
    test, at, clients = name.rpartition("@")
    return (test, int(clients)) if at and clients.isdecimal() else None


def test_of(name: str) -> str:
    """The test of a case, without its number of clients."""
    case = case_of(name)
    return case[0] if case else name


def pooled_name(test: str) -> str:
    """What a test is called where all its numbers of clients are taken together: `scan@all`."""
    return f"{test}@{_ALL}"


def pooled_margins(margins: Mapping[tuple[str, str], float]) -> dict[tuple[str, str], float]:
    """Margins by (test, metric) for tests over all clients: the widest of their cases."""
    widest: dict[tuple[str, str], float] = {}
    for (test, metric), share in margins.items():
        if case := case_of(test):
            key = pooled_name(case[0]), metric
            widest[key] = max(share, widest.get(key, 0.0))
    return widest


def pooled_over_clients(values: Iterable[BlockValue]) -> list[BlockValue]:
    """One value per test, target, metric and block: the mean of ln(target/base) over all numbers of clients.

    Values of cases without a number of clients are left aside. A block counts only where every number of clients of that
    test was measured in it. Nothing to compare with some numbers of clients is no difference there, with all of them None.
    """
    cells: dict[tuple[str, str, str], dict[int, dict[int, BlockValue]]] = defaultdict(lambda: defaultdict(dict))
    for value in values:
        case = case_of(value.test)
        if case:
            cells[case[0], value.target, value.metric][value.block][case[1]] = value
    pooled = []
    for (test, target, metric), blocks in cells.items():
        clients = {count for of_block in blocks.values() for count in of_block}
        for block, of_block in sorted(blocks.items()):
            if of_block.keys() == clients and all(value.rows for value in of_block.values()):
                pooled.append(_pooled(pooled_name(test), target, metric, block, list(of_block.values())))
    return pooled


def _pooled(test: str, target: str, metric: str, block: int, values: list[BlockValue]) -> BlockValue:
    compared = any(value.value is not None for value in values)
    mean = fmean(value.value or 0.0 for value in values) if compared else None
    rows, disturbed = (sum(getattr(value, name) for value in values) for name in ("rows", "disturbed"))
    return BlockValue(test, target, metric, block, mean, rows, disturbed)


def growth(ours: Mapping[int, float], first: Mapping[int, float]) -> Ratio | None:
    """exp of the mean over shared blocks of ours - first, both block → ln; None: no block has both."""
    logs = [ours[block] - first[block] for block in ours if block in first]
    return mean_of_blocks(logs).ratio() if logs else None
