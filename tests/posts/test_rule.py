"""What becomes of a figure: each rule of docs/posts.md, its borders, and how often each is right where the truth is known."""

from collections import Counter

import numpy as np
import pytest

from dbversus.posts.measured import ours_of
from dbversus.posts.rule import Ours, Published, Status, status_of_value, status_of_words
from dbversus.stats.means import Ratio, mean_of_blocks

MARGIN = 0.05
UP, DOWN, SAME = 1, -1, 0


def ours(value: float, low: float | None, high: float | None, way: int | None, *, holds: bool = True) -> Ours:
    return Ours(Ratio(value, low, high, 6 if low else 1), way, MARGIN, holds)


def of_value(published: float, one: Ours) -> Status:
    return status_of_value(Published.printed(published, 2), one)


def test_the_tolerance_of_a_printed_value_is_its_precision_and_five_percent() -> None:
    printed = Published.printed(0.74, 2)
    assert (printed.low, printed.high) == pytest.approx((0.735 / 1.05, 0.745 * 1.05))
    assert Published.printed(0.74, 2).meets(Published.printed(0.80, 2))
    assert not Published.printed(0.74, 2).meets(Published.printed(0.84, 2))


@pytest.mark.parametrize(
    ("published", "one", "status"),
    [
        # the sizes meet, and the change is shown
        (0.74, ours(0.72, 0.70, 0.735, DOWN), Status.FOUND),
        (1.01, ours(1.00, 0.98, 1.02, SAME), Status.FOUND),
        (1.04, ours(1.01, 0.99, 1.03, SAME), Status.FOUND),
        (1.04, ours(1.06, 1.03, 1.09, UP), Status.FOUND),
        # a wide interval meets everything and shows nothing
        (0.74, ours(0.9, 0.5, 1.6, None), Status.NOT_SHOWN),
        # shown, of another size
        (0.74, ours(0.50, 0.48, 0.52, DOWN), Status.SAME_DIRECTION),
        (0.74, ours(0.90, 0.88, 0.92, DOWN), Status.SAME_DIRECTION),
        # the other way, or no change to speak of
        (0.74, ours(1.20, 1.10, 1.30, UP), Status.REFUTED),
        (0.74, ours(0.99, 0.97, 1.01, SAME), Status.REFUTED),
        (1.20, ours(0.96, 0.90, 1.03, None), Status.REFUTED),
        (1.00, ours(0.80, 0.78, 0.82, DOWN), Status.REFUTED),
        # no change was published, and one is shown that is not beyond the margin
        (1.00, ours(0.93, 0.91, 0.956, DOWN), Status.NOT_SHOWN),
        # the estimate points the other way, and the interval leaves it open
        (0.74, ours(1.10, 0.80, 1.50, None), Status.OPPOSITE),
        (0.74, ours(1.02, 0.80, 1.30, None), Status.NOT_SHOWN),
        # within its own tolerance a value is not refuted
        (1.06, ours(1.02, 1.01, 1.03, SAME), Status.NOT_SHOWN),
        # an interval that may not be used, since it drifted, say
        (0.74, ours(1.20, 1.10, 1.30, None, holds=False), Status.OPPOSITE),
        (1.00, ours(0.80, 0.78, 0.82, None, holds=False), Status.NOT_SHOWN),
    ],
)
def test_what_becomes_of_a_value(published: float, one: Ours, status: Status) -> None:
    assert of_value(published, one) == status


@pytest.mark.parametrize(
    ("published", "value", "status"),
    [
        (0.74, 0.72, Status.FOUND),
        (0.74, 0.60, Status.SAME_DIRECTION),
        (0.74, 1.30, Status.OPPOSITE),
        (0.74, 1.00, Status.NOT_SHOWN),
        (1.00, 0.60, Status.NOT_SHOWN),
    ],
)
def test_without_an_interval_the_size_counts_and_nothing_is_refuted(
    published: float, value: float, status: Status
) -> None:
    assert of_value(published, ours(value, None, None, None)) == status


@pytest.mark.parametrize(
    ("said", "one", "status"),
    [
        ("up", ours(1.02, 1.01, 1.03, UP), Status.FOUND),
        ("up", ours(1.00, 0.98, 1.02, SAME), Status.REFUTED),
        ("up", ours(0.90, 0.88, 0.92, DOWN), Status.REFUTED),
        ("up", ours(0.90, 0.70, 1.20, None), Status.OPPOSITE),
        ("up", ours(1.10, 0.90, 1.30, None), Status.NOT_SHOWN),
        ("same", ours(1.00, 0.98, 1.02, SAME), Status.FOUND),
        ("same", ours(1.20, 1.15, 1.25, UP), Status.REFUTED),
        ("same", ours(1.04, 1.01, 1.07, UP), Status.NOT_SHOWN),
        ("not up", ours(1.00, 0.98, 1.02, SAME), Status.FOUND),
        ("not up", ours(0.90, 0.88, 0.92, DOWN), Status.FOUND),
        ("not up", ours(1.20, 1.15, 1.25, UP), Status.REFUTED),
        ("not up", ours(1.04, 1.01, 1.07, UP), Status.OPPOSITE),
        ("not up", ours(0.95, 0.80, 1.10, None), Status.NOT_SHOWN),
        ("up", ours(1.20, None, None, None), Status.FOUND),
        ("up", ours(0.80, None, None, None), Status.OPPOSITE),
        ("not down", ours(0.80, None, None, None), Status.OPPOSITE),
        ("not down", ours(1.00, None, None, None), Status.FOUND),
    ],
)
def test_what_becomes_of_a_direction(said: str, one: Ours, status: Status) -> None:
    assert status_of_words(said, one) == status


def simulated(published: float, truth: float, *, sd: float, blocks: int, times: int = 2000) -> Counter[Status]:
    """What becomes of a published value in experiments whose true ratio is known, as shares."""
    rng = np.random.default_rng(11)
    logs = np.log(truth) + rng.normal(0, sd, (times, blocks))
    counts = Counter(of_value(published, ours_of(mean_of_blocks(list(row)).ratio(), MARGIN)) for row in logs)
    return Counter({status: count / times for status, count in counts.items()})


@pytest.mark.parametrize("published", [0.5, 0.74, 0.97, 1.0, 1.04, 1.3])
def test_what_is_true_as_published_is_found_once_blocks_are_enough_and_hardly_ever_refuted(published: float) -> None:
    precise = simulated(published, published, sd=0.01, blocks=8)
    assert precise[Status.FOUND] > 0.9
    for sd in (0.01, 0.05, 0.2):
        assert simulated(published, published, sd=sd, blocks=6)[Status.REFUTED] < 0.035


@pytest.mark.parametrize(("published", "truth"), [(0.74, 1.0), (1.3, 1.0), (0.74, 1.2), (1.0, 1.3)])
@pytest.mark.parametrize("sd", [0.01, 0.05, 0.2])
def test_what_is_not_true_is_hardly_ever_found(published: float, truth: float, sd: float) -> None:
    assert simulated(published, truth, sd=sd, blocks=6)[Status.FOUND] < 0.035


@pytest.mark.parametrize(("published", "truth"), [(0.74, 1.0), (1.3, 1.0), (0.74, 1.2), (1.0, 1.3)])
def test_what_is_not_true_is_refuted_once_blocks_are_enough(published: float, truth: float) -> None:
    assert simulated(published, truth, sd=0.01, blocks=8)[Status.REFUTED] > 0.95


def test_a_weaker_change_is_of_the_same_direction_once_blocks_are_enough() -> None:
    assert simulated(0.5, 0.8, sd=0.02, blocks=8)[Status.SAME_DIRECTION] > 0.99


def test_noise_shows_nothing() -> None:
    loud = simulated(0.74, 0.74, sd=1.0, blocks=4)
    assert loud[Status.NOT_SHOWN] + loud[Status.OPPOSITE] > 0.9
    too_wide = Ours(Ratio(0.74, None, None, 4, 0.02, 30.0), None, MARGIN)
    assert {of_value(0.74, too_wide), status_of_words("down", too_wide)} == {Status.NOT_SHOWN}
