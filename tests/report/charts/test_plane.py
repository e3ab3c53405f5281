"""The efficiency plane: a mark per test where its ratios say, names that lie over nothing, axes with three labels."""

import math
from dataclasses import replace
from itertools import combinations

from dbversus.report.charts.plane import FRAME, MOST_NAMES, plane_chart
from dbversus.report.model import Assessment
from dbversus.report.parts.overview import plane as parts
from dbversus.report.words import finding_text

from ..synthetic import LABELS
from .test_charts import drawn, of_class, read


def test_marks_lie_where_their_ratios_say(assessment: Assessment) -> None:
    plane = parts.planes(assessment)[0]
    root = drawn(plane_chart(plane))
    (points,) = of_class(root, "points")
    said = dict(read(root, points))
    places = dict(
        zip(said, (tuple(map(float, one.split(","))) for one in points.get("points", "").split()), strict=True)
    )
    assert set(said) == {point.test for point in plane.points}
    for point in plane.points:
        assert finding_text(point.throughput) in said[point.test] and said[point.test].endswith(point.region)
    for one, other in combinations(plane.points, 2):
        assert (one.cpu.ratio or 0) <= (other.cpu.ratio or 0) or places[one.test][0] >= places[other.test][0]
        assert (one.throughput.ratio or 0) <= (other.throughput.ratio or 0) or places[one.test][1] <= places[
            other.test
        ][1]
    for x, y in places.values():
        assert FRAME.left <= x <= FRAME.right and FRAME.top <= y <= FRAME.bottom
    glyphs = {each.get("class", "").split()[-1]: each.get("d", "").count("z") for each in of_class(root, "glyph")}
    assert glyphs["regression"] == sum(point.slower for point in plane.points)
    assert glyphs["improvement"] == sum(point.faster for point in plane.points)


def test_axes_and_regions_are_named(assessment: Assessment) -> None:
    root = drawn(plane_chart(parts.planes(assessment)[0]))
    for axis in (*of_class(root, "x"), *of_class(root, "y")):
        assert len(list(axis)) >= 3
    names = {text.text for text in of_class(root, "region")}
    assert {"slower by CPU", "slower by waiting or IO", "faster by CPU"} <= names
    assert LABELS[1] in root.get("aria-label", "") and "slower by CPU: 1 test" in root.get("aria-label", "")


def test_outliers_are_named_and_names_lie_over_no_mark(assessment: Assessment) -> None:
    plane = parts.planes(assessment)[0]
    one = plane.points[0]
    crowd = [
        replace(
            one,
            test=f"test-{n}",
            region=parts.SLOWER_CPU,
            throughput=replace(one.throughput, ratio=0.9 + n / 1000),
            cpu=replace(one.cpu, ratio=1.1),
        )
        for n in range(30)
    ]
    far = replace(crowd[0], test="<b>far</b>", cpu=replace(one.cpu, ratio=3.0))
    picture = plane_chart(replace(plane, points=(*crowd, far)))
    assert "<b>" not in picture
    names = of_class(drawn(picture), "name")
    assert names[0].text == "<b>far</b>" and len(names) <= MOST_NAMES
    lines = [float(text.get("y", "0")) for text in names if text.get("text-anchor") == names[-1].get("text-anchor")]
    assert all(abs(first - second) >= 11 or math.isclose(first, second) for first, second in combinations(lines[1:], 2))


def test_wild_ratios_stay_in_the_picture(assessment: Assessment) -> None:
    plane = parts.planes(assessment)[0]
    one = plane.points[0]
    wild = replace(one, throughput=replace(one.throughput, ratio=1e-9), cpu=replace(one.cpu, ratio=1e9))
    root = drawn(plane_chart(replace(plane, points=(wild,))))
    x, y = map(float, of_class(root, "points")[0].get("points", "").split(","))
    assert FRAME.left <= x <= FRAME.right and FRAME.top <= y <= FRAME.bottom
