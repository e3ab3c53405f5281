"""Charts of seconds: a line per target, the worst of a stretch where there are many, and events of servers above the lines."""

from dataclasses import replace
from xml.etree import ElementTree

from dbversus.report.charts.course import RATE, SLOWEST, course_chart, is_drawn
from dbversus.report.formats import html
from dbversus.report.model import Assessment, Course, Second, ServerEvent
from dbversus.report.sections.events import of_tests
from dbversus.report.words import number

from ..synthetic import LABELS


def _shapes(of_class: str, course: Course, figure: str = RATE, *events: ServerEvent) -> list[ElementTree.Element]:
    root = ElementTree.fromstring(course_chart(course, figure, LABELS, events))
    return [each for each in root.iter() if of_class in each.get("class", "").split()]


def _course(*seconds: Second, role: str = "") -> Course:
    return Course(role, "operations/s", {LABELS[0]: seconds, LABELS[1]: seconds[:2]})


THREE = Second(0, 100, 2.0), Second(1, 90, 3.0), Second(2, 50, 700.0)


def test_each_target_has_a_line_of_its_seconds() -> None:
    course = _course(Second(0, 100, 2.0), Second(1, 0, None), Second(2, 50, 700.0))
    base, other = _shapes("curve", course)
    assert (base.get("data-at"), base.get("data-say")) == ("0|1|2", "|".join(map(number, (100, 0, 50))))
    assert (other.get("data-at"), "t1" in other.get("class", "")) == ("0|1", True)
    slowest, _ = _shapes("curve", course, SLOWEST)
    assert slowest.get("data-at") == "0|2"  # nothing ended in the second between


def test_of_many_seconds_the_worst_are_drawn() -> None:
    seconds = [Second(at, 10.0 if at == 2500 else 100.0, 900.0 if at == 2500 else 1.0) for at in range(3600)]
    for figure, worst in ((RATE, number(10)), (SLOWEST, number(900))):
        line = _shapes("curve", _course(*seconds), figure)[0]
        assert len((line.get("data-at") or "").split("|")) <= 150
        assert worst in (line.get("data-say") or "").split("|")


def test_what_is_done_once_or_not_at_all_is_not_drawn() -> None:
    idle, once = Second(0, 0, None), Second(3, 0.1, 40.0)
    assert is_drawn(_course(*THREE))
    assert is_drawn(_course(*THREE, idle))  # it stalled
    assert not is_drawn(_course(idle, idle, idle, idle))
    assert not is_drawn(_course(idle, idle, idle, once, role="vacuum"))


def _event(what: str, target: int, at_s: float, driven_s: float, placed: str = "driven") -> ServerEvent:
    return ServerEvent(LABELS[target], what, at_s, driven_s, None, placed, "words")


def test_events_have_a_lane_per_kind_and_target_above_all_lines() -> None:
    events = (
        _event("checkpoint", 0, 0.5, 1.0),
        _event("checkpoint", 0, 2.0, 0.0, "between slices"),
        _event("autovacuum", 1, 1.0, 0.2),
        _event("autovacuum", 1, 3.0, 0.0, "after"),
    )
    base, other = _shapes("event", _course(*THREE), RATE, *events)
    assert [text.text for text in _shapes("lane", _course(*THREE), RATE, *events)] == ["ckpt", "vac"]
    assert "t0" in base.get("class", "") and "t1" in other.get("class", "")
    # a mark for each, except what came after the last second
    assert [lane.get("d", "").count("M") for lane in (base, other)] == [2, 1]
    lowest_lane = max(float(lane.get("d", "").split()[1].partition("H")[0]) for lane in (base, other))
    highest_point = min(
        float(point.partition(",")[2])
        for line in _shapes("curve", _course(*THREE), RATE, *events)
        for point in line.get("points", "").split()
    )
    assert highest_point > lowest_lane + 5


def test_an_axis_has_three_labels_however_many_lanes_there_are() -> None:
    kinds = ("checkpoint", "autovacuum", "autoanalyze", "burst of writes")
    events = [_event(what, target, 1.0, 0.1) for what in kinds for target in (0, 1)]
    root = ElementTree.fromstring(course_chart(_course(*THREE), RATE, LABELS, events))
    axes = {each.get("class"): len(list(each)) for each in root.iter() if each.get("class") in ("x", "y")}
    assert axes["y"] >= 3 and axes["x"] >= 4  # with its title
    assert len(_shapes("lane", _course(*THREE), RATE, *events)) == 6
    assert "1 × checkpoint of" in (root.get("aria-label") or "")


def test_the_page_has_charts_of_roles_and_a_table_of_events_where_there_are_any(assessment: Assessment) -> None:
    events = (_event("checkpoint", 0, 0.5, 1.0), _event("<b>", 1, 3.0, 0.0, "after"))
    courses = _course(*THREE, role="inserters"), _course(*THREE, role="readers")
    test = replace(assessment.tests[0], courses=courses, events=events)
    section = replace(of_tests([test]), name="events")
    page = html.render(replace(assessment, tests=(test, *assessment.tests[1:]), sections=(section,)))
    for title in (
        "inserters: throughput",
        "inserters: slowest response",
        "readers: throughput",
        "readers: slowest response",
    ):
        assert page.count(f"<figcaption>{title} over time, first block</figcaption>") == 1
    assert page.count("Server events of the first block: 7 columns, 2 lines") == 1
    assert "ckpt: checkpoint." in page and "&lt;b&gt;" in page and "<b>" not in page.partition('id="test-')[2]
    plain = html.render(assessment)
    assert "over time, first block" not in plain and "Server events" not in plain
    assert course_chart(Course("", "operations/s", {}), RATE, LABELS) == ""
