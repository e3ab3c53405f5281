"""Ratios of many tests in one SVG file."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from dbversus.report.charts.standing import MOST_SERIES, Chart, draw
from dbversus.report.model import Assessment
from dbversus.stats.metrics import THROUGHPUT
from dbversus.stats.model import Finding, Verdict

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def finding(assessment: Assessment) -> Finding:
    found = next(one for one in assessment.findings if one.metric == THROUGHPUT and one.ratio)
    return replace(found, verdict=Verdict.REGRESSION, whole_work=None, ratio=0.8, low=0.75, high=0.85)


def chart_of(assessment: Assessment) -> Chart:
    series: dict[str, dict[str, Finding]] = {}
    for item in assessment.comparisons:
        if finding := item.findings.get(THROUGHPUT):
            series.setdefault(item.target, {})[item.test] = finding
    return Chart("Throughput", "higher is better", [test.name for test in assessment.tests], series)


def drawn(chart: Chart) -> ElementTree.Element:
    return ElementTree.fromstring(draw(chart))


def texts(root: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def places(root: ElementTree.Element) -> list[tuple[float, float, str]]:
    """x, y and fill of each mark of the plot, after those of the legend."""
    found = []
    for element in root.iter(f"{SVG}path"):
        if place := re.match(r"translate\(([\d.]+) ([\d.]+)\)", element.get("transform", "")):
            found.append((float(place[1]), float(place[2]), element.get("fill", "")))
    return found


def test_a_title_a_legend_and_a_row_for_each_test(assessment: Assessment) -> None:
    chart = chart_of(assessment)
    found = texts(drawn(chart))
    assert found[:2] == ["Throughput", "higher is better"]
    assert {*chart.rows, *chart.series} <= set(found)


def test_marks_stand_at_their_ratios(finding: Finding) -> None:
    root = drawn(Chart("t", "n", ["a"], {"one": {"a": finding}, "two": {"a": replace(finding, ratio=1.25)}}))
    ticks = {
        float(element.text or ""): float(element.get("x", ""))
        for element in root.iter(f"{SVG}text")
        if element.get("class") == "tick"
    }
    (below, _, _), (above, _, _) = places(root)[2:]
    assert below < ticks[1.0] < above
    assert above - ticks[1.0] == pytest.approx(ticks[1.0] - below, abs=0.3)


@pytest.mark.parametrize(("verdict", "is_hollow"), [(Verdict.UNDECIDED, True), (Verdict.NOT_REPLICATED, False)])
def test_what_has_no_verdict_is_hollow(finding: Finding, verdict: Verdict, is_hollow: bool) -> None:
    *_, (_, _, fill) = places(drawn(Chart("t", "n", ["a"], {"one": {"a": replace(finding, verdict=verdict)}})))
    assert (fill == "#fcfcfa") is is_hollow


@pytest.mark.parametrize(("ratio", "said"), [(0.00357, "0.00357"), (63.0, "63.00")])
def test_what_lies_beyond_the_axis_says_how_far(finding: Finding, ratio: float, said: str) -> None:
    far = replace(finding, ratio=ratio, low=None, high=None)
    near = dict.fromkeys("bcdefghijk", finding)
    root = drawn(Chart("t", "n", ["a", *near], {"one": {"a": far, **near}}))
    assert said in texts(root) and beyond(root) == 1


def beyond(root: ElementTree.Element) -> int:
    return sum(path.get("class") == "beyond" for path in root.iter(f"{SVG}path"))


def test_where_much_lies_far_from_the_base_the_axis_reaches_it(finding: Finding) -> None:
    rows = {name: replace(finding, ratio=0.02, low=0.015, high=0.03) for name in "ab"}
    root = drawn(Chart("t", "n", ["a", "b", "c"], {"one": {**rows, "c": finding}}))
    assert beyond(root) == 0 and len({x for x, _, _ in places(root)}) > 1


@pytest.mark.parametrize(
    ("verdict", "low", "high", "tips"),
    [
        (Verdict.REGRESSION, 0.4, 0.85, 0),  # the axis reaches so far
        (Verdict.NOT_REPLICATED, 0.3, 2.2, 0),  # from the lowest to the highest of a group
        (Verdict.UNDECIDED, 0.795, 1.02, 0),
        (Verdict.UNDECIDED, 0.4, 1.02, 1),
        (Verdict.UNDECIDED, 0.4, 2.2, 2),
        (Verdict.NOT_REPLICATED, 0.01, 50.0, 2),  # nor has the longest axis room for it
    ],
)
def test_a_line_that_goes_on_beyond_the_axis_has_a_tip(
    finding: Finding, verdict: Verdict, low: float, high: float, tips: int
) -> None:
    one = replace(finding, verdict=verdict, low=low, high=high)
    root = drawn(Chart("t", "n", ["a"], {"s": {"a": one}}))
    assert len([path for path in root.iter(f"{SVG}path") if path.get("class") == "tip"]) == tips


def test_a_ratio_of_nothing_is_no_mark(finding: Finding) -> None:
    root = drawn(Chart("t", "n", ["a"], {"one": {"a": replace(finding, ratio=0.0, low=None, high=None)}}))
    assert len(places(root)) == 1


def test_nothing_lies_outside(assessment: Assessment, finding: Finding) -> None:
    names = [f"a target with a long name, number {number}" for number in range(MOST_SERIES)]
    wide = Chart(
        "A long title " * 9, "a long note " * 12, ["row " * 20], {name: {"row " * 20: finding} for name in names}
    )
    for root in (drawn(chart_of(assessment)), drawn(wide)):
        width, height = (float(root.get(name, "")) for name in ("width", "height"))
        for element in root.iter(f"{SVG}text"):
            assert float(element.get("y", "")) <= height
            if "text-anchor" not in element.attrib and element.get("class") != "tick":
                assert float(element.get("x", "")) + 5 * len(element.text or "") <= width
        assert all(0 <= x <= width and 0 <= y <= height for x, y, _ in places(root))


def test_names_stay_text(finding: Finding) -> None:
    hostile = "<script>alert('x')</script>"
    assert "<script>" not in draw(Chart(hostile, hostile, [hostile], {hostile: {hostile: finding}}))
