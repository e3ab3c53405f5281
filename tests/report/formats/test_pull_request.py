from dataclasses import replace

import pytest

from dbversus.report.formats.pull_request import MOST_LINES, render
from dbversus.report.model import Assessment, NotedComparison, TestPart
from dbversus.stats.model import Finding, Verdict

from ..many import with_targets
from ..synthetic import FAILED_TEST, LABELS, WRONG_TEST


def shown(text: str) -> list[str]:
    """Lines that are not folded."""
    return text.partition("<details>")[0].rstrip("\n").splitlines()


def with_verdict(assessment: Assessment, verdict: Verdict) -> Assessment:
    """All comparisons of the first two targets have that verdict."""

    def finding(one: Finding) -> Finding:
        return replace(one, verdict=verdict, whole_work=None)

    def item(one: NotedComparison) -> NotedComparison:
        findings = {name: finding(each) for name, each in one.findings.items()}
        return replace(one, verdict=verdict, findings=findings, answers=None, failure=None)

    def test(part: TestPart) -> TestPart:
        return replace(part, comparisons=tuple(map(item, part.comparisons[:1])), explanations=())

    tests = tuple(test(part) for part in assessment.tests if part.comparisons[0].findings)
    return replace(assessment, targets=assessment.targets[:2], tests=tests)


def test_changes_have_both_values_the_ratio_and_its_interval_worst_first(assessment: Assessment) -> None:
    text = render(assessment)
    rows = [line for line in shown(text) if line.startswith("| ")]
    assert WRONG_TEST in rows[2]
    assert "wrong result" in rows[2]
    assert FAILED_TEST in rows[3]
    assert any("CPU/op 149.6 → 173.5 µs: +16.0" in row and "1.160 \\[1.150, 1.169\\]" in row for row in rows)
    assert any("lead: another plan" in row for row in rows)
    assert len(shown(text)) <= MOST_LINES
    assert f"7 more changed, below. Not judged: points-covered-si on {LABELS[1]} (undecided)" in text
    assert text.count("<details>") == text.count("</details>") == 1


@pytest.mark.parametrize("count", [2, 40])
def test_it_is_short_and_complete_with_any_number_of_targets(assessment: Assessment, count: int) -> None:
    many = with_targets(assessment, count)
    text = render(many)
    assert len(shown(text)) <= MOST_LINES
    assert text.partition("<details>")[2].count("\n| ") == 2 + len(many.comparisons)


@pytest.mark.parametrize("verdict", [Verdict.EQUIVALENT, Verdict.SMALL_CHANGE])
def test_that_nothing_changed_is_one_line(assessment: Assessment, verdict: Verdict) -> None:
    same = with_verdict(assessment, verdict)
    (line,) = render(same).splitlines()
    tests = len(same.tests)
    assert f"**{LABELS[1]} against {LABELS[0]}**: nothing changed in {tests} tests, within margins of " in line
    assert line.endswith(f"`{same.command}`")


@pytest.mark.parametrize("verdict", [Verdict.UNDECIDED, Verdict.UNSTABLE])
def test_that_nothing_could_be_judged_is_said_and_is_no_all_clear(assessment: Assessment, verdict: Verdict) -> None:
    text = render(with_verdict(assessment, verdict))
    assert "nothing changed" not in text
    assert "Nothing is known yet" in shown(text)[0]
    assert f"({verdict})" in text
    assert len(shown(text)) <= MOST_LINES


def test_without_a_comparison_it_says_so(assessment: Assessment) -> None:
    alone = replace(assessment, targets=assessment.targets[:1], tests=(), title=LABELS[0])
    assert shown(render(alone)) == [
        f"{LABELS[0]}: One target was measured, so there is nothing to compare. `{alone.command}`"
    ]


def test_text_of_others_is_shown_as_it_is(assessment: Assessment) -> None:
    text = render(assessment).replace(f"`{assessment.command}`", "")
    assert "<script>" not in text
    assert "<b>" not in text
    hostile = render(replace(assessment, command="dbversus compare `id` |"))
    assert "`id`" not in hostile
    assert "\\`id\\` \\|" in hostile
