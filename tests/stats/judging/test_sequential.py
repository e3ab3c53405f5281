"""Pocock's level: published constants, simulation, families."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from dbversus.errors import UsageError
from dbversus.stats.judging.sequential import LOOKS, alpha_per_look, false_alarm


@pytest.mark.parametrize(
    ("looks", "critical"),
    [(1, 1.960), (2, 2.178), (3, 2.289), (4, 2.361), (5, 2.413), (10, 2.555)],
)
def test_constants_published_for_equal_steps(looks: int, critical: float) -> None:
    """Jennison & Turnbull (2000), table 2.1, overall error 5 %."""
    level = alpha_per_look(tuple(range(1, looks + 1)))
    assert norm.isf(level / 2) == pytest.approx(critical, abs=6e-4)


def test_level_of_the_default_looks_against_simulation() -> None:
    rng = np.random.default_rng(1)
    sums = rng.standard_normal((200_000, LOOKS[-1])).cumsum(axis=1)
    z = np.abs(sums[:, np.array(LOOKS) - 1] / np.sqrt(LOOKS))
    level = alpha_per_look(LOOKS)
    assert level == pytest.approx(0.01626, abs=1e-5)
    assert (z >= norm.isf(level / 2)).any(axis=1).mean() == pytest.approx(0.05, abs=0.0015)


def test_a_family_pays_more_but_never_more_than_bonferroni() -> None:
    levels = [alpha_per_look(LOOKS, 0.05, family) for family in (1, 10, 126, 1000)]
    assert levels == sorted(levels, reverse=True)
    assert levels[-1] > 0.05 / len(LOOKS)
    assert 126 * false_alarm(levels[2] / 126, LOOKS) == pytest.approx(0.05, rel=1e-4)


@settings(deadline=None, max_examples=20)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=6, unique=True).map(sorted).map(tuple))
def test_the_whole_error_is_kept_for_any_looks(looks: tuple[int, ...]) -> None:
    level = alpha_per_look(looks)
    assert 0.05 / len(looks) <= level * 1.000001
    assert false_alarm(level, looks) == pytest.approx(0.05, rel=1e-4)


@pytest.mark.parametrize("looks", [(), (0, 4), (4, 4), (8, 6)])
def test_looks_that_do_not_rise_are_refused(looks: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match="rising"):
        alpha_per_look(looks)
