"""The parts of the noise, and how much of a known slowdown is measured, against a known truth."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

from dbversus.errors import UsageError
from dbversus.results.stored import Results
from dbversus.stats.calibration.evaluate import evaluate, of_suites, share
from dbversus.stats.calibration.model import Figures
from dbversus.stats.calibration.recovery import recover
from dbversus.stats.calibration.starts import start_bias
from dbversus.stats.calibration.suites import changed_as_measured, make_pool
from dbversus.stats.calibration.twins import Twins, read_twins
from dbversus.stats.calibration.variation import order_bias, rows_of, spreads, uniformity
from dbversus.stats.judgeable import P99
from dbversus.stats.metrics import CPU, IO_BYTES, THROUGHPUT

from .latencies import with_latencies
from .twin_results import Truth, twin_results

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def figures() -> Figures:
    return evaluate(twin_results(Truth()), suites=20, seed=1)


def test_the_parts_of_the_spread_are_found() -> None:
    truth = Truth(tests=8, blocks=40, targets=2, start_sd=0.01, slot_sd=0.03)
    results = twin_results(truth)
    twins = read_twins(results)
    found = [one for one in spreads(results, twins, rows_of(results, twins), {}) if one.metric == CPU]
    assert np.mean([one.pair_sd for one in found]) == pytest.approx(0.03 * 2**0.5, rel=0.05)
    # two targets, each with a start of its own
    assert np.mean([one.between_sd for one in found]) == pytest.approx(0.01 * 2**0.5, rel=0.2)
    for one in found:
        assert one.block_sd is not None and one.between_sd is not None and one.within_sd is not None
        assert one.block_sd**2 == pytest.approx(one.between_sd**2 + one.within_sd**2, rel=0.2)
        assert one.blocks == 40


def test_without_a_spread_between_starts_there_is_none() -> None:
    results = twin_results(Truth(tests=8, blocks=40, targets=2, start_sd=0.0))
    twins = read_twins(results)
    found = [one for one in spreads(results, twins, rows_of(results, twins), {}) if one.metric == CPU]
    assert np.mean([one.between_sd**2 for one in found if one.between_sd is not None]) < 0.007**2
    assert np.mean([one.within_sd for one in found if one.within_sd]) > 0.004


def test_coming_later_in_the_row_is_told_from_being_the_twin() -> None:
    results = twin_results(Truth(targets=2, order_bias=0.02))
    found = {one.test: one for one in order_bias(rows_of(results, read_twins(results))) if one.metric == CPU}
    assert found[""].bias == pytest.approx(0.02, abs=0.003)
    assert found[""].low is not None and found[""].low > 0
    assert set(found) == {"", *(f"test{number}" for number in range(6))}
    none = {one.metric: one for one in order_bias(rows_of(*_with_twins(Truth(targets=2)))) if not one.test}
    low, high = none[CPU].low, none[CPU].high
    assert low is not None and high is not None and low < 0 < high
    assert THROUGHPUT in none


@pytest.mark.parametrize("targets", [2, 3])
def test_being_started_first_is_told_from_being_the_twin(targets: int) -> None:
    results, twins = _with_twins(Truth(targets=targets, start_bias=0.02))
    moved = tuple(replace(v, value=v.value + 0.05) for v in twins.values if v.value is not None)
    found = {one.test: one for one in start_bias(results, replace(twins, values=moved)) if one.metric == CPU}
    assert found[""].bias == pytest.approx(0.02, abs=0.006)
    assert found[""].low is not None and 0 < found[""].low < 0.02
    assert set(found) == {"", *(f"test{number}" for number in range(6))}


def test_no_bias_of_starts_where_there_is_none_or_too_few_blocks() -> None:
    even = {one.metric: one for one in start_bias(*_with_twins(Truth())) if not one.test}
    low, high = even[CPU].low, even[CPU].high
    assert low is not None and high is not None and low < 0 < high
    assert start_bias(*_with_twins(Truth(blocks=4))) == []


def _with_twins(truth: Truth) -> tuple[Results, Twins]:
    results = twin_results(truth)
    return results, read_twins(results)


def test_p_values_of_equal_tests_are_uniform_and_those_of_others_are_not() -> None:
    results = twin_results(Truth(tests=20, targets=2))
    twins = read_twins(results)
    equal = {one.metric: one for one in uniformity(spreads(results, twins, {}, {}))}
    assert equal[CPU].p_value > 0.01
    assert equal[CPU].tests == 20
    moved = tuple(replace(v, value=v.value + 0.05) for v in twins.values if v.value is not None)
    other = {one.metric: one for one in uniformity(spreads(results, replace(twins, values=moved), {}, {}))}
    assert other[CPU].p_value < 1e-6


def test_tests_without_io_have_no_figures_of_it(figures: Figures) -> None:
    io = {one.test: one for one in figures.spreads if one.metric == IO_BYTES}
    assert io["test0"].block_sd is not None
    assert (io["test1"].blocks, io["test1"].block_sd, io["test1"].p_value) == (0, None, None)


@pytest.mark.parametrize("recovered", [1.0, 0.6])
def test_what_is_measured_of_an_injected_slowdown(recovered: float) -> None:
    found = recover(read_twins(twin_results(Truth(tests=12, recovered=recovered))).injected, CPU)
    assert found is not None
    assert found.slope == pytest.approx(recovered, abs=0.15)
    assert found.low < recovered < found.high
    assert (found.values, found.blocks) == (12 * 16, 16)
    assert abs(found.offset) < 0.01


def test_what_is_measured_of_injected_io_and_cpu_is_left_to_arithmetic() -> None:
    results = twin_results(Truth(tests=12, io_every=1, io_injected=True))
    twins = read_twins(results)
    assert twins.injected_metric == IO_BYTES
    found = recover(twins.injected, twins.injected_metric)
    assert found is not None and found.metric == IO_BYTES
    assert found.low < 1 < found.high and found.slope == pytest.approx(1, abs=0.15)
    figures = evaluate(results, suites=20, seed=1)
    assert not figures.injected and figures.recovery == found


def test_nothing_injected_or_always_the_same_tells_nothing_of_recovery() -> None:
    assert recover({}, CPU) is None
    injected = read_twins(twin_results(Truth())).injected
    assert recover({place: replace(one, truth=0.03) for place, one in injected.items()}, CPU) is None


def test_figures_of_a_whole_calibration(figures: Figures) -> None:
    assert figures.injected
    assert (figures.blocks, figures.looks, len(figures.tests)) == (16, [3, 4, 6, 8, 12], 6)
    assert figures.real_suites == pytest.approx(16 / 12)
    assert figures.false_alarms.count == 20
    found = {one.effect: one.found.share for one in figures.detection}
    assert found[0.08] > 0.9
    assert found[0.01] < found[0.05] <= found[0.08]
    assert figures.coverage is not None and figures.coverage.share > 0.9
    assert figures.changed_as_measured is not None
    assert Figures.model_validate_json(figures.model_dump_json()) == figures


def test_bursts_are_told_by_all_the_work_and_are_no_uniform_slowdowns() -> None:
    truth = Truth(bursts=True, rows=30, tests=12)
    results = twin_results(truth)
    twins = read_twins(results)
    assert twins.bursts is not None and (twins.bursts.ms, twins.bursts.every_ms) == (50, 500)
    where = {
        (f"test{t}", block) for t in range(truth.tests) for block in range(truth.blocks) if truth.in_bursts(t, block)
    }
    assert twins.bursts.where == where
    assert not where & twins.injected.keys() and len(twins.injected) + len(where) == truth.tests * truth.blocks
    assert np.mean([twins.whole_injected[place].truth for place in where]) == pytest.approx(np.log(1.1), abs=0.005)
    assert all(abs(one.residual) < 0.1 for one in twins.whole_injected.values())

    figures = evaluate(results, suites=20, seed=1)
    assert figures.bursts is not None
    assert (figures.bursts.ms, figures.bursts.every_ms, figures.bursts.blocks_with) == (50, 500, len(where))
    assert figures.bursts.effect == pytest.approx(0.1, abs=0.005)
    assert figures.bursts.measured == pytest.approx(0.1, abs=0.02)
    assert figures.bursts.found.count == 4 * truth.tests
    assert figures.bursts.found.share > 0.9
    assert figures.recovery is not None and figures.recovery.slope == pytest.approx(1, abs=0.2)
    assert Figures.model_validate_json(figures.model_dump_json()) == figures


def test_without_bursts_there_are_no_figures_of_them(figures: Figures) -> None:
    assert figures.bursts is None
    older = {name: value for name, value in figures.model_dump().items() if name != "bursts"}
    assert Figures.model_validate(older) == figures


def test_two_copies_alone_are_evaluated_too() -> None:
    figures = evaluate(twin_results(Truth(tests=3, blocks=5, targets=2)), suites=20, seed=1)
    assert not figures.injected
    assert figures.recovery is None
    assert figures.looks == [3, 4]
    assert {one.effect: one.found.share for one in figures.detection}[0.08] > 0.8


def test_other_results_are_refused() -> None:
    results = twin_results(Truth(tests=3, blocks=4, targets=2))
    other = replace(results, targets=(results.targets[0], replace(results.targets[1], version="16.15")))
    with pytest.raises(UsageError, match="is no calibration"):
        read_twins(other)
    with pytest.raises(UsageError, match="has 2 finished blocks"):
        read_twins(twin_results(Truth(tests=3, blocks=2, targets=2)))
    with pytest.raises(UsageError, match="is no calibration"):
        read_twins(replace(results, targets=results.targets[:1]))


def test_clopper_pearson_of_fewer_suites_by_hand() -> None:
    none = of_suites(0, 44)
    assert (none.share, none.low, none.count) == (0, 0, 44)
    assert none.high == pytest.approx(1 - 0.025 ** (1 / 20))
    assert of_suites(44, 44).low == pytest.approx(0.025 ** (1 / 20))
    half = of_suites(22, 44)
    assert (half.low, half.high) == pytest.approx(binomtest(10, 20).proportion_ci(0.95, method="exact"), abs=1e-9)
    plain = share(10, 20)
    assert (plain.low, plain.high) == pytest.approx((half.low, half.high))


def test_coverage_is_told_by_the_look_at_which_a_test_stopped() -> None:
    figures = evaluate(twin_results(Truth(tests=6, blocks=8, targets=2)), suites=40, seed=1)
    by_look = figures.coverage_by_look
    assert set(by_look) <= {3, 4, 6, 8} and len(by_look) > 1
    assert figures.coverage is not None
    assert sum(one.count for one in by_look.values()) == figures.coverage.count


def test_the_share_of_disturbed_rows_is_told() -> None:
    results = twin_results(Truth(tests=3, blocks=4, targets=2))
    half = {**results.slots, "disturbed": np.ma.masked_array(np.ma.getdata(results.slots["row"]) % 2 == 0)}
    assert evaluate(replace(results, slots=half), suites=20, seed=1).disturbed == pytest.approx(0.5)


def of_p99(judge: str, operations: int = 12_000) -> Results:
    """Equal targets whose response times vary by 2 % from start to start."""
    rng = np.random.default_rng(2)
    results = twin_results(Truth(tests=3, blocks=6, targets=2), judge=judge.split(","))
    return with_latencies(results, lambda *_: 1e5 * np.exp(rng.normal(0, 0.02) + rng.normal(0, 0.3, operations)))


def test_a_judged_percentile_is_calibrated() -> None:
    figures = evaluate(of_p99("cpu,throughput,io,p99"), suites=20, seed=1)
    assert figures.metrics == [CPU, THROUGHPUT, IO_BYTES, P99] and figures.changed == CPU
    found = [one for one in figures.spreads if one.metric == P99]
    assert [one.test for one in found] == figures.tests
    for one in found:
        assert one.block_sd is not None and 0.01 < one.block_sd < 0.06
        assert (one.pair_sd, one.between_sd, one.default_margin) == (None, None, 0.1)
    assert P99 in {one.metric for one in figures.uniformity}
    usual = evaluate(of_p99("cpu,throughput,io"), suites=20, seed=1)
    assert P99 not in {one.metric for one in usual.spreads}


def test_alarms_of_a_judged_percentile_count() -> None:
    """One that lasts is called changed by the blocks as they were measured, when it is judged."""
    alarmed = []
    for judge in ("cpu", "cpu,p99"):
        twins = read_twins(of_p99(judge))
        moved = tuple(replace(v, value=(v.value or 0) + (0.5 if v.metric == P99 else 0)) for v in twins.values)
        alarmed.append(changed_as_measured(make_pool(replace(twins, values=moved), (4, 6), {})))
    assert alarmed == [[], ["test0", "test1", "test2"]]


def test_without_cpu_changes_are_made_of_the_first_judged_metric() -> None:
    figures = evaluate(of_p99("p99"), suites=20, seed=1)
    assert (figures.metrics, figures.changed, figures.injected) == ([P99], P99, False)
    assert {one.effect: one.found.share for one in figures.detection}[0.08] > 0.3
    rate = evaluate(of_p99("throughput"), suites=20, seed=1)
    assert {one.effect: one.found.share for one in rate.detection}[0.08] > 0.8  # more is better, and is found as that


def test_too_few_operations_for_the_only_judged_percentile() -> None:
    with pytest.raises(UsageError, match="too few operations in a block for the percentiles that are judged"):
        read_twins(of_p99("p99", operations=5000))
