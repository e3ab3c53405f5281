"""The order of targets: of starts, inside rows, and of turns where each is up alone. Balanced, so that carry-over cancels."""

from collections.abc import Sequence
from hashlib import blake2b
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def williams_square(count: int) -> list[list[int]]:
    """Rows of a Williams design for `count` treatments: each follows each other one equally often.

    `count` rows when it is even, twice as many when it is odd (E. J. Williams, 1949). For two: AB, BA.
    """
    first = [0]
    low, high = 1, count - 1
    while len(first) < count:
        first.append(low if len(first) % 2 else high)
        low, high = (low + 1, high) if len(first) % 2 == 0 else (low, high - 1)
    square = [[(item + shift) % count for item in first] for shift in range(count)]
    return square if count % 2 == 0 else square + [row[::-1] for row in square]


def balanced_orders(names: list[str], rows: int, first_row: int = 0) -> list[list[str]]:
    """Orders for `rows` rows, counted on from `first_row` so that resumed rows keep the balance."""
    square = williams_square(len(names))
    cycle = (square[(first_row + row) % len(square)] for row in range(rows))
    return [[names[item] for item in order] for order in islice(cycle, rows)]


def balanced_turns(items: Sequence[T], block: int, seed: int) -> list[T]:
    """The order in which `items` take turns in block number `block`.

    It is a row of a Williams design: over as many blocks as that has rows (two for two items, six for three) everybody has
    every place, and comes after each other one, equally often. Which of them a block has is drawn by `seed`, so that no rhythm
    of the host goes with it.
    """
    square = williams_square(len(items))
    cycle, place = divmod(block, len(square))
    drawn = sorted(enumerate(square), key=lambda row: blake2b(f"{seed}/{cycle}/{row[0]}".encode()).digest())
    return [items[item] for item in drawn[place][1]]


def starting_order(items: Sequence[T], block: int) -> list[T]:
    """The order in which servers are started in block number `block`.

    Every other block has the order of the one before backwards, so that of any two servers each is started before the other
    equally often after any even number of blocks; over all of them everybody has every place equally often.
    """
    if not items:
        return []
    square = williams_square(len(items))
    rows = square[: (len(square) + 1) // 2]  # the others are these backwards
    turn, backwards = divmod(block, 2)
    order = [items[item] for item in rows[turn % len(rows)]]
    return order[::-1] if backwards else order
