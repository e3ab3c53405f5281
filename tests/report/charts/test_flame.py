"""Flame graphs: as wide as they cost, without the trunk, with names escaped and trifles left out."""

import re

from dbversus.report.charts.flame import WIDTH, draw_flame

STACKS = {("main", "run", "<a>"): 60.0, ("main", "run", "b", "c"): 39.9, ("main", "run", "tiny"): 0.05}


def _widths(picture: str) -> dict[str, float]:
    found = re.findall(r'<title>([^:]+): .*?<rect class="\w+" x="[\d.]+" y="\d+" width="([\d.]+)"', picture)
    return {name: float(width) for name, width in found}


def test_functions_are_as_wide_as_they_cost_and_trifles_are_left_out() -> None:
    widths = _widths(draw_flame(STACKS, {}, 200, 10))
    assert set(widths) == {"&lt;a&gt;", "b", "c"}, "main and run have all there is"
    assert abs(widths["&lt;a&gt;"] - 0.3 * WIDTH) < 1 and widths["b"] == widths["c"]


def test_what_changed_is_coloured_by_how_much_of_the_change_it_is() -> None:
    picture = draw_flame(STACKS, {"<a>": 10.0, "b": -2.0}, 100, 10)
    assert re.search(r'&lt;a&gt;: 60 µs/op here; \+10 .*?class="more"[^>]*fill-opacity="1.00"', picture)
    assert re.search(r'>b: .*?class="less"[^>]*fill-opacity="0.40"', picture)
    assert re.search(r'>c: 39.9 µs/op here</title><rect class="same"', picture)


def test_nothing_and_one_function_are_pictures_too() -> None:
    assert "<svg" in draw_flame({}, {}, 1, 0)
    assert "main" in draw_flame({("main",): 5.0}, {}, 5, 0)
