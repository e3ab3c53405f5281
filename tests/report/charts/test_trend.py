"""Trends: a point and a whisker per target, axes with three labels, gaps where nothing counts."""

import math
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from dbversus.report.charts.trend import FRAME, targets_of, trend_chart
from dbversus.report.formats import html
from dbversus.report.model import Assessment
from dbversus.report.parts.overview.heat import Heat, Row, heats
from dbversus.report.words import finding_text
from dbversus.stats.metrics import CPU
from dbversus.stats.model import Verdict

from ..many import labels, with_targets
from ..synthetic import HOSTILE, LABELS
from .test_charts import drawn, of_class, read


def heat_and_row(assessment: Assessment, test: str) -> tuple[Heat, Row]:
    heat = next(one for one in heats(assessment) if one.metric.name == CPU)
    return heat, next(row for row in heat.rows if row.test == test)


def chart_of(assessment: Assessment, test: str) -> ElementTree.Element:
    names = [facts.target.label for facts in assessment.targets]
    dbms = [facts.target.dbms for facts in assessment.targets]
    return drawn(trend_chart(*heat_and_row(assessment, test), targets_of(names, dbms)))


def test_every_target_has_a_point_with_its_interval(assessment: Assessment) -> None:
    root = chart_of(assessment, "range-notcovered-si")
    (points,) = of_class(root, "points")
    _, row = heat_and_row(assessment, "range-notcovered-si")
    assert [text for _, text in read(root, points)] == [f"▼ {finding_text(cell.finding)}" for cell in row.cells]
    (glyph,) = of_class(root, "glyph")
    assert glyph.get("class") == "glyph regression" and glyph.get("d", "").count("z") == 2
    line, whiskers = of_class(root, "trend")
    assert line.get("d", "").count("M") == 2 and whiskers.get("d", "").count("V") == 2
    assert root.get("aria-label", "").startswith("range-notcovered-si, CPU/op over the base's, of 2 targets: 1.1")


def test_axes_have_three_labels_and_hold_every_mark(assessment: Assessment) -> None:
    for one in (assessment, with_targets(assessment, 20)):
        names = [facts.target.label for facts in one.targets]
        targets = targets_of(names, ["postgres"] * len(names))
        for heat in heats(one):
            for row in heat.rows:
                picture = trend_chart(heat, row, targets)
                root = drawn(picture) if picture else ElementTree.Element("svg")
                for axis in of_class(root, "x") + of_class(root, "y"):
                    assert len(list(axis)) >= 3, row.test
                for place in (each.get("points", "") for each in of_class(root, "points")):
                    for x, y in (map(float, point.split(",")) for point in place.split()):
                        assert FRAME.left <= x <= FRAME.right and FRAME.top <= y <= FRAME.bottom


def test_wild_ratios_and_nothing_at_all_have_a_picture_or_none(assessment: Assessment) -> None:
    heat, row = heat_and_row(assessment, "scan")
    finding = row.cells[0].finding
    assert finding
    wild = replace(finding, ratio=1e9, low=1e-9, high=math.inf, verdict=Verdict.UNSTABLE)
    zero = replace(finding, ratio=0.0, low=0.0, high=0.0, verdict=Verdict.IMPROVEMENT)
    cells = tuple(replace(row.cells[0], finding=one, verdict=one.verdict) for one in (wild, zero))
    targets = targets_of(LABELS, ["postgres"] * 3)
    root = drawn(trend_chart(heat, replace(row, cells=cells), targets))
    assert len(of_class(root, "y")[0]) >= 3 and "nan" not in ElementTree.tostring(root, "unicode")
    none = tuple(replace(cell, finding=None) for cell in row.cells)
    assert trend_chart(heat, replace(row, cells=none), targets) == ""


def test_what_does_not_count_is_a_sign_at_the_foot(assessment: Assessment) -> None:
    root = chart_of(assessment, "random-points-100")
    assert [text.text for text in of_class(root, "spoilt")] == ["✗"]
    assert len(of_class(root, "points")[0].get("points", "").split()) == 1


def test_lines_join_targets_of_one_dbms(assessment: Assessment) -> None:
    heat, row = heat_and_row(assessment, "range-notcovered-si")
    root = drawn(trend_chart(heat, row, targets_of(LABELS, ["postgres", "mysql", "postgres"])))
    assert len(of_class(root, "trend")) == 1  # whiskers alone


@pytest.mark.parametrize(("count", "numbered"), [(3, False), (20, True)])
def test_long_names_become_numbers_with_a_key(count: int, numbered: bool) -> None:
    targets = targets_of(labels(count), ["postgres"] * count)
    assert bool(targets.key) == numbered
    assert targets.ticks[:2] == (("1", "2") if numbered else ("9.0", "10.1"))
    assert not numbered or targets.key[1] == "2 postgres:10.1"


def test_the_page_has_one_for_each_test_and_metric(assessment: Assessment) -> None:
    page = html.render(assessment)
    section = page.partition('id="trends-title"')[2].partition("</section>")[0]
    known = sum(any(cell.known for cell in row.cells) for heat in heats(assessment) for row in heat.rows)
    assert len(re.findall(r"<figure data-of=", section)) == known
    assert HOSTILE not in section
