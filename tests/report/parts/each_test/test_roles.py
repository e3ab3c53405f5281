"""Roles in reports: figures of each, and rates that were not held."""

import json
from dataclasses import replace

from rich.console import Console

from dbversus.report.figures import estimate
from dbversus.report.formats import html, markdown, text
from dbversus.report.formats import json as json_format
from dbversus.report.model import Assessment, LatencyFigures, RoleFigures, RolePart, TestPart, spoiled_labels
from dbversus.report.parts.each_test.roles import notes
from dbversus.report.section import Section
from dbversus.report.sections.roles import of_tests
from dbversus.report.words import NBSP, percent
from dbversus.stats.model import Verdict
from dbversus.stats.validity.rates import Rate

TIMES = LatencyFigures(10, {50.0: estimate([20.0]), 99.0: estimate([2_000_000.0])}, (), 2_100_000.0)
CLOSED = RoleFigures(estimate([900.0]), 3, TIMES, None, None, None, None, Rate(900.0))


def paced(overdue_share: float) -> RoleFigures:
    return RoleFigures(estimate([250.0]), 0, TIMES, TIMES, estimate([500.0]), 0.25, overdue_share, Rate(250.0, 500.0))


def test_a_rate_that_was_not_held_is_said() -> None:
    parts = (RolePart("readers", {"a": CLOSED}), RolePart("orders", {"a": paced(0.5), "b": paced(0.001)}))
    (said,) = notes(parts)
    assert said.startswith("a did not hold the rate of orders: of 500.0 operations/s that were due, 50%")


def test_a_schedule_longer_than_the_test_is_said() -> None:
    never = replace(paced(0.0), ops_per_s=estimate([0.0]), due_per_s=estimate([0.0]), overdue_share=None)
    (said,) = notes((RolePart("orders", {"a": never}),))
    assert said.startswith("no operation of orders fell due on a")


def _sections(test: TestPart) -> tuple[Section, ...]:
    section = of_tests([test])
    return (replace(section, name="roles"),) if section else ()


def test_every_report_has_the_figures_of_roles(assessment: Assessment) -> None:
    label = assessment.base.label
    roles = (RolePart("readers", {label: CLOSED}), RolePart("<orders>", {label: paced(0.5)}))
    first, *rest = assessment.tests
    first = replace(first, roles=roles, notes=tuple(notes(roles)))
    with_roles = replace(assessment, tests=(first, *rest), sections=_sections(first))

    of_json = json.loads(json_format.render(with_roles))["tests"][0]["roles"]
    assert of_json["<orders>"][label]["due_per_s"]["value"] == 500.0
    assert of_json["readers"][label]["errors"] == 3 and of_json["readers"][label]["service"] is None

    console = Console(width=200, record=True)
    text.render(with_roles, console)
    for report in (console.export_text(), markdown.render(with_roles), html.render(with_roles)):
        assert f"Roles of {first.name}" in report
        assert percent(0.25) in report and "did not hold the rate" in report
    assert "<orders>" not in html.render(with_roles)
    assert f"Roles of {first.name}" not in markdown.render(assessment)


def failing(done: float, rate: float = 500.0) -> RoleFigures:
    return replace(paced(0.0), ops_per_s=estimate([done]), rate=Rate(done, 500.0, rate, 0.95))


def test_a_role_below_its_sla_spoils_the_closed_loops_beside_it_and_these_alone() -> None:
    parts = (
        RolePart("readers", {"a": CLOSED, "b": CLOSED}),
        RolePart("orders", {"a": failing(474.0), "b": failing(475.0)}),
    )
    assert spoiled_labels(parts) == {"a"}
    (said,) = notes(parts)
    assert said == (
        f"SLA failed on a: orders did 474.0 of 500.0 operations/s ({percent(0.948)}; at least {percent(0.95)} is asked for), "
        "so the figures of readers beside it do not count"
    )
    alone = (RolePart("orders", {"a": failing(474.0)}),)
    assert not spoiled_labels(alone)
    assert "do not count" not in notes(alone)[0] and notes(alone)[0].startswith("SLA failed on a")


def test_every_report_marks_what_does_not_count(assessment: Assessment) -> None:
    label = assessment.base.label
    roles = (RolePart("readers", {label: CLOSED}), RolePart("orders", {label: failing(100.0)}))
    first, *rest = assessment.tests
    failed = tuple(replace(one, verdict=Verdict.SLA_FAILED) for one in first.comparisons)
    first = replace(first, roles=roles, comparisons=failed)
    marked = replace(assessment, tests=(first, *rest), sections=_sections(first))
    of_json = json.loads(json_format.render(marked))["tests"][0]
    assert (of_json["roles"]["orders"][label]["sla_failed"], of_json["comparisons"][0]["verdict"]) == (
        True,
        "SLA failed",
    )
    console = Console(width=200, record=True)
    text.render(marked, console)
    page = html.render(marked)
    for report in (console.export_text(), markdown.render(marked), page):
        report = report.replace('<i aria-hidden="true">⚑</i>', "⚑ ").replace(NBSP, " ")
        assert "⚑ SLA failed" in report
        assert "does not count" in report and "⚑ failed (20.0 %)" in report
    assert page.count('<tr class="uncounted">') == 1
