"""Looking at the results more than once, and paying for it: Pocock's constant level.

With K looks at one two-sided test, each at the level of a single one, the chance of at least one false alarm grows
(4 looks at 5 %, evenly spaced: 13 %). Pocock (Biometrika 64, 1977) tests at every look at one constant lower level. It is found
here by numerical integration over the looks' joint normal distribution (Armitage, McPherson & Rowe 1969; Jennison &
Turnbull, Group Sequential Methods, ch. 19): the density of the running sum, inside the bounds so far, is carried from
look to look on Gauss-Legendre nodes. Deterministic, and good to six digits also far in the tails.
"""

from functools import cache
from itertools import pairwise

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from dbversus.errors import UsageError
from dbversus.stats.means import FEWEST_BLOCKS
from dbversus.stats.metrics import Floats

LOOKS: tuple[int, ...] = (3, 4, 6, 8, 12)

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(120)


def first_look(looks: tuple[int, ...]) -> int:
    """Blocks that a verdict takes: as many as the first look has, and so many that there is an interval."""
    return max(FEWEST_BLOCKS, looks[0])


def check_looks(looks: tuple[int, ...]) -> None:
    """Raise UsageError unless looks are rising positive numbers of blocks."""
    if not looks or looks[0] < 1 or any(later <= sooner for sooner, later in pairwise(looks)):
        raise UsageError(f"looks {looks} are not rising positive numbers of blocks, as for example {LOOKS}")


@cache
def alpha_per_look(looks: tuple[int, ...], overall: float = 0.05, family: int = 1) -> float:
    """The level to test at, at each of these looks (numbers of blocks seen), for an error of `overall` over them all.

    `family` is the number of tests of which the smallest p-value is compared with level / family (as Bonferroni does,
    and Benjamini-Hochberg when nothing is true). Extreme values at different looks go together less than ordinary ones
    do, so a large family pays more for its looks: 1.63 % for one test at looks (3, 4, 6, 8, 12), 1.25 % for 126.
    """
    check_looks(looks)
    if len(looks) == 1:
        return overall
    return float(
        brentq(
            lambda level: family * false_alarm(level / family, looks) - overall,
            overall / len(looks) / 2,
            overall,
            rtol=1e-6,
        )
    )


def false_alarm(level: float, looks: tuple[int, ...]) -> float:
    """Chance that a two-sided normal test of no difference, at `level` at each look, rejects at one look or more."""
    critical = -float(ndtri(level / 2))
    alarm = level
    nodes = _NODES * critical * np.sqrt(looks[0])
    inside = _density(nodes, np.sqrt(looks[0])) * _WEIGHTS * critical * np.sqrt(looks[0])
    for sooner, later in pairwise(looks):
        step, bound = np.sqrt(later - sooner), critical * np.sqrt(later)
        alarm += float(inside @ (ndtr((nodes - bound) / step) + ndtr(-(bound + nodes) / step)))
        following = _NODES * bound
        density = _density(following[:, None] - nodes[None, :], step) @ inside
        nodes, inside = following, density * _WEIGHTS * bound
    return alarm


def _density(distance: Floats, sd: float) -> Floats:
    """Of a normal distribution, at this distance from its mean. (scipy.stats takes half a second to import.)"""
    density: Floats = np.exp(-0.5 * (distance / sd) ** 2) / (sd * np.sqrt(2 * np.pi))
    return density
