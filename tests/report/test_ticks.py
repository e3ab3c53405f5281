import math
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from dbversus.report.charts import ticks

sizes = st.floats(1e-3, 1e7)


@given(st.floats(-1e6, 1e6), sizes)
def test_a_linear_axis_has_three_to_seven_round_ticks(low: float, span: float) -> None:
    high = low + span
    found = ticks.linear(low, high)
    steps = {float(f"{b - a:.6g}") for a, b in pairwise(found)}
    assert 3 <= len(found) <= 7
    assert low - 1e-9 * span <= found[0] and found[-1] <= high + 1e-9 * span
    assert len(steps) == 1 and f"{steps.pop():e}"[0] in "125"


@given(sizes, st.floats(1.2, 1e9))
def test_a_logarithmic_axis_has_three_ticks_in_it(low: float, times: float) -> None:
    high = low * times
    found = ticks.logarithmic(low, high)
    assert len(found) >= 3 and found == sorted(set(found))
    assert low * (1 - 1e-8) <= found[0] and found[-1] <= high * (1 + 1e-8)


def test_ticks_that_people_expect() -> None:
    assert ticks.linear(-23, 44) == [-20, 0, 20, 40]
    assert ticks.linear(0, 1) == [0, 0.5, 1]
    assert ticks.logarithmic(45, 2200) == [50, 100, 200, 500, 1000, 2000]
    assert ticks.logarithmic(2, 90_000) == [10, 100, 1000, 10_000]
    assert ticks.logarithmic(100, 140) == [100, 120, 140]
    assert math.isclose(ticks.logarithmic(0.001, 0.0012)[0], 0.001)
