"""Which metrics an experiment is judged by."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from dbversus.errors import UsageError
from dbversus.stats.judge import decided_tests, judge, judge_over_clients
from dbversus.stats.judgeable import MEAN, P99
from dbversus.stats.judged import judged_metrics, judged_names, judged_smooth, marked
from dbversus.stats.metrics import CPU, IO_BYTES, METRICS, PRIMARY, SMOOTH, THROUGHPUT
from dbversus.stats.model import Verdict

from ..journals import header as header_of
from .twin_results import Truth, twin_results


def test_older_results_are_judged_by_the_usual_metrics() -> None:
    assert judged_metrics(header_of()) == PRIMARY
    assert judged_smooth(header_of()) == SMOOTH
    assert marked(METRICS, header_of()) == METRICS


def test_the_header_says_which() -> None:
    header = header_of(judge=["p99", "mean", "cpu"])
    assert judged_names(header) == ["cpu", "mean", "p99"]
    assert [(metric.name, metric.primary) for metric in judged_metrics(header)] == [
        (CPU, True),
        (MEAN, True),
        (P99, True),
    ]
    assert [metric.name for metric in judged_smooth(header)] == [CPU]
    assert {metric.name for metric in marked(METRICS, header) if metric.primary} == {CPU, MEAN}


def test_a_metric_of_a_later_version_is_named() -> None:
    with pytest.raises(UsageError, match="`experiment` record of the journal: unknown metric 'p99999'"):
        judged_names(header_of(judge=["p99999"]))


def test_only_what_is_judged_makes_verdicts_and_keeps_a_test_in_the_run() -> None:
    results = twin_results(Truth(tests=3, blocks=4, targets=2, start_sd=0.003), looks=[4, 6])
    slots = dict(results.slots)
    hit = (slots["test"] == "test1") & (slots["target"] == "postgres:17#2")
    noise = np.exp(np.random.default_rng(1).normal(0, 0.3, 4))[np.ma.getdata(slots["block"])]
    slots["server_cpu_ns"] = np.ma.masked_array(np.where(hit, slots["server_cpu_ns"] * noise, slots["server_cpu_ns"]))
    by_cpu = replace(results, slots=slots)
    by_rate = replace(by_cpu, header=msgspec.structs.replace(results.header, judge=["throughput"]))
    assert "test1" not in decided_tests(judge(by_cpu))
    assert decided_tests(judge(by_rate)) >= {"test0", "test1", "test2"}
    assert {one.metric for one in judge(by_rate) if one.judged} == {THROUGHPUT}
    assert {one.metric for one in judge(by_cpu) if one.judged} == {CPU, THROUGHPUT, IO_BYTES}


def test_drift_of_what_is_not_judged_is_no_verdict() -> None:
    results = twin_results(Truth(tests=3, blocks=6, targets=2, start_sd=0.003, slot_sd=0.005), looks=[4, 6])
    slots = dict(results.slots)
    hit = (slots["test"] == "test1") & (slots["target"] == "postgres:17#2")
    rows = np.ma.getdata(slots["row"])
    grown = np.exp(0.3 * (rows / rows.max() - 0.5))
    slots["server_cpu_ns"] = np.ma.masked_array(np.where(hit, slots["server_cpu_ns"] * grown, slots["server_cpu_ns"]))
    drifting = replace(results, slots=slots)
    verdicts = {}
    for names in (["cpu", "throughput"], ["throughput"]):
        found = judge(replace(drifting, header=msgspec.structs.replace(results.header, judge=names)))
        verdicts[len(names)] = {one.verdict for one in found if (one.test, one.metric) == ("test1", CPU)}
    assert verdicts[2] == {Verdict.NO_STEADY_STATE}
    assert Verdict.NO_STEADY_STATE not in verdicts[1]


def test_over_all_clients_only_judged_metrics_are_taken_together() -> None:
    results = twin_results(Truth(tests=2, blocks=4, targets=2), judge=["throughput"])
    names = {"test0": "scan@1", "test1": "scan@2"}
    slots = {**results.slots, "test": np.array([names[test] for test in results.slots["test"]], dtype=object)}
    found = judge_over_clients(replace(results, slots=slots, tests=("load", *names.values())))
    assert [(one.test, one.metric, one.judged) for one in found] == [("scan@all", THROUGHPUT, True)]
