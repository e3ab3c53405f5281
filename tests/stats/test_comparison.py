"""The verdict of a test on a target, from stored results alone and without a report."""

from pathlib import Path

import pytest

import dbversus
from dbversus.results.read import open_results
from dbversus.results.stored import Results
from dbversus.stats.comparison import Comparison, compare, compare_over_clients
from dbversus.stats.model import CHANGES, Verdict

from ..report.synthetic import FAILED_TEST, LABELS, SERVER_WORDS, TRUTHS, WRONG_TEST, Truth, write_results
from ..report.test_assessment import with_rates


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_results(tmp_path_factory.mktemp("compared") / "results")


@pytest.fixture(scope="module")
def results(folder: Path) -> Results:
    return open_results(folder)


def one(compared: tuple[Comparison, ...], test: str, label: str) -> Comparison:
    (found,) = [item for item in compared if (item.test, item.target) == (test, label)]
    return found


def test_every_test_has_one_on_every_target_but_the_base(results: Results) -> None:
    places = [(item.test, item.target) for item in compare(results)]
    assert places == [(truth.name, label) for truth in TRUTHS for label in LABELS[1:]]


def test_a_wrong_result_comes_before_its_figures(results: Results) -> None:
    wrong = one(compare(results), WRONG_TEST, LABELS[1])
    assert wrong.verdict is Verdict.WRONG_RESULT and wrong.is_worse and not wrong.is_judged
    assert wrong.answers and [of_one.checksum for of_one in wrong.answers] == ["00", "9f"]
    assert wrong.findings and wrong.headline is None
    right = one(compare(results), WRONG_TEST, LABELS[2])
    assert right.verdict is not Verdict.WRONG_RESULT and right.answers is None


def test_a_target_that_failed_has_the_servers_words(results: Results) -> None:
    failed = one(compare(results), FAILED_TEST, LABELS[2])
    assert failed.verdict is Verdict.FAILED and failed.failure and failed.failure.message == SERVER_WORDS
    assert not failed.findings and not failed.is_worse
    assert one(compare(results), FAILED_TEST, LABELS[1]).failure is None


@pytest.mark.parametrize(("slow", "missed", "base_missed"), [("t1", True, False), ("t0", False, True)])
def test_a_missed_rate_comes_before_the_figures(tmp_path: Path, slow: str, missed: bool, base_missed: bool) -> None:
    folder = write_results(tmp_path / "results", targets=2, truths=(Truth("mixed", 28), Truth("alone", 30)))
    with_rates(folder, "mixed", {"t0": 500, "t1": 500, slow: 300})
    spoiled, judged = compare(open_results(folder))
    assert (spoiled.verdict, spoiled.missed, spoiled.base_missed) == (Verdict.SLA_FAILED, missed, base_missed)
    assert spoiled.is_worse is missed and spoiled.is_worse_a_little is missed
    assert judged.verdict is Verdict.EQUIVALENT and not judged.missed


def test_the_headline_is_the_finding_that_makes_the_verdict(results: Results) -> None:
    changed = [item for item in compare(results) if item.verdict in CHANGES]
    assert changed
    for item in changed:
        assert item.headline and item.headline.judged and item.headline.verdict is item.verdict


def test_findings_that_are_known_are_not_made_again(results: Results) -> None:
    assert {item.verdict for item in compare(results, [])} <= {
        Verdict.UNDECIDED,
        Verdict.WRONG_RESULT,
        Verdict.FAILED,
    }


def test_where_a_case_does_not_count_the_test_over_all_clients_does_not(tmp_path: Path) -> None:
    cases = (Truth("mixed@1", 28), Truth("mixed@4", 30), Truth("alone@1", 28), Truth("alone@4", 30))
    folder = write_results(tmp_path / "results", targets=2, truths=cases)
    with_rates(folder, "mixed@4", {"t0": 500, "t1": 300})
    results = open_results(folder)
    mixed, alone = compare_over_clients(results, compare(results))
    assert (mixed.test, mixed.verdict, mixed.missed, mixed.findings) == ("mixed@all", Verdict.SLA_FAILED, True, {})
    assert (alone.test, alone.verdict) == ("alone@all", Verdict.EQUIVALENT)


def test_python_learns_verdicts_without_a_report(folder: Path, results: Results) -> None:
    lines = [f"{item.test}\t{item.target}\t{item.verdict}" for item in compare(results)]
    assert [f"{item.test}\t{item.target}\t{item.verdict}" for item in dbversus.read(folder).comparisons] == lines
    assert {str(verdict) for verdict in (Verdict.WRONG_RESULT, Verdict.FAILED)} <= {
        line.split("\t")[2] for line in lines
    }
