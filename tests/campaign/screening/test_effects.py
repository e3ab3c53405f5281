"""Effects of a screen are those that were put in."""

from math import exp

import pytest

from dbversus.campaign.agenda import Found
from dbversus.campaign.screening.effects import effects
from dbversus.stats.model import Verdict

NAMES = ["a", "b"]


def row(chosen: str, value: float, blocks: int = 4, sd: float = 0.01) -> tuple[str, Found]:
    return chosen, Found("scan", 1, "server_cpu_us_per_op", Verdict.UNDECIDED, blocks, exp(value), None, None, sd)


def test_each_setting_has_its_effect_and_error() -> None:
    a, b = effects(NAMES, [row("a", 0.10), row("b", 0.01), row("ab", 0.11)], 1)
    assert [a.value, b.value] == pytest.approx([0.10, 0.01])
    # four values with a standard error of 0.01 / √4 each: their contrast is twice the mean's error
    assert a.error == pytest.approx(0.005)
    assert (a.is_shown, b.is_shown) == (True, False)


def test_a_row_that_is_missing_leaves_the_others() -> None:
    a, b = effects(NAMES, [row("a", 0.10), row("ab", 0.13)], 1)
    assert [a.value, b.value] == pytest.approx([0.10, 0.03])


@pytest.mark.parametrize("rows", [[], [row("a", 0.1)], [row("a", 0.1), row("b", 0.1, blocks=1)]])
def test_too_few_rows_say_nothing(rows: list[tuple[str, Found]]) -> None:
    assert effects(NAMES, rows, 1) == []


def test_more_tests_ask_for_more() -> None:
    rows = [row("a", 0.016), row("b", 0.0), row("ab", 0.016)]
    assert effects(NAMES, rows, 1)[0].is_shown and not effects(NAMES, rows, 1000)[0].is_shown
