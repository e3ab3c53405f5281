"""Where each slot belongs: its block and test, its target, and the row that it shares with slots of other targets."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from dbversus.errors import UsageError
from dbversus.results.columns import floats

T = TypeVar("T")
Columns = Mapping[str, npt.NDArray[np.generic]]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Sides:
    """Slots (by index) of a target and of the base, with the cell of each, in order of cell and time.

    `paired`: the n-th of ours and the n-th of theirs are of the same row. Else the two were not up together, and have no
    more than the cell in common.
    """

    ours: Ints
    theirs: Ints
    our_cell: Ints
    their_cell: Ints
    paired: bool

    def where(self, known: Bools) -> "Sides":
        """Only slots for which `known` (a flag per slot of the experiment) holds; of pairs, those where both hold."""
        mine, base = known[self.ours], known[self.theirs]
        if self.paired:
            mine = base = mine & base
        return Sides(self.ours[mine], self.theirs[base], self.our_cell[mine], self.their_cell[base], self.paired)

    @property
    def both(self) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
        """Slots and their cells, ours and theirs."""
        return (self.ours, self.our_cell), (self.theirs, self.their_cell)

    def counts(self, cells: int) -> Ints:
        """Pairs in each cell; of sides apart, the slots of the side that has fewer."""
        mine = np.bincount(self.our_cell, minlength=cells)
        return mine if self.paired else np.minimum(mine, np.bincount(self.their_cell, minlength=cells))


@dataclass(frozen=True, eq=False)
class Layout:
    """Where each slot belongs. A cell is a block × test; `slot_at[row, target]` is the index of a slot, or -1.

    Rows come in order of cell, then of time. `columns`: of the slots; they are taken not to change.
    """

    columns: Columns = field(repr=False)
    targets: list[str]
    base: int
    cell_names: list[tuple[int, str]]
    cell_of_row: Ints
    slot_at: Ints
    _made: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    def once(self, what: Hashable, make: Callable[[], T]) -> T:
        """What `make` makes of these slots: made when it is first asked for, and kept. `what`: a name that is its alone."""
        if what not in self._made:
            self._made[what] = make()
        made: T = self._made[what]
        return made

    @property
    def others(self) -> list[int]:
        """All targets but the base."""
        return [target for target in range(len(self.targets)) if target != self.base]

    def pairs(self, target: int) -> Sides:
        """Slots of the same row."""
        return self.once(("pairs", target), lambda: self._pairs(target))

    def _pairs(self, target: int) -> Sides:
        ours, theirs = self.slot_at[:, target], self.slot_at[:, self.base]
        both = (ours >= 0) & (theirs >= 0)
        cell = self.cell_of_row[both]
        return Sides(ours[both], theirs[both], cell, cell, True)

    def apart(self, target: int) -> Sides:
        """Slots of the cells in which both were measured, but never in the same row: one target after the other."""
        return self.once(("apart", target), lambda: self._apart(target))

    def _apart(self, target: int) -> Sides:
        ours, theirs = self.slot_at[:, target] >= 0, self.slot_at[:, self.base] >= 0
        alone = (self._count(ours & theirs) == 0) & (self._count(ours) > 0) & (self._count(theirs) > 0)
        mine, base = ours & alone[self.cell_of_row], theirs & alone[self.cell_of_row]
        return Sides(
            self.slot_at[mine, target],
            self.slot_at[base, self.base],
            self.cell_of_row[mine],
            self.cell_of_row[base],
            False,
        )

    def _count(self, rows: Bools) -> Ints:
        return np.bincount(self.cell_of_row[rows], minlength=len(self.cell_names))


def lay_out(columns: Columns, base: str) -> Layout:
    """The layout of slots, from columns of results/schema.py. Raises UsageError when `base` has none."""
    targets, target = _places(columns["target"])
    if base not in targets:
        raise UsageError(f"no slots of the base '{base}'; there are slots of: {', '.join(targets) or 'nobody'}")
    tests, test = _places(columns["test"])
    block = floats(columns["block"]).astype(np.int64)
    cells, cell = np.unique(block * len(tests) + test, return_inverse=True)
    rows, row = np.unique(_row_keys(columns, cell), return_inverse=True)
    slot_at = np.full((len(rows), len(targets)), -1, dtype=np.int64)
    slot_at[row, target] = np.arange(len(block))
    cell_of_row = np.zeros(len(rows), dtype=np.int64)
    cell_of_row[row] = cell
    return Layout(
        columns=columns,
        targets=targets,
        base=targets.index(base),
        cell_names=[(int(key // len(tests)), tests[key % len(tests)]) for key in cells],
        cell_of_row=cell_of_row,
        slot_at=slot_at,
    )


def _places(texts: npt.NDArray[np.generic]) -> tuple[list[str], Ints]:
    """Its different texts in order, and which of them each entry is (as np.unique, which would compare a million texts)."""
    entries = texts.tolist()
    names = sorted(set(entries))
    place = {name: index for index, name in enumerate(names)}
    return names, np.fromiter(map(place.__getitem__, entries), dtype=np.int64, count=len(entries))


def _row_keys(columns: Columns, cell: Ints) -> Ints:
    """A number for the row of each slot, rising with cell, row number and time.

    Targets that are measured one after the other have rows of the same numbers, which are not the same rows: slots of one
    row share its start.
    """
    number = floats(columns["row"]).astype(np.int64)
    key = cell * (int(number.max(initial=0)) + 1) + number
    if "started_unix_ns" not in columns:
        return np.asarray(key, dtype=np.int64)
    starts, start = np.unique(np.nan_to_num(floats(columns["started_unix_ns"])), return_inverse=True)
    return np.asarray(key * len(starts) + start, dtype=np.int64)


def flags(column: npt.NDArray[np.generic] | None, count: int) -> Bools:
    """A boolean column of `count` slots; null and absent mean False."""
    if column is None:
        return np.zeros(count, dtype=np.bool_)
    known: Bools = np.nan_to_num(floats(column)).astype(np.bool_)
    return known
