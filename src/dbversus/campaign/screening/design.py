"""Which settings each row of a screen has: a two-level fold-over design.

The columns of a Hadamard matrix are the settings, its rows and their mirror images the configs. So each setting is set in half
of them, together with every other one as often as without, and what two settings do only together is not taken for the
effect of a third.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Design = npt.NDArray[np.int64]
"""A row per config, a column per setting: 1 where it has the value of the second config, else -1."""


def fold_over(settings: int, seed: int) -> Design:
    """Columns and the order of the rows are drawn, so that neither the order of settings nor that of time is one of them.

    Without the row of the first config, which all others are compared with.
    """
    chance = np.random.default_rng(seed)
    matrix = np.ones((1, 1), dtype=np.int64)
    while len(matrix) <= settings:
        matrix = np.kron(np.array([[1, 1], [1, -1]]), matrix)
    columns = matrix[:, chance.permutation(np.arange(1, len(matrix)))[:settings]]
    rows = np.unique(np.vstack([columns, -columns]), axis=0)
    return chance.permutation(rows[(rows > 0).any(axis=1)])


def chosen(row: Sequence[int] | npt.NDArray[np.int64], names: Sequence[str]) -> list[str]:
    """The settings that have the value of the second config in a row."""
    return [name for name, level in zip(names, row, strict=True) if level > 0]
