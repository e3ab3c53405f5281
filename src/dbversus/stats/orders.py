"""The order of targets: of starts, inside rows, and of turns where each is up alone. Balanced, so that carry-over cancels."""

from collections.abc import Sequence
from hashlib import blake2b
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


def balanced_orders(names: list[str], rows: int, seed: int, block: int = 0, first_row: int = 0) -> list[list[str]]:
    """Orders for `rows` rows of a block, counted on from `first_row` so that resumed rows keep the balance.

    They are the rows of a Williams square, over and over, each time in an order drawn by `seed`. With two targets that is
    AB BA or BA AB: always the same would beat with whatever the host does at the pace of two rows. Every other block has the
    orders of the one before backwards, which balances blocks of a single row.
    """
    square = williams_square(len(names))
    turn, backwards = divmod(block, 2)
    orders = []
    for row in range(first_row, first_row + rows):
        drawn = _drawn(square, f"{seed}/{turn // len(square)}/{row // len(square)}")
        order = [names[item] for item in drawn[(row + turn) % len(square)]]
        orders.append(order[::-1] if backwards else order)
    return orders


def _drawn(square: list[list[int]], seed: str) -> list[list[int]]:
    """The rows of a square in an order of their own."""
    numbered = sorted(enumerate(square), key=lambda row: blake2b(f"{seed}/{row[0]}".encode()).digest())
    return [row for _, row in numbered]


def balanced_turns(items: Sequence[T], block: int, seed: int) -> list[T]:
    """The order in which `items` take turns in block number `block`.

    It is a row of a Williams design: over as many blocks as that has rows (two for two items, six for three) everybody has
    every place, and comes after each other one, equally often. Which of them a block has is drawn by `seed`, so that no rhythm
    of the host goes with it.
    """
    square = williams_square(len(items))
    cycle, place = divmod(block, len(square))
    return [items[item] for item in _drawn(square, f"{seed}/{cycle}")[place]]


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
