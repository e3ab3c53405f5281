import math
from dataclasses import replace

import pytest

from dbversus.report.charts.forest import WIDTH, Scale, picture, scale_for
from dbversus.stats.model import Finding, Verdict


def finding(ratio: float, low: float, high: float, verdict: Verdict = Verdict.EQUIVALENT) -> Finding:
    return Finding("t", "x", "m", verdict, ratio, low, high, 0.95, 4, 0.1, 0.1, 0.03, 0.05, 0.01, 9.0)


def test_scale_is_symmetric_and_clipped() -> None:
    scale = Scale(math.log(2))
    assert scale.x(1.0) == WIDTH / 2
    assert scale.x(2.0) + scale.x(0.5) == pytest.approx(WIDTH)
    assert scale.x(100.0) == scale.x(2.0)
    assert scale.ticks == [0.5, 1.0, 2.0]


def test_wild_intervals_do_not_stretch_the_scale() -> None:
    calm = finding(1.1, 1.08, 1.12, Verdict.REGRESSION)
    wild = finding(1.5, 0.1, 20.0, Verdict.UNSTABLE)
    assert scale_for([calm, wild]) == scale_for([calm])


def test_what_lies_beyond_gets_an_arrow() -> None:
    scale = Scale(math.log(1.2))
    assert "arrow" not in picture(finding(1.01, 0.98, 1.05), scale)
    assert picture(finding(1.01, 0.5, 1.9), scale).count("arrow") == 2
    assert "<circle" not in picture(finding(3.0, 2.0, 4.0), scale)


def test_ratios_of_single_runs_are_shown_in_place() -> None:
    single = replace(finding(1.6, 1, 1, Verdict.NOT_REPLICATED), low=None, high=None)
    assert "<circle" in picture(single, scale_for([single]))
