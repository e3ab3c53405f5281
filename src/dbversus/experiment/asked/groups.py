"""Which targets are up at the same time: all of them, the base with some others, or each alone."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from dbversus.results.records import Tag

ROWS_PER_GROUP = 10_000
"""Numbers that the rows of one group have for themselves, in each test and block."""


@dataclass(frozen=True)
class Group:
    """Targets (by name) that are up together.

    `tag` goes with its rows into the journal, to tell them apart; `first_row` is the number of its first row: rows of two
    groups are not the same row, though the base is in both.
    """

    members: tuple[str, ...]
    tag: Tag = field(default_factory=Tag)
    first_row: int = 0

    @property
    def name(self) -> str:
        """What `tag` says; "" where all targets are up together."""
        return self.tag.get("solo") or self.tag.get("group", "")


def make_groups(names: Sequence[str], order: str, at_once: int | None) -> list[Group]:
    """The groups of one block, in order; `names`: all targets, the base first.

    `order` sequential: each target alone. Interleaved: the base with up to `at_once` - 1 others (None: all of them), the
    others shared out evenly in the order given.
    """
    if order == "sequential":
        return [Group((name,), {"solo": name}) for name in names]
    if at_once is None or at_once >= len(names):
        return [Group(tuple(names))]
    base, *others = names
    count = -(-len(others) // (at_once - 1))
    cuts = [len(others) * number // count for number in range(count + 1)]
    return [
        Group((base, *others[cuts[number] : cuts[number + 1]]), {"group": f"g{number}"}, number * ROWS_PER_GROUP)
        for number in range(count)
    ]
