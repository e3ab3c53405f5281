"""What --fail-on and --require-verdicts find in a synthetic experiment that has every verdict."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from dbversus.experiment.asked.demands import CONDITIONS
from dbversus.report.model import Assessment, Failure, NotedComparison, RolePart
from dbversus.report.parts.experiment.demands import conditions_met, is_judged, not_judged
from dbversus.stats.metrics import CPU
from dbversus.stats.model import Verdict

from ...synthetic import FAILED_TEST, LABELS, WRONG_TEST
from ..each_test.test_roles import CLOSED, failing

WORDS = {
    "regression": Verdict.REGRESSION,
    "small": Verdict.REGRESSION,
    "undecided": Verdict.UNDECIDED,
    "unstable": Verdict.UNSTABLE,
    "sla-failed": Verdict.SLA_FAILED,
    "wrong-result": Verdict.WRONG_RESULT,
    "failed": Verdict.FAILED,
}


def only(assessment: Assessment, *verdicts: Verdict) -> Assessment:
    """Comparisons with these verdicts, and no failures but theirs."""
    tests = tuple(
        replace(test, comparisons=tuple(item for item in test.comparisons if item.verdict in verdicts))
        for test in assessment.tests
    )
    return replace(assessment, tests=tests, failures=())


@pytest.mark.parametrize("condition", CONDITIONS)
def test_each_condition_counts_its_verdict(assessment: Assessment, condition: str) -> None:
    verdict = WORDS[condition]
    others = [each for each in Verdict if each not in (verdict, Verdict.WRONG_RESULT)]
    assert not conditions_met(only(assessment, *others), [condition])
    if of_verdict := only(assessment, verdict).comparisons:
        (said,) = conditions_met(only(assessment, verdict), [condition])
        assert said.startswith(f"--fail-on {condition}: {of_verdict[0].test} on {of_verdict[0].target}")


def test_the_synthetic_experiment_has_what_is_looked_for(assessment: Assessment) -> None:
    found = {item.verdict for item in assessment.comparisons}
    assert found >= {Verdict.REGRESSION, Verdict.UNSTABLE, Verdict.WRONG_RESULT, Verdict.FAILED}


def test_a_test_that_a_target_could_not_run_never_passes(assessment: Assessment) -> None:
    ran = only(assessment, *(each for each in Verdict if each != Verdict.FAILED))
    assert not_judged(ran, None) == []
    (said,) = not_judged(assessment, None)
    assert f"nothing could be judged of {FAILED_TEST} on {LABELS[2]}: a server could not run it" in said
    assert not_judged(assessment, 0.1) == []


def with_small_changes(assessment: Assessment, ratio: float) -> Assessment:
    """Tests that were judged equivalent, except that their CPU per operation is a small change."""
    judged = only(assessment, Verdict.EQUIVALENT)
    return replace(
        judged, tests=tuple(replace(test, comparisons=_small(test.comparisons, ratio)) for test in judged.tests)
    )


def _small(comparisons: Sequence[NotedComparison], ratio: float) -> tuple[NotedComparison, ...]:
    return tuple(
        replace(
            item,
            verdict=Verdict.SMALL_CHANGE,
            findings={**item.findings, CPU: replace(item.findings[CPU], verdict=Verdict.SMALL_CHANGE, ratio=ratio)},
        )
        for item in comparisons
    )


@pytest.mark.parametrize(("ratio", "fails"), [(1.02, True), (0.98, False)])
def test_small_changes_for_the_worse_fail_where_that_is_asked_for(
    assessment: Assessment, ratio: float, fails: bool
) -> None:
    slightly = with_small_changes(assessment, ratio)
    assert slightly.comparisons and all(map(is_judged, slightly.comparisons))
    others = [condition for condition in CONDITIONS if condition != "small"]
    assert not conditions_met(slightly, others)
    assert bool(conditions_met(slightly, ["small"])) is fails
    assert not conditions_met(only(assessment, Verdict.EQUIVALENT, Verdict.IMPROVEMENT), ["small"])


def test_a_wrong_result_counts_as_a_regression(assessment: Assessment) -> None:
    (said,) = conditions_met(only(assessment, Verdict.WRONG_RESULT), ["regression"])
    assert WRONG_TEST in said


def missed(assessment: Assessment, *labels: str) -> Assessment:
    """Tests that were judged equivalent, except one: its rate was missed on these targets, beside a closed loop."""
    judged = only(assessment, Verdict.EQUIVALENT, Verdict.IMPROVEMENT)
    first, *rest = [test for test in judged.tests if test.comparisons]
    rates = {label: failing(100.0 if label in labels else 500.0) for label in LABELS}
    roles = RolePart("readers", dict.fromkeys(LABELS, CLOSED)), RolePart("orders", rates)
    failed = tuple(
        replace(item, verdict=Verdict.SLA_FAILED) if {item.target, LABELS[0]} & set(labels) else item
        for item in first.comparisons
    )
    return replace(judged, tests=(replace(first, roles=roles, comparisons=failed), *rest))


def test_a_rate_that_the_target_alone_misses_is_a_regression(assessment: Assessment) -> None:
    spoiled = missed(assessment, LABELS[1])
    said, again = conditions_met(spoiled, ["regression", "small"])
    assert again == said.replace("regression", "small", 1)
    assert f" on {LABELS[1]} (a rate that the base reached was missed)" in said and LABELS[2] not in said
    assert not conditions_met(spoiled, ["undecided", "failed"])
    assert not_judged(spoiled, None) == []


@pytest.mark.parametrize("labels", [LABELS[:1], LABELS])
def test_a_rate_that_the_base_misses_is_no_regression_and_never_passes(
    assessment: Assessment, labels: Sequence[str]
) -> None:
    spoiled = missed(assessment, *labels)
    assert not conditions_met(spoiled, ["regression", "small"])
    (said,) = not_judged(spoiled, None)
    name = spoiled.tests[0].name
    assert said.startswith(f"nothing could be judged of {name}: {LABELS[0]}, the base, missed a rate of it")
    assert not_judged(spoiled, 0.01) == []  # the share says how many may be without a verdict


def test_several_conditions_are_told_one_by_one(assessment: Assessment) -> None:
    said = conditions_met(assessment, ["regression", "unstable", "failed"])
    assert [sentence.split(":")[0] for sentence in said] == [
        "--fail-on regression",
        "--fail-on unstable",
        "--fail-on failed",
    ]
    assert f"{FAILED_TEST} on {LABELS[2]}" in said[2]


def test_a_target_that_is_out_has_failed_even_where_all_its_tests_were_judged(assessment: Assessment) -> None:
    judged = only(assessment, Verdict.EQUIVALENT)
    lost = Failure(LABELS[0], "slot", "block 3", "gone", final=True)
    mended = replace(lost, final=False)
    assert conditions_met(replace(judged, failures=(lost,)), ["failed"]) == [f"--fail-on failed: {LABELS[0]}."]
    assert not conditions_met(replace(judged, failures=(mended,)), ["failed"])


def test_nothing_judged_is_told_of_the_run_and_of_each_target(assessment: Assessment) -> None:
    assessment = only(assessment, *(each for each in Verdict if each != Verdict.FAILED))
    assert not_judged(assessment, None) == []
    assert "nothing to compare" in not_judged(only(assessment), None)[0]
    said = not_judged(only(assessment, Verdict.UNSTABLE, Verdict.UNDECIDED), None)
    assert [label in sentence for label, sentence in zip(LABELS[1:], said, strict=True)] == [True, True]
    first = tuple(
        replace(
            test,
            comparisons=tuple(item for item in test.comparisons if item.target == LABELS[1] or not is_judged(item)),
        )
        for test in assessment.tests
    )
    (silent,) = not_judged(replace(assessment, tests=first), None)
    assert f"nothing could be judged of {LABELS[2]}" in silent


def test_the_share_of_verdicts_counts_comparisons(assessment: Assessment) -> None:
    judged = sum(map(is_judged, assessment.comparisons))
    share = judged / len(assessment.comparisons)
    assert 0 < share < 1
    assert not_judged(assessment, share) == []
    (said,) = not_judged(assessment, share + 0.01)
    assert said.startswith(f"{judged} of {len(assessment.comparisons)} comparisons")
    assert f"--require-verdicts asks for {100 * (share + 0.01):g}%." in said
