"""Sentences of a post: what they say of groups and targets, with at most five figures each."""

import re
from collections.abc import Mapping
from dataclasses import replace

import pytest

from dbversus.report.assessment import build_assessment
from dbversus.report.formats.post import told
from dbversus.report.formats.post.aspects import Aspect, aspects
from dbversus.report.formats.post.phases import Case, Group, phases
from dbversus.report.model import Assessment
from dbversus.stats.comparison import Comparison
from dbversus.stats.metrics import CPU, LOAD_TEST, THROUGHPUT
from dbversus.stats.model import Finding, Verdict
from tests.importing.conftest import REFERENCE, Import, imported

from ...synthetic import FAILED_TEST, LABELS, WRONG_TEST

__all__ = ["imported"]

ASPECTS = (
    Aspect(THROUGHPUT, "throughput", "Throughput", "qps", True),
    Aspect(CPU, "CPU per operation", "CPU", "cpu/o", True),
    Aspect("switches", "context switches per operation", "Switches", "cs/o"),
)
FIGURE = re.compile(r"(?<![\w.@-])\d[\d.,]*\d(?![\w@-])")


@pytest.fixture(scope="module")
def finding(assessment: Assessment) -> Finding:
    return next(one for one in assessment.findings if one.metric == THROUGHPUT and one.ratio)


def case(
    finding: Finding, name: str, ratios: Mapping[str, float], verdict: Verdict = Verdict.REGRESSION, **verdicts: Verdict
) -> Case:
    """On the target `new`; `verdicts`: of single metrics."""
    findings = {
        metric: replace(
            finding, test=name, metric=metric, ratio=ratio, verdict=verdicts.get(metric, verdict), whole_work=None
        )
        for metric, ratio in ratios.items()
    }
    return Case(name, name, None, "writes", {"new": Comparison(name, "new", verdict, findings)})


def said(*cases: Case) -> list[str]:
    return told.group_sentences(Group("Writes", cases), "new", "old", ASPECTS)


def test_throughput_comes_first_and_then_cpu(finding: Finding) -> None:
    one = case(finding, "a", {THROUGHPUT: 0.74, CPU: 1.36})
    other = case(finding, "b", {THROUGHPUT: 0.89, CPU: 1.43})
    assert said(one, other) == ["Throughput 0.74 and 0.89 of old; CPU per operation 1.36 and 1.43."]


def test_an_outlier_is_named(finding: Finding) -> None:
    cases = [case(finding, name, {THROUGHPUT: 0.7, CPU: 1.4}) for name in "abcd"]
    cases.append(case(finding, "e", {THROUGHPUT: 0.24, CPU: 4.06}))
    assert said(*cases) == [
        "Throughput 0.70 of old in 4 tests, but 0.24 in e; CPU per operation 1.40 in 4 tests, but 4.06 in e."
    ]


def test_switches_are_told_where_they_changed_alone(finding: Finding) -> None:
    one = case(finding, "a", {"switches": 1.55})
    same = case(finding, "b", {"switches": 1.0}, Verdict.EQUIVALENT)
    assert said(one, same)[0] == "Context switches per operation 1.55 in a."
    assert not any("witches" in sentence for sentence in said(same))


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        (Verdict.UNDECIDED, "Undecided"),
        (Verdict.UNSTABLE, "Too unstable to judge"),
        (Verdict.EQUIVALENT, "The same within the margin"),
        (Verdict.SMALL_CHANGE, "A small change, within the margin"),
        (Verdict.NO_STEADY_STATE, "Without a steady state, so the ratio is of all the work"),
    ],
)
def test_what_has_no_change_is_said_as_such(finding: Finding, verdict: Verdict, words: str) -> None:
    both = {THROUGHPUT: 0.99, CPU: 1.01}
    all_of_it, half = case(finding, "a", both, verdict), case(finding, "b", both, **{CPU: verdict})
    assert said(all_of_it)[-1] == f"{words}."
    assert said(half)[-1] == f"{words}: CPU."
    assert said(all_of_it, half)[-1] == f"{words}: a and b (CPU)."


def test_what_was_not_replicated_has_no_remark(finding: Finding) -> None:
    assert len(said(case(finding, "a", {THROUGHPUT: 0.5}, Verdict.NOT_REPLICATED))) == 1


def test_spoilt_tests_are_in_no_ratio(assessment: Assessment) -> None:
    groups = [group for phase in phases(assessment) for group in phase.groups]
    points = next(group for group in groups if group.title == "Point queries")
    sentences = told.group_sentences(points, LABELS[1], LABELS[0], aspects(assessment))
    assert f"{WRONG_TEST} gave other answers than the base: not counted." in sentences
    inserts = next(group for group in groups if group.title == "Inserts")
    assert told.group_sentences(inserts, LABELS[2], LABELS[0], aspects(assessment)) == [
        f"{FAILED_TEST} could not be run: not counted."
    ]


def test_a_test_without_figures_was_not_measured(finding: Finding) -> None:
    assert said(case(finding, "a", {}, Verdict.UNDECIDED)) == ["Not measured: a."]


def test_counts_agree_with_the_verdicts(finding: Finding) -> None:
    verdicts = [Verdict.REGRESSION, Verdict.IMPROVEMENT, *[Verdict.EQUIVALENT] * 3, Verdict.UNDECIDED]
    cases = [case(finding, f"t{number}", {THROUGHPUT: 1.0}, one) for number, one in enumerate(verdicts)]
    assert told.counts(cases, "new") == [
        "Of 6 tests, 1 is worse and 1 is better.",
        "3 are the same within the margin and 1 is undecided.",
    ]
    assert told.counts(cases[-1:], "new") == ["Nothing could be judged: of 1 test, 1 is undecided."]
    assert told.counts(cases[2:3], "new")[0] == "Of 1 test, none is shown to be worse or better."


def test_too_few_blocks_are_named_as_the_reason(finding: Finding) -> None:
    early = case(replace(finding, blocks=2, first_look=4, judged=True), "a", {THROUGHPUT: 1.0}, Verdict.UNDECIDED)
    assert told.counts([early], "new") == ["Nothing could be judged after 2 of 4 blocks: of 1 test, 1 is undecided."]


def test_runs_without_blocks_have_no_counts(finding: Finding) -> None:
    some = [case(finding, name, {THROUGHPUT: 1.0}, Verdict.NOT_REPLICATED) for name in "ab"]
    assert told.counts(some, "new") == []
    assert told.counts([*some, case(finding, "c", {}, Verdict.UNDECIDED)], "new") == ["Of 3 tests, 1 was not measured."]


def test_one_figure_of_many_targets_is_no_range(finding: Finding) -> None:
    one = Group("Load", (case(finding, "load", {THROUGHPUT: 0.26}),))
    (told_of, *_) = told.over_targets(one, ["shares it", "new"], "old", ASPECTS)
    assert told_of == "Rows loaded per second 0.26 (new) of old."


def test_the_load_is_of_rows(assessment: Assessment) -> None:
    load = phases(assessment)[0]
    assert load.cases[0].test == LOAD_TEST
    (sentence, once) = told.group_sentences(load.groups[0], LABELS[1], LABELS[0], aspects(assessment))
    assert sentence.startswith(f"Rows loaded per second 0.98 of {LABELS[0]}; CPU per row ")
    assert once == "Loaded once, so without a verdict."


def test_a_load_that_blocks_repeat_is_judged_like_any_test(assessment: Assessment) -> None:
    first, *others = assessment.tests
    seen_once = replace(next(iter(first.comparisons[0].findings.values())), metric="counter.status.a", blocks=1)
    judged = [replace(one, findings={**one.findings, seen_once.metric: seen_once}) for one in first.comparisons]
    first = replace(first, comparisons=tuple(judged))
    repeated = replace(first, name=LOAD_TEST)
    load = phases(replace(assessment, tests=(repeated, *others)))[0]
    assert load.cases[0].comparisons == {item.target: item for item in first.comparisons}
    said = told.group_sentences(load.groups[0], LABELS[1], LABELS[0], aspects(assessment))
    assert said[0].startswith("Rows loaded per second ") and "Loaded once, so without a verdict." not in said
    assert told.counts(load.cases, LABELS[1])[0].startswith("Of 1 test")


def sentences_of(assessment: Assessment) -> list[str]:
    found: list[str] = []
    cases: list[Case] = []
    for phase in phases(assessment):
        cases += phase.cases
        for label in (facts.target.label for facts in assessment.candidates):
            for group in phase.groups:
                found += told.group_sentences(group.with_clients(phase.clients[0]), label, "BASE", aspects(assessment))
    for facts in assessment.candidates:
        found += told.in_short(cases, facts.target.label, "BASE", aspects(assessment))
    return found


def figures(sentence: str) -> list[str]:
    return FIGURE.findall(sentence)


def test_no_sentence_has_six_figures(assessment: Assessment, imported: Import) -> None:
    found = [*sentences_of(assessment), *sentences_of(build_assessment(imported(REFERENCE / "sysbench-2020")))]
    assert len(found) > 20
    assert [sentence for sentence in found if len(figures(sentence)) > told.MOST_FIGURES] == []


def test_nor_has_one_of_ratios_that_are_all_over_the_place(finding: Finding) -> None:
    ratios = [1.0] * 7 + [0.2, 0.3, 3.0, 4.0]
    cases = [case(finding, f"t{number}", {THROUGHPUT: one, CPU: 1 / one}) for number, one in enumerate(ratios)]
    found = said(*cases)
    assert max(len(figures(sentence)) for sentence in found) <= told.MOST_FIGURES
    assert all(f"t{number}" in " ".join(found) for number in range(7, 11))
