"""Several sizes of tables as levels of a factor: the names of cases (`scan@1m`, `scan@10m`), and of one size over another."""

import re

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
