"""Which charts there are to publish, and that they hold what was measured."""

import xml.etree.ElementTree as ET
from dataclasses import replace

from dbversus.report.charts import bars, lines, standing
from dbversus.report.formats.post.pictures import Picture, pictures
from dbversus.report.model import Assessment, Course, Estimate, Second, Step, StepCell, StepsPart
from dbversus.stats.metrics import CPU

from ...many import with_targets
from ...synthetic import LABELS


def titled(found: list[Picture], start: str) -> list[Picture]:
    return [one for one in found if one.title.startswith(start)]


def words(picture: Picture) -> list[str]:
    return [text for text in ET.fromstring(picture.svg).itertext() if text.strip()]


def rate(value: float) -> Estimate:
    return Estimate(value, value * 0.9, value * 1.1, 4)


def with_steps(assessment: Assessment, *names: str) -> Assessment:
    cells = {label: StepCell(rate(1000.0 * place)) for place, label in enumerate(LABELS[:2], start=1)}
    return replace(assessment, steps=StepsPart(tuple(Step(name, "rows/s", cells) for name in names), (), {}))


def test_groups_are_means_between_their_lowest_and_highest(assessment: Assessment) -> None:
    (picture,) = titled(pictures(assessment), "By group of tests: CPU")
    assert isinstance(picture.chart, standing.Chart) and picture.phase == ""
    groups = {test.group for test in assessment.tests}
    assert set(picture.chart.rows) == groups and len(groups) > 1
    for own in picture.chart.series.values():
        for one in own.values():
            assert one.low and one.high and one.ratio and one.low <= one.ratio <= one.high and one.metric == CPU


def test_from_target_to_target_begins_at_the_base(assessment: Assessment) -> None:
    (picture,) = titled(pictures(assessment), "From target to target: CPU")
    assert isinstance(picture.chart, standing.Chart) and picture.chart.joined
    assert len(picture.chart.rows) == len(LABELS)
    assert all(own[picture.chart.rows[0]].ratio == 1.0 for own in picture.chart.series.values())
    assert titled(pictures(with_targets(assessment, 2)), "From target") == []


def test_rates_of_steps_stand_with_their_intervals(assessment: Assessment) -> None:
    (picture,) = titled(pictures(with_steps(assessment, "l.i0", "l.x")), "Rates of the steps")
    assert isinstance(picture.chart, bars.Chart)
    assert {"l.i0, rows/s", "l.x, rows/s", "2,000 [1,800, 2,200]"} <= set(words(picture))
    assert titled(pictures(with_steps(assessment, "load")), "Rates of the steps") == []


def test_a_step_that_lasts_has_its_rate_over_time(assessment: Assessment) -> None:
    name = assessment.tests[0].name
    course = Course(
        "", "rows/s", {label: tuple(Second(float(at), 100.0 * at, None) for at in range(5)) for label in LABELS}
    )
    test = replace(assessment.tests[0], courses=(course,))
    found = pictures(with_steps(replace(assessment, tests=(test, *assessment.tests[1:])), name, "l.x"))
    (picture,) = titled(found, f"{name}: rate over time")
    assert isinstance(picture.chart, lines.Chart) and picture.phase
    assert picture.chart.series[next(iter(picture.chart.series))][4] == (4.0, 400.0)
    assert {"rows/s", "s", "400"} <= set(words(picture))
