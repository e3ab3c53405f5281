"""What --fail-on and --require-verdicts find in a synthetic experiment that has every verdict."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from dbversus.cli.demands import conditions_met, not_judged
from dbversus.cli.outcome import FAIL_ON_MET, present
from dbversus.experiment.asked.demands import CONDITIONS, Demands
from dbversus.results.read import open_results
from dbversus.results.records import Failure
from dbversus.results.stored import Results
from dbversus.stats.comparison import Comparison, compare
from dbversus.stats.metrics import CPU
from dbversus.stats.model import Verdict

from ..report.synthetic import FAILED_TEST, LABELS, WRONG_TEST, write_results

WORDS = {
    "regression": Verdict.REGRESSION,
    "small": Verdict.REGRESSION,
    "undecided": Verdict.UNDECIDED,
    "unstable": Verdict.UNSTABLE,
    "sla-failed": Verdict.SLA_FAILED,
    "wrong-result": Verdict.WRONG_RESULT,
    "failed": Verdict.FAILED,
}
Compared = Sequence[Comparison]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return open_results(write_results(tmp_path_factory.mktemp("demands") / "results"))


@pytest.fixture(scope="module")
def compared(results: Results) -> Compared:
    return compare(results)


@pytest.fixture(scope="module")
def calm(results: Results) -> Results:
    """The same without a failure."""
    return replace(results, records=tuple(one for one in results.records if not isinstance(one, Failure)))


def only(compared: Compared, *verdicts: Verdict) -> Compared:
    return [item for item in compared if item.verdict in verdicts]


def but(compared: Compared, *verdicts: Verdict) -> Compared:
    return [item for item in compared if item.verdict not in verdicts]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_each_condition_counts_its_verdict(calm: Results, compared: Compared, condition: str) -> None:
    verdict = WORDS[condition]
    assert not conditions_met(calm, but(compared, verdict, Verdict.WRONG_RESULT), [condition])
    if of_verdict := only(compared, verdict):
        (said,) = conditions_met(calm, of_verdict, [condition])
        assert said.startswith(f"--fail-on {condition}: {of_verdict[0].test} on {of_verdict[0].target}")


def test_the_synthetic_experiment_has_what_is_looked_for(compared: Compared) -> None:
    found = {item.verdict for item in compared}
    assert found >= {Verdict.REGRESSION, Verdict.UNSTABLE, Verdict.WRONG_RESULT, Verdict.FAILED}


def test_a_test_that_a_target_could_not_run_never_passes(results: Results, compared: Compared) -> None:
    assert not_judged(results, but(compared, Verdict.FAILED), None) == []
    (said,) = not_judged(results, compared, None)
    assert f"nothing could be judged of {FAILED_TEST} on {LABELS[2]}: a server could not run it" in said
    assert not_judged(results, compared, 0.1) == []


@pytest.mark.parametrize(("ratio", "fails"), [(1.02, True), (0.98, False)])
def test_small_changes_for_the_worse_fail_where_that_is_asked_for(
    calm: Results, compared: Compared, ratio: float, fails: bool
) -> None:
    slightly = [_small(item, ratio) for item in only(compared, Verdict.EQUIVALENT)]
    assert slightly and all(item.is_judged for item in slightly)
    others = [condition for condition in CONDITIONS if condition != "small"]
    assert not conditions_met(calm, slightly, others)
    assert bool(conditions_met(calm, slightly, ["small"])) is fails
    assert not conditions_met(calm, only(compared, Verdict.EQUIVALENT, Verdict.IMPROVEMENT), ["small"])


def _small(item: Comparison, ratio: float) -> Comparison:
    """Its CPU per operation is a small change."""
    cpu = replace(item.findings[CPU], verdict=Verdict.SMALL_CHANGE, ratio=ratio)
    return replace(item, verdict=Verdict.SMALL_CHANGE, findings={**item.findings, CPU: cpu})


def test_a_wrong_result_counts_as_a_regression(results: Results, compared: Compared) -> None:
    (said,) = conditions_met(results, only(compared, Verdict.WRONG_RESULT), ["regression"])
    assert WRONG_TEST in said


def missed(compared: Compared, *labels: str) -> Compared:
    """What was judged equivalent or better, except that in one test a rate was missed on these targets."""
    judged = only(compared, Verdict.EQUIVALENT, Verdict.IMPROVEMENT)
    first, base = judged[0].test, LABELS[0] in labels
    return [
        replace(item, verdict=Verdict.SLA_FAILED, missed=item.target in labels, base_missed=base)
        if item.test == first and (base or item.target in labels)
        else item
        for item in judged
    ]


def test_a_rate_that_the_target_alone_misses_is_a_regression(calm: Results, compared: Compared) -> None:
    spoiled = missed(compared, LABELS[1])
    said, again = conditions_met(calm, spoiled, ["regression", "small"])
    assert again == said.replace("regression", "small", 1)
    assert f" on {LABELS[1]} (a rate that the base reached was missed)" in said and LABELS[2] not in said
    assert conditions_met(calm, spoiled, ["sla-failed"]) == [f"--fail-on sla-failed: {spoiled[0].test} on {LABELS[1]}."]
    assert not conditions_met(calm, spoiled, ["undecided", "failed"])
    assert not_judged(calm, spoiled, None) == []


@pytest.mark.parametrize("labels", [LABELS[:1], LABELS])
def test_a_rate_that_the_base_misses_is_no_regression_and_never_passes(
    results: Results, compared: Compared, labels: Sequence[str]
) -> None:
    spoiled = missed(compared, *labels)
    assert not conditions_met(results, spoiled, ["regression", "small"])
    (said,) = not_judged(results, spoiled, None)
    assert said.startswith(f"nothing could be judged of {spoiled[0].test}: {LABELS[0]}, the base, missed a rate of it")
    assert not_judged(results, spoiled, 0.01) == []  # the share says how many may be without a verdict


def test_several_conditions_are_told_one_by_one(results: Results, compared: Compared) -> None:
    said = conditions_met(results, compared, ["regression", "unstable", "failed"])
    assert [sentence.split(":")[0] for sentence in said] == [
        "--fail-on regression",
        "--fail-on unstable",
        "--fail-on failed",
    ]
    assert f"{FAILED_TEST} on {LABELS[2]}" in said[2]


def test_a_target_that_is_out_has_failed_even_where_all_its_tests_were_judged(
    calm: Results, compared: Compared
) -> None:
    judged = only(compared, Verdict.EQUIVALENT)
    for final, said in ((True, [f"--fail-on failed: {LABELS[0]}."]), (False, [])):
        lost = Failure(at_unix_ns=0, target="t0", stage="slot", block=2, message="gone", final=final)
        assert conditions_met(replace(calm, records=(*calm.records, lost)), judged, ["failed"]) == said


def test_nothing_judged_is_told_of_the_run_and_of_each_target(results: Results, compared: Compared) -> None:
    ran = but(compared, Verdict.FAILED)
    assert not_judged(results, ran, None) == []
    assert "nothing to compare" in not_judged(results, [], None)[0]
    said = not_judged(results, only(ran, Verdict.UNSTABLE, Verdict.UNDECIDED), None)
    assert [label in sentence for label, sentence in zip(LABELS[1:], said, strict=True)] == [True, True]
    (silent,) = not_judged(results, [item for item in ran if item.target == LABELS[1] or not item.is_judged], None)
    assert f"nothing could be judged of {LABELS[2]}" in silent


def test_the_share_of_verdicts_counts_comparisons(results: Results, compared: Compared) -> None:
    judged = sum(item.is_judged for item in compared)
    share = judged / len(compared)
    assert 0 < share < 1
    assert not_judged(results, compared, share) == []
    (said,) = not_judged(results, compared, share + 0.01)
    assert said.startswith(f"{judged} of {len(compared)} comparisons")
    assert f"--require-verdicts asks for {100 * (share + 0.01):g}%." in said


def test_the_exit_status_and_its_reasons_are_in_the_json(results: Results, capsys: pytest.CaptureFixture[str]) -> None:
    status = present(results.directory, Demands(("regression",), None), as_json=True)
    out, err = capsys.readouterr()
    ending = json.loads(out)["ending"]
    assert status == ending["status"] == FAIL_ON_MET
    assert ending["reasons"] and err.endswith(f"dbversus: {ending['reasons'][-1]}\n")
    assert json.loads((results.directory / "report.json").read_text())["ending"] == ending
