"""Percentiles of response time as block values, against simulated response times."""

from dataclasses import replace
from math import exp, log
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pytest

from dbversus.results.records import Latency
from dbversus.results.stored import Results
from dbversus.stats.judge import decided_tests, judge, judge_over_clients
from dbversus.stats.judgeable import P50, P95, P99, PERCENTS
from dbversus.stats.metrics import CPU, THROUGHPUT
from dbversus.stats.model import BlockValue, Finding, Verdict
from dbversus.stats.values.percentiles import (
    has_enough,
    lacking_findings,
    latency_blocks,
    percentile_values,
    wanted_operations,
)

from ...journals import records_of
from ..latencies import encoded, with_latencies
from ..twin_results import Truth, twin_results

TARGET = "postgres:17#2"
ALL_JUDGED = ["cpu", "throughput", "io", "p99"]
OPERATIONS = 12_000


def response_times(rng: np.random.Generator, operations: int, tail: float = 1.0) -> npt.NDArray[np.float64]:
    """ns. Most take 0.1 ms, one in fifty 1 ms × `tail`; the mean is the same whatever the tail."""
    slow = rng.random(operations) < 0.02
    fast_ns = 1e5 - 1e6 * (tail - 1) * 0.02 / 0.98
    return np.where(slow, 1e6 * tail, fast_ns) * np.exp(rng.normal(0, 0.2, operations))


def experiment(tail: float, operations: int = OPERATIONS, blocks: int = 8, **header: Any) -> Results:
    """Four tests of equal targets, of which test1 has a longer tail on the second target."""
    rng = np.random.default_rng(3)
    host: dict[tuple[int, str], float] = {}

    def times(block: int, test: str, target: str) -> npt.NDArray[np.float64]:
        common = host.setdefault((block, test), rng.normal(0, 0.2))
        start = rng.normal(0, 0.01)
        own = tail if (test, target) == ("test1", "t1") else 1.0
        return response_times(rng, operations, own) * exp(common + start)

    results = twin_results(
        Truth(tests=4, blocks=blocks, targets=2, start_sd=0.003), judge=ALL_JUDGED, looks=sorted({4, blocks}), **header
    )
    return with_latencies(results, times)


@pytest.fixture(scope="module")
def changed() -> list[Finding]:
    return judge(experiment(1.25))


def of(findings: list[Finding], metric: str) -> dict[str, Finding]:
    return {finding.test: finding for finding in findings if finding.metric == metric}


def test_the_simulated_means_do_not_tell() -> None:
    rng = np.random.default_rng(1)
    same, longer = (response_times(rng, 1_000_000, tail) for tail in (1.0, 1.25))
    assert longer.mean() / same.mean() == pytest.approx(1, abs=0.005)
    assert np.percentile(longer, 99) / np.percentile(same, 99) == pytest.approx(1.25, rel=0.01)


def test_a_longer_tail_is_found_though_all_else_is_equal(changed: list[Finding]) -> None:
    found = of(changed, P99)
    assert found["test1"].verdict is Verdict.REGRESSION
    assert found["test1"].ratio == pytest.approx(1.25, rel=0.04)
    for metric in (CPU, THROUGHPUT):
        assert of(changed, metric)["test1"].verdict is Verdict.EQUIVALENT


def test_equal_tails_are_equivalent(changed: list[Finding]) -> None:
    assert {of(changed, P99)[test].verdict for test in ("test0", "test2", "test3")} == {Verdict.EQUIVALENT}


def test_what_is_slow_in_few_slots_counts() -> None:
    """One slot in ten is twice as slow; the middle half of the rows, of which the median is, does not know."""
    rng = np.random.default_rng(4)

    def times(block: int, test: str, target: str) -> npt.NDArray[np.float64]:
        hit = (np.arange(OPERATIONS) % 10 == 0) & (target == "t1") & (test == "test1")
        return np.where(hit, 2e5, 1e5) * np.exp(rng.normal(0, 0.2, OPERATIONS) + rng.normal(0, 0.01))

    results = twin_results(Truth(tests=4, blocks=4, targets=2), judge=["p50", "p99"], looks=[4])
    slots = {**results.slots, "p50_ns": np.ma.masked_array(results.slots["elapsed_ns"] // 1000)}
    hit = (slots["test"] == "test1") & (slots["target"] == TARGET) & (slots["row"] % 10 == 0)
    slots["p50_ns"] = np.ma.masked_array(np.where(hit, 2 * slots["p50_ns"], slots["p50_ns"]))
    found = judge(with_latencies(replace(results, slots=slots), times))
    assert of(found, P50)["test1"].verdict is Verdict.EQUIVALENT
    assert of(found, P99)["test1"].verdict is Verdict.REGRESSION
    assert of(found, P99)["test2"].verdict is Verdict.EQUIVALENT


def test_the_family_is_that_of_the_judged_metrics(changed: list[Finding]) -> None:
    """Judged, the 99th percentile is paid for with the other tests and metrics; exploratory, it is in the other family."""
    judged = [finding for finding in changed if finding.judged and finding.p_value is not None]
    assert {finding.metric for finding in judged} >= {CPU, THROUGHPUT, P99}
    assert not any(finding.judged for finding in changed if finding.metric == P95)
    results = experiment(1.25)
    usual = judge(replace(results, header=msgspec.structs.replace(results.header, judge=["cpu", "throughput", "io"])))
    p99, before = of(usual, P99)["test1"], of(changed, P99)["test1"]
    assert not p99.judged and p99.p_value == before.p_value and p99.q_value != before.q_value


def test_a_test_is_decided_when_its_percentile_is() -> None:
    results = experiment(1.1, blocks=4)
    assert of(judge(results), P99)["test1"].verdict is not Verdict.EQUIVALENT
    assert "test0" in decided_tests(judge(results)) and "test1" not in decided_tests(judge(results))
    usual = replace(results, header=msgspec.structs.replace(results.header, judge=["cpu", "throughput", "io"]))
    assert "test1" in decided_tests(judge(usual))


def test_too_few_operations_make_no_verdict_and_hold_up_none() -> None:
    findings = judge(experiment(1.25, operations=OPERATIONS // 2))
    (finding,) = (one for one in findings if (one.metric, one.test) == (P99, "test1"))
    assert finding.lacks_operations and finding.ratio is None
    assert finding.note == "6,000 operations per block, 10,000 are needed"
    assert "test1" in decided_tests(findings)
    assert of(findings, P95)["test1"].ratio is not None
    alone = experiment(1.25, operations=OPERATIONS // 2)
    alone = replace(alone, header=msgspec.structs.replace(alone.header, judge=["p99"]))
    assert decided_tests(judge(alone)) >= {"test0", "test1"}


def test_how_many_operations_are_wanted() -> None:
    assert [wanted_operations(metric) for metric in PERCENTS] == [2000, 10_000]


def hand_made(hdr: list[dict[str, list[float]]], targets: int = 2) -> Results:
    """One test and one block; each record holds the response times in µs of the targets that it names."""
    results = twin_results(Truth(tests=1, blocks=1, targets=targets), judge=["p95"])
    records = [
        {
            "type": "latency",
            "block": 0,
            "test": "test0",
            "hdr": {name: encoded(np.array(times) * 1e3) for name, times in record.items()},
        }
        for record in hdr
    ]
    return replace(results, records=(*results.records, *records_of(*records)))


def values(results: Results) -> dict[tuple[str, str], BlockValue]:
    return {(one.target, one.metric): one for one in percentile_values(results, latency_blocks(results))}


def test_a_block_is_measured_once_however_often_it_was_interrupted() -> None:
    once = values(hand_made([{"t0": [10.0] * 4000, "t1": [20.0] * 4000}]))
    halves = [{"t0": [10.0] * 2000, "t1": [20.0] * 2000}, {"t0": [10.0] * 2000, "t1": [20.0] * 2000}]
    assert values(hand_made(halves)) == once
    assert once[TARGET, P95].value == pytest.approx(log(2), abs=2e-3)
    assert (once[TARGET, P95].rows, once[TARGET, P95].disturbed) == (24, 0)


def test_each_group_has_its_own_base() -> None:
    """The base of another group was measured at another time, and was twice as slow then."""
    groups = [{"t0": [10.0] * 4000, "t1": [10.0] * 4000}, {"t0": [20.0] * 4000, "t2": [20.0] * 4000}]
    found = values(hand_made(groups, targets=3))
    assert found[TARGET, P95].value == found["postgres:17#3", P95].value == 0


def test_targets_measured_one_after_the_other_are_compared_by_block() -> None:
    found = values(hand_made([{"t0": [10.0] * 4000}, {"t1": [20.0] * 4000}]))
    assert found[TARGET, P95].value == pytest.approx(log(2), abs=2e-3)


def test_the_mean_over_blocks_decides_for_all_of_them() -> None:
    results = hand_made([{"t0": [10.0] * 1500, "t1": [10.0] * 3500}])
    again = {"type": "latency", "block": 1, "test": "test0", "hdr": {"t0": encoded(np.full(3000, 1e4))}}
    again["hdr"]["t1"] = again["hdr"]["t0"]  # type: ignore[index]
    blocks = latency_blocks(replace(results, records=(*results.records, *records_of(again))))["test0", TARGET]
    assert [block.operations for block in blocks] == [1500, 3000]
    assert has_enough(blocks, P95) and not has_enough(blocks[:1], P95)


def test_disturbed_rows_count_and_are_counted() -> None:
    results = hand_made([{"t0": [10.0] * 4000, "t1": [20.0] * 4000}])
    disturbed = np.ma.masked_array(np.ma.getdata(results.slots["row"]) % 2 == 0)
    half = values(replace(results, slots={**results.slots, "disturbed": disturbed}))[TARGET, P95]
    assert (half.rows, half.disturbed, half.value) == (24, 12, values(results)[TARGET, P95].value)


def test_results_without_histograms_have_no_percentiles() -> None:
    results = twin_results(Truth(tests=1, blocks=2, targets=2))
    assert latency_blocks(results) == {} and percentile_values(results, {}) == []
    assert lacking_findings({}, ()) == []
    assert not any(finding.metric in PERCENTS for finding in judge(results))


def test_percentiles_over_all_numbers_of_clients() -> None:
    results = experiment(1.25, blocks=4)
    name = {"test0": "scan@1", "test1": "scan@2", "test2": "scan@4", "test3": "point@1"}
    slots = {**results.slots, "test": np.array([name[test] for test in results.slots["test"]], dtype=object)}
    records = tuple(
        msgspec.structs.replace(one, test=name[one.test]) if isinstance(one, Latency) else one
        for one in results.records
    )
    renamed = replace(results, slots=slots, records=records, tests=("load", *name.values()))
    (pooled,) = (one for one in judge_over_clients(renamed) if (one.test, one.metric) == ("scan@all", P99))
    assert pooled.judged and pooled.ratio == pytest.approx(1.25 ** (1 / 3), rel=0.03)
