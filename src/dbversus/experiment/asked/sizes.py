"""Several sizes of tables in one experiment: how they are given."""

from collections.abc import Mapping
from typing import Any

from dbversus.units import parse_count

KEY = "table_size"


def split_sizes(choices: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[int, ...]]:
    """Choices with the first size alone, and all sizes, rising; none where no sound size is given.

    A size is a number, a text such as "1m", or there is a list of them. Raises ValueError for one that is given twice.
    """
    given = choices.get(KEY)
    if not isinstance(given, list):
        return dict(choices), ()
    sizes = tuple(parse_count(one, KEY) if isinstance(one, str) else one for one in given)
    if not sizes or not all(isinstance(size, int) and not isinstance(size, bool) and size >= 1 for size in sizes):
        raise ValueError(f'\'{KEY}\' is {given!r}: whole numbers from 1 are accepted, such as "1m" or ["1m", "10m"]')
    if len(set(sizes)) < len(sizes):
        raise ValueError(f"'{KEY}' is {given!r}: a size is given twice")
    rising = tuple(sorted(sizes))
    return {**choices, KEY: rising[0]}, rising
