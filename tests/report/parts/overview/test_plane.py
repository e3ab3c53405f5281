"""What throughput, CPU and IO say together, and the picture of it."""

from dataclasses import replace

import pytest

from dbversus.report.formats import html
from dbversus.report.model import Assessment
from dbversus.report.parts.overview import plane
from dbversus.stats.metrics import CPU, IO_BYTES, THROUGHPUT, metric_named
from dbversus.stats.model import Finding, Verdict

from ...formats.test_html import Outline
from ...synthetic import HOSTILE, LABELS

R, I, E, U, N, S = (  # noqa: E741
    Verdict.REGRESSION,
    Verdict.IMPROVEMENT,
    Verdict.EQUIVALENT,
    Verdict.UNDECIDED,
    Verdict.NOT_REPLICATED,
    Verdict.SMALL_CHANGE,
)


def finding(metric: str, ratio: float, verdict: Verdict, whole_work: Verdict | None = None) -> Finding:
    margin = metric_named(metric).margin
    bounds = ratio * 0.99, ratio * 1.01
    known = Finding("t", "x", metric, verdict, ratio, *bounds, 0.95, 4, None, None, margin, None, None, None)
    return replace(known, whole_work=whole_work)


@pytest.mark.parametrize(
    ("throughput", "cpu", "io", "region"),
    [
        ((0.87, R), (1.16, R), None, plane.SLOWER_CPU),
        ((0.60, R), (1.16, R), (1.0, E), plane.SLOWER_CPU_WAIT),
        ((0.60, R), (1.16, R), (1.5, R), plane.SLOWER_CPU_IO),
        ((0.80, R), (1.00, E), (1.5, R), plane.SLOWER_IO),
        ((0.80, R), (1.04, U), (1.5, U), plane.SLOWER_WAIT),
        ((0.80, R), (0.90, I), None, plane.SLOWER_WAIT),
        ((1.00, E), (1.10, R), None, plane.MORE_CPU),
        ((1.20, U), (0.80, I), None, plane.LESS_CPU),
        ((1.15, I), (0.87, I), None, plane.FASTER_CPU),
        ((2.00, I), (0.87, I), None, plane.FASTER_CPU_WAIT),
        ((1.30, I), (1.00, E), (0.6, I), plane.FASTER_IO),
        ((1.30, I), (1.10, R), None, plane.FASTER_WAIT),
        ((0.50, U), (2.00, U), (3.0, U), plane.SAME),
        ((0.80, N), (1.00, N), None, plane.SLOWER_WAIT),
        ((0.97, N), (1.02, N), None, plane.SAME),
        ((0.97, S), (1.02, S), None, plane.SAME),
        ((0.90, R), (1.02, S), None, plane.SLOWER_WAIT),
    ],
)
def test_regions(
    throughput: tuple[float, Verdict], cpu: tuple[float, Verdict], io: tuple[float, Verdict] | None, region: str
) -> None:
    io_finding = finding(IO_BYTES, *io) if io else None
    assert plane.region_of(finding(THROUGHPUT, *throughput), finding(CPU, *cpu), io_finding) == region


def test_without_a_steady_state_all_the_work_decides() -> None:
    moved = finding(THROUGHPUT, 0.8, Verdict.NO_STEADY_STATE, whole_work=R)
    assert plane.region_of(moved, finding(CPU, 1.0, E), None) == plane.SLOWER_WAIT
    assert plane.region_of(replace(moved, whole_work=E), finding(CPU, 1.0, E), None) == plane.SAME


def test_every_test_has_a_point_or_is_counted(assessment: Assessment) -> None:
    for place, one in enumerate(plane.planes(assessment)):
        assert one.target == LABELS[place + 1]
        assert len(one.points) + one.left_out == len(assessment.tests)
    first = plane.planes(assessment)[0]
    by_test = {point.test: point.region for point in first.points}
    assert by_test["range-notcovered-si"] == plane.SLOWER_CPU
    # more CPU and more time than that; it writes more, too
    assert by_test["update-index"] == plane.SLOWER_CPU_IO
    assert by_test["update-nonindex"] == plane.SLOWER_WAIT
    assert "random-points-100" not in by_test and first.left_out == 1


def test_sentences_are_made_of_the_points(assessment: Assessment) -> None:
    first = plane.planes(assessment)[0]
    said = list(plane.sentences(first))
    waiting = next(point for point in first.points if point.region == plane.SLOWER_WAIT)
    assert waiting.throughput.ratio
    assert (
        f"1 test is slower by waiting: update-nonindex (throughput −{100 - 100 * waiting.throughput.ratio:.1f}"
        in said[2]
    )
    assert any(
        line.startswith("1 test is slower by CPU and by IO: update-index") and "IO/op +" in line for line in said
    )
    assert said[-1] == "1 test has no ratio of both, or does not count."
    same = sum(point.region == plane.SAME for point in first.points)
    assert any(line.startswith(f"{same} test") and line.endswith("not shown to differ.") for line in said)


def test_the_page_has_a_plane_for_each_target(assessment: Assessment) -> None:
    page = html.render(assessment)
    outline = Outline()
    outline.feed(page)
    assert "plane-title" in outline.ids and outline.open == [] and HOSTILE not in page
    assert page.count("<figcaption>Throughput against CPU per operation") == 2
    for sentence in plane.sentences(plane.planes(assessment)[0]):
        assert sentence.partition(":")[0] in page


def test_without_cpu_there_is_none(assessment: Assessment) -> None:
    def without(item_findings: dict[str, Finding]) -> dict[str, Finding]:
        return {name: one for name, one in item_findings.items() if name != CPU}

    tests = tuple(
        replace(
            test, comparisons=tuple(replace(item, findings=without(dict(item.findings))) for item in test.comparisons)
        )
        for test in assessment.tests
    )
    assert plane.planes(replace(assessment, tests=tests)) == []
