"""Margins that results are judged with: defaults, those asked for, and a calibration's; stalls that rows alone would hide."""

from dataclasses import replace

import numpy as np

from dbversus.stats.judge import decided_tests, judge, margins_of
from dbversus.stats.metrics import CPU, THROUGHPUT
from dbversus.stats.model import Verdict

from ..journals import header as header_of
from .twin_results import Truth, twin_results

TESTS = ("a", "b")


def test_a_calibration_widens_margins_and_narrows_none() -> None:
    calibrated = {"a": {CPU: 0.06, THROUGHPUT: 0.01}}
    assert margins_of(header_of(test_margins=calibrated), TESTS) == {("a", CPU): 0.06, ("a", THROUGHPUT): 0.05}


def test_what_the_user_asked_for_is_the_least() -> None:
    header = header_of(margins={CPU: 0.08}, test_margins={"a": {CPU: 0.06}, "b": {CPU: 0.1}})
    assert margins_of(header, TESTS) == {("a", CPU): 0.08, ("b", CPU): 0.1}
    assert margins_of(header_of(margins={CPU: 0.01}, test_margins={"b": {CPU: 0.06}}), TESTS) == {
        ("a", CPU): 0.01,
        ("b", CPU): 0.06,
    }


def test_older_results_have_the_margins_that_they_had() -> None:
    assert margins_of(header_of(), TESTS) == {}
    assert margins_of(header_of(margins={CPU: 0.02}), ("a",)) == {("a", CPU): 0.02}


def test_results_are_judged_with_them() -> None:
    results = twin_results(Truth(tests=3, blocks=4, targets=2), test_margins={"test1": {CPU: 0.07}}, looks=[4])
    margins = {finding.test: finding.margin for finding in judge(results) if finding.metric == CPU}
    assert margins == {"test0": 0.03, "test1": 0.07, "test2": 0.03}


def test_a_target_that_stalls_in_few_slots_is_worse_and_not_settled_before_it_is_measured_again() -> None:
    results = twin_results(Truth(tests=3, blocks=4, targets=2), looks=[4, 6])
    slots = dict(results.slots)
    hit = (slots["test"] == "test1") & (slots["target"] == "postgres:17#2") & (slots["row"] % 6 == 3)
    slots["elapsed_ns"] = np.ma.masked_array(np.where(hit, 600_000_000, slots["elapsed_ns"]))
    verdicts = {(one.test, one.metric): one.verdict for one in judge(replace(results, slots=slots))}
    assert [verdicts[test, THROUGHPUT] for test in ("test0", "test1")] == [Verdict.EQUIVALENT, Verdict.REGRESSION]
    assert "test1" not in decided_tests(judge(replace(results, slots=slots)))
    assert "test1" in decided_tests(judge(results))
