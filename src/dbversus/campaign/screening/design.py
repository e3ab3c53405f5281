"""Which settings each row of a screen has, a two-level fold-over design, and the effect of each from all rows together.

The columns of a Hadamard matrix are the settings, its rows and their mirror images the configs. So each setting is set in half
of them, together with every other one as often as without, and what two settings do only together is not taken for the
effect of a third.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import log

import numpy as np
import numpy.typing as npt

from dbversus.campaign.agenda import Found

Design = npt.NDArray[np.int64]
"""A row per config, a column per setting: 1 where it has the value of the second config, else -1."""
FALSE_BLAME = 0.05
"""How often a screen of settings without any effect may name one."""


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


@dataclass(frozen=True)
class Effect:
    """ln(second/first) of a setting, over all values of the others; `error`: its standard error."""

    name: str
    value: float
    error: float
    is_shown: bool


def effects(names: Sequence[str], rows: Sequence[tuple[Collection[str], Found]], tests: int) -> list[Effect]:
    """`rows`: of one test and metric, what was found of the first config with these settings of the second one.

    Each row is a value of a linear model; one that is missing leaves the others. The spread between the blocks of a row says how
    certain they are. A setting is shown if it would be by chance in 5 % of screens of so many settings and `tests` at most.
    Empty where too few rows are left to tell the settings apart.
    """
    from scipy.stats import t

    told = [(chosen, one) for chosen, one in rows if one.ratio and one.block_sd is not None and one.blocks > 1]
    # the first config is a row too: that of no change, in as many blocks as the others
    levels = [[1 if name in chosen else -1 for name in names] for chosen in ((), *(chosen for chosen, _ in told))]
    model = np.hstack([np.ones((len(levels), 1)), np.array(levels)])
    if not told or np.linalg.matrix_rank(model) < model.shape[1]:
        return []
    values = np.array([0.0, *(log(one.ratio or 1) for _, one in told)])
    degrees = sum(one.blocks - 1 for _, one in told)
    variance = sum((one.blocks - 1) * (one.block_sd or 0) ** 2 for _, one in told) / degrees
    spread = variance / np.array([max(one.blocks for _, one in told), *(one.blocks for _, one in told)])
    inverse = np.linalg.pinv(model)
    coefficients, errors = inverse @ values, np.sqrt(inverse**2 @ spread)
    least = float(t.isf(FALSE_BLAME / 2 / len(names) / tests, degrees))
    return [
        Effect(name, 2 * float(value), 2 * float(error), bool(abs(value) > least * error))
        for name, value, error in zip(names, coefficients[1:], errors[1:], strict=True)
    ]
