"""Charts of seconds: a line per target, and the worst of a stretch where there are many."""

from dataclasses import replace
from xml.etree import ElementTree

from dbversus.report.charts.course import course_chart
from dbversus.report.formats import html
from dbversus.report.model import Assessment, Second, TestPart
from dbversus.report.words import number

from ..synthetic import LABELS


def _lines(test: TestPart, figure: str) -> list[ElementTree.Element]:
    root = ElementTree.fromstring(course_chart(test, figure, LABELS))
    return [each for each in root.iter() if "curve" in each.get("class", "").split()]


def _with(assessment: Assessment, *seconds: Second) -> TestPart:
    return replace(assessment.tests[0], timeline={LABELS[0]: seconds, LABELS[1]: seconds[:2]})


def test_each_target_has_a_line_of_its_seconds(assessment: Assessment) -> None:
    test = _with(assessment, Second(0, 100, 2.0), Second(1, 0, None), Second(2, 50, 700.0))
    base, other = _lines(test, "ops_per_s")
    assert (base.get("data-at"), base.get("data-say")) == ("0|1|2", "|".join(map(number, (100, 0, 50))))
    assert (other.get("data-at"), "t1" in other.get("class", "")) == ("0|1", True)
    slowest, _ = _lines(test, "slowest_ms")
    assert slowest.get("data-at") == "0|2"  # nothing ended in the second between


def test_of_many_seconds_the_worst_are_drawn(assessment: Assessment) -> None:
    seconds = [Second(at, 10.0 if at == 2500 else 100.0, 900.0 if at == 2500 else 1.0) for at in range(3600)]
    test = _with(assessment, *seconds)
    rate, slowest = _lines(test, "ops_per_s")[0], _lines(test, "slowest_ms")[0]
    for line, worst in ((rate, number(10)), (slowest, number(900))):
        assert len((line.get("data-at") or "").split("|")) <= 300
        assert worst in (line.get("data-say") or "").split("|")


def test_the_page_has_them_where_there_are_seconds(assessment: Assessment) -> None:
    seconds = (Second(0, 100, 2.0), Second(1, 90, 3.0), Second(2, 50, 700.0))
    page = html.render(replace(assessment, tests=(_with(assessment, *seconds), *assessment.tests[1:])))
    assert page.count("Throughput over time, seconds of the first block</figcaption>") == 1
    assert "Throughput over time" not in html.render(assessment)
    assert course_chart(assessment.tests[0], "ops_per_s", LABELS) == ""
