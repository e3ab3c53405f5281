"""Verdicts from hand-made block values; what holds on average is in test_simulate.py."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from dbversus.errors import UsageError
from dbversus.stats.headline import headline
from dbversus.stats.judging.sequential import LOOKS, alpha_per_look
from dbversus.stats.judging.verdicts import assess, decided
from dbversus.stats.metrics import CPU, IO_BYTES, PRIMARY, THROUGHPUT
from dbversus.stats.model import DIFFERS, SIZE_OPEN, TOO_LITTLE, BlockValue, Finding, Verdict
from dbversus.stats.simulation.simulate import World, run_suite

from ..intervals import contradictions

QUIET_TESTS = 12


def series(
    test: str,
    logs: Sequence[float | None],
    metric: str = CPU,
    first_block: int = 0,
    target: str = "b",
) -> list[BlockValue]:
    return [BlockValue(test, target, metric, first_block + i, x, 60) for i, x in enumerate(logs)]


def noise(seed: int, blocks: int, sd: float = 0.01) -> list[float]:
    return [float(x) for x in np.random.default_rng(seed).normal(0, sd, blocks)]


def shifted(logs: Sequence[float], by: float) -> list[float]:
    return [x - float(np.mean(logs)) + by for x in logs]


def quiet(blocks: int = 4, metric: str = CPU) -> list[BlockValue]:
    """Equal tests whose means are exactly zero."""
    return [v for i in range(QUIET_TESTS) for v in series(f"quiet{i}", shifted(noise(i, blocks), 0.0), metric)]


def only(findings: Sequence[Finding], test: str = "x", metric: str = CPU) -> Finding:
    (finding,) = [f for f in findings if f.test == test and f.metric == metric]
    return finding


@pytest.mark.parametrize(
    ("metric", "change", "verdict"),
    [
        (CPU, 0.10, Verdict.REGRESSION),
        (CPU, -0.10, Verdict.IMPROVEMENT),
        (THROUGHPUT, 0.10, Verdict.IMPROVEMENT),
        (THROUGHPUT, -0.10, Verdict.REGRESSION),
        (CPU, 0.0, Verdict.EQUIVALENT),
    ],
)
def test_large_changes_and_none(metric: str, change: float, verdict: Verdict) -> None:
    values = series("x", shifted(noise(99, 4), change), metric) + quiet(metric=metric)
    finding = only(assess(values, PRIMARY), metric=metric)
    assert finding.verdict is verdict
    assert finding.ratio == pytest.approx(np.exp(change))
    assert finding.low is not None
    assert finding.high is not None
    assert finding.low < np.exp(change) < finding.high
    assert finding.confidence == (0.9 if verdict is Verdict.EQUIVALENT else 0.95)
    assert finding.blocks == 4


def test_interval_and_p_value_by_hand() -> None:
    """Two tests are too few to moderate: the ordinary t interval."""
    finding = only(assess(series("x", [0.01, 0.03, 0.02, 0.06]), PRIMARY, looks=(4,)))
    assert finding.confidence == 0.95
    assert finding.block_sd == pytest.approx(0.0216025, rel=1e-5)
    assert (finding.low, finding.high) == pytest.approx((np.exp(-0.0043748), np.exp(0.0643748)), abs=1e-6)
    assert finding.p_value == pytest.approx(0.0689, abs=5e-4)
    assert finding.q_value == finding.p_value


def test_a_real_change_of_a_quarter_of_the_margin_is_equivalent() -> None:
    finding = only(assess(series("x", shifted(noise(5, 12, 0.002), 0.007)) + quiet(12), PRIMARY))
    assert finding.verdict is Verdict.EQUIVALENT
    assert "real change" in finding.note


@pytest.mark.parametrize("looks", [(4, 8, 12), (6, 8, 12), (12,)])
@pytest.mark.parametrize(
    ("share", "sd", "verdict"),
    [
        (0.3, 0.002, Verdict.EQUIVALENT),
        (0.45, 0.002, Verdict.SMALL_CHANGE),
        (-0.6, 0.002, Verdict.SMALL_CHANGE),
        (0.7, 0.002, Verdict.SMALL_CHANGE),
        (0.7, 0.011, Verdict.REGRESSION),
        (-0.98, 0.002, Verdict.IMPROVEMENT),
        (0.62, 0.016, Verdict.UNDECIDED),
    ],
)
def test_what_is_shown_to_differ_is_called_by_its_interval(
    share: float, sd: float, verdict: Verdict, looks: tuple[int, ...]
) -> None:
    """The last of them reaches over the margin, and its estimate is under two thirds of it."""
    values = series("x", shifted(noise(5, 12, sd), share * np.log(1.03))) + quiet(12)
    finding = only(assess(values, PRIMARY, looks=looks))
    assert finding.q_value is not None and finding.q_value < 0.05
    assert finding.verdict is verdict
    assert (SIZE_OPEN in headline([finding])[1]) is (verdict is Verdict.UNDECIDED)
    assert finding.is_worse is (share > 0 and verdict in DIFFERS)


def test_a_small_change_has_the_direction_of_its_metric() -> None:
    more = shifted(noise(5, 12, 0.002), 0.02)
    findings = assess(series("x", more) + series("x", more, THROUGHPUT) + quiet(12), PRIMARY)
    small = [only(findings, metric=metric) for metric in (CPU, THROUGHPUT)]
    assert [(one.verdict, one.is_worse) for one in small] == [(Verdict.SMALL_CHANGE, worse) for worse in (True, False)]
    assert "x" in decided(findings)


def test_a_wider_margin_makes_a_change_small_and_then_equivalent() -> None:
    values = series("x", shifted(noise(5, 12, 0.004), 0.02)) + quiet(12)
    margins = {0.021: Verdict.REGRESSION, 0.05: Verdict.SMALL_CHANGE, 0.1: Verdict.EQUIVALENT}
    for margin, verdict in margins.items():
        finding = only(assess(values, PRIMARY, looks=(12,), margins={("x", CPU): margin}))
        assert (finding.verdict, finding.margin) == (verdict, margin)


def test_undecided_says_what_could_have_been_seen() -> None:
    finding = only(assess(series("x", shifted(noise(3, 4, 0.02), 0.02)) + quiet(), PRIMARY))
    assert finding.verdict is Verdict.UNDECIDED
    assert finding.smallest_visible_change is not None
    assert finding.smallest_visible_change > 0.02


def test_unstable_when_the_last_look_could_not_see_twice_the_margin() -> None:
    finding = only(assess(series("x", noise(3, 12, 0.2)), PRIMARY))
    assert finding.verdict is Verdict.UNSTABLE


def test_nothing_to_compare_is_equivalent_and_no_member_of_the_family() -> None:
    values = series("x", [None] * 4, IO_BYTES) + quiet()
    findings = assess(values, PRIMARY)
    finding = only(findings, metric=IO_BYTES)
    assert (finding.verdict, finding.ratio, finding.p_value) == (Verdict.EQUIVALENT, None, None)
    assert only(findings, "quiet0") == only(assess(quiet(), PRIMARY), "quiet0")


def test_nothing_in_some_blocks_is_no_difference_there() -> None:
    finding = only(assess(series("x", [None, 0.4, 0.0, 0.0], IO_BYTES), PRIMARY), metric=IO_BYTES)
    assert finding.ratio == pytest.approx(np.exp(0.1))
    assert finding.blocks == 4


def test_one_block_gives_a_ratio_and_no_verdict() -> None:
    finding = only(assess(series("x", [0.5]), PRIMARY))
    assert (finding.verdict, finding.low) == (Verdict.UNDECIDED, None)
    assert finding.ratio == pytest.approx(np.exp(0.5))
    assert (finding.least, finding.most, finding.note) == (None, None, "1 of 3 blocks: no verdict")


def test_two_blocks_give_their_range_and_no_verdict_whatever_the_looks() -> None:
    """Student's t of two blocks would be wide enough to hold anything."""
    for looks, awaited in (((2, 4), 3), ((1,), 3), ((3, 4), 3), ((4, 6), 4)):
        finding = only(assess(series("x", [0.5, 0.6]) + quiet(2), PRIMARY, looks=looks))
        assert (finding.verdict, finding.low, finding.high, finding.p_value) == (Verdict.UNDECIDED, None, None, None)
        assert (finding.least, finding.most) == pytest.approx((np.exp(0.5), np.exp(0.6)))
        assert finding.note == f"2 of {awaited} blocks: no verdict"


def test_before_the_first_look_there_is_an_interval_and_no_verdict() -> None:
    values = series("x", shifted(noise(9, 4, 0.001), 0.5)) + quiet(4)
    early, later = only(assess(values, PRIMARY, looks=(6, 8))), only(assess(values, PRIMARY, looks=(4, 8)))
    assert (early.verdict, early.found_at, early.note) == (Verdict.UNDECIDED, None, "4 of 6 blocks: no verdict")
    assert early.low is not None
    assert early.low > 1.5
    assert later.verdict is Verdict.REGRESSION


def test_where_too_little_happened_there_is_no_interval() -> None:
    """Something in one block and next to nothing in another, over a floor."""
    finding = only(assess(series("x", [-6.0, 7.0, 0.3, 5.0], IO_BYTES), PRIMARY), metric=IO_BYTES)
    assert (finding.verdict, finding.low, finding.high) == (Verdict.UNSTABLE, None, None)
    assert (finding.least, finding.most) == pytest.approx((np.exp(-6), np.exp(7)))
    assert finding.note == TOO_LITTLE
    change = only(assess(series("x", [6.0, 9.0, 7.0, 8.0] * 3, IO_BYTES), PRIMARY), metric=IO_BYTES)
    assert change.verdict is Verdict.REGRESSION


def test_identical_counters_have_an_interval() -> None:
    finding = only(assess(series("x", [0.0] * 4, IO_BYTES), PRIMARY), metric=IO_BYTES)
    assert finding.verdict is Verdict.EQUIVALENT
    assert finding.low is not None
    assert 0.99 < finding.low < 1


def test_q_values_are_benjamini_hochbergs_times_the_price_of_the_looks() -> None:
    values = series("x", shifted(noise(99, 4), 0.05)) + series("y", shifted(noise(98, 4), 0.02)) + quiet()
    findings = assess(values, PRIMARY)
    p = [f.p_value for f in findings if f.p_value is not None]
    assert len(p) == QUIET_TESTS + 2
    price = 0.05 / alpha_per_look(LOOKS, 0.05, len(p))
    assert [f.q_value for f in findings] == pytest.approx(list(np.minimum(1, false_discovery_control(p) * price)))


def test_exploratory_metrics_are_a_family_of_their_own() -> None:
    primary_alone = only(assess(series("x", shifted(noise(99, 4), 0.05)) + quiet()))
    crowd = [v for i in range(40) for v in series(f"x{i}", noise(i, 4), "latency_mean_us")]
    assert only(assess(series("x", shifted(noise(99, 4), 0.05)) + quiet() + crowd)) == primary_alone


def test_retired_tests_keep_their_findings_while_others_go_on() -> None:
    retired = quiet(4)
    at_first = {f.test: f for f in assess(retired + series("x", noise(3, 4, 0.03)), PRIMARY)}
    later = {f.test: f for f in assess(retired + series("x", noise(3, 8, 0.03)), PRIMARY)}
    assert later["x"].blocks == 8
    for name, finding in at_first.items():
        if name != "x":
            assert later[name].verdict is finding.verdict
            assert later[name].p_value == finding.p_value
            assert (later[name].low, later[name].high) == (finding.low, finding.high)


def test_decided_needs_all_judged_metrics_of_all_targets() -> None:
    good = series("x", shifted(noise(1, 4), 0.0)) + series("x", shifted(noise(2, 4), 0.0), target="c") + quiet()
    assert "x" in decided(assess(good, PRIMARY))
    open_metric = series("x", shifted(noise(3, 4, 0.05), 0.02), THROUGHPUT, target="c")
    assert "x" not in decided(assess(good + open_metric, PRIMARY))


def io_beside_equal_cpu(mean: float, sd: float, blocks: int = 4) -> list[Finding]:
    """Findings of test x: its CPU is the same, its IO as given."""
    same = series("x", shifted(noise(1, blocks), 0.0))
    return assess(same + series("x", shifted(noise(2, blocks, sd), mean), IO_BYTES) + quiet(blocks), PRIMARY)


@pytest.mark.parametrize(
    ("mean", "sd", "is_decided"),
    [
        (0.02, 0.3, True),
        (0.40, 0.3, False),  # the last look may find it
        (0.02, 0.03, False),  # the last look may call it equivalent
    ],
)
def test_io_that_the_last_look_is_unlikely_to_settle_holds_up_no_test(mean: float, sd: float, is_decided: bool) -> None:
    findings = io_beside_equal_cpu(mean, sd)
    assert only(findings).verdict is Verdict.EQUIVALENT
    assert only(findings, metric=IO_BYTES).verdict in (Verdict.UNSTABLE, Verdict.UNDECIDED)
    assert ("x" in decided(findings)) == is_decided


def test_io_alone_goes_on_to_the_last_look() -> None:
    alone = [finding for finding in io_beside_equal_cpu(0.02, 0.3) if finding.metric == IO_BYTES]
    assert "x" not in decided(alone)


class TestFreshBlocks:
    """A change found at the first look, +5 %, and what later blocks make of it."""

    found = series("x", shifted(noise(99, 4, 0.005), 0.05))

    def judged(self, later: Sequence[float]) -> Finding:
        return only(assess(self.found + series("x", later, first_block=4) + quiet(), PRIMARY, (4, 6, 8, 12)))

    def test_none_yet(self) -> None:
        finding = self.judged([])
        assert (finding.verdict, finding.found_at, finding.fresh_blocks) == (Verdict.REGRESSION, 4, 0)
        assert "exaggerate" in finding.note

    def test_all_blocks_bear_it_when_it_is_found_again(self) -> None:
        finding = self.judged([0.05, 0.06])
        assert (finding.verdict, finding.found_at, finding.fresh_blocks) == (Verdict.REGRESSION, 4, 2)
        assert finding.ratio == pytest.approx(np.exp(0.052), abs=0.002)
        assert finding.blocks == 6
        assert finding.note == "measured again"

    @pytest.mark.parametrize("later", [[-0.02, -0.03], [0.005, -0.002]])
    def test_blocks_that_do_not_bear_it_out(self, later: Sequence[float]) -> None:
        """The other way, or next to nothing, though all blocks together are beyond chance: it is measured further."""
        finding = self.judged(later)
        assert finding.verdict is Verdict.UNDECIDED
        assert "do not bear it out" in finding.note

    def test_a_change_that_proves_small_is_not_said_to_be_none(self) -> None:
        logs = shifted(noise(99, 4, 0.002), 0.024) + shifted(noise(4, 8, 0.002), 0.012)
        finding = only(assess(series("x", logs) + quiet(12), PRIMARY, (4, 6, 8, 12)))
        assert finding.found_at == 4 and finding.verdict is Verdict.SMALL_CHANGE
        assert "bear it out" not in finding.note

    def test_gone_when_all_blocks_are_taken_together(self) -> None:
        finding = self.judged(shifted(noise(6, 8, 0.012), -0.02))
        assert finding.verdict is Verdict.EQUIVALENT
        assert finding.ratio == pytest.approx(np.exp(0.01 / 3))

    def test_a_slow_start_among_them_neither_makes_nor_hides_a_change(self) -> None:
        assert self.judged([0.05, 0.05, 0.05, 0.30]).ratio == pytest.approx(np.exp(0.05), abs=0.02)


@settings(deadline=None, max_examples=100)
@given(
    seed=st.integers(0, 2**31),
    change=st.floats(-0.08, 0.08),
    sd=st.sampled_from([0.002, 0.006, 0.015]),
    blocks=st.integers(2, 12),
    metric=st.sampled_from([CPU, THROUGHPUT]),
    looks=st.sampled_from([LOOKS, (4,), (3, 4, 6)]),
)
def test_no_verdict_contradicts_its_interval(
    seed: int, change: float, sd: float, blocks: int, metric: str, looks: tuple[int, ...]
) -> None:
    values = series("x", [x + change for x in noise(seed, blocks, sd)], metric) + quiet(min(blocks, 4))
    findings = assess(values, PRIMARY, looks=looks)
    assert contradictions(findings) == []
    finding = only(findings, metric=metric)
    if blocks < max(3, looks[0]):
        assert finding.verdict is Verdict.UNDECIDED
    if finding.verdict in (Verdict.REGRESSION, Verdict.IMPROVEMENT):
        assert abs(np.log(finding.ratio or 1)) >= 2 / 3 * np.log1p(finding.margin)


@pytest.mark.parametrize("looks", [LOOKS, (3, 4, 6)])
def test_no_verdict_of_an_experiment_contradicts_its_interval(looks: tuple[int, ...]) -> None:
    """Tests retire, while the number of changes in the family goes up and down."""
    seen = set()
    for seed in range(12):
        changes = dict(enumerate(np.random.default_rng(seed).normal(0, 0.03, 8)))
        final = run_suite(
            World(tests=16, sd=0.008, sd_spread=0.8, changes=changes, looks=looks), np.random.default_rng(seed)
        ).final
        assert contradictions(final) == []
        seen |= {finding.verdict for finding in final}
    assert seen > {*DIFFERS, Verdict.EQUIVALENT}


def test_a_slow_start_does_not_hide_a_change() -> None:
    """One start of eight is 25 % slower than the others."""
    logs = shifted(noise(8, 8, 0.01), 0.05)
    logs[5] += 0.25
    finding = only(assess(series("x", logs) + quiet(8), PRIMARY, looks=(8,)))
    assert finding.verdict is Verdict.REGRESSION
    assert finding.ratio == pytest.approx(np.exp(0.05), abs=0.01)


def test_a_test_of_noisy_rows_is_not_taken_for_a_quiet_one() -> None:
    """Twelve tests, four of them five times as noisy, in rows and between blocks; four blocks, one look."""
    covered, rng = [], np.random.default_rng(7)
    for _ in range(60):
        values = []
        for number in range(12):
            sd = 0.05 if number < 4 else 0.01
            drawn = rng.normal(0, sd, 4)
            values += [
                BlockValue(f"t{number}", "b", CPU, block, float(x), 36, error=sd * float(rng.chisquare(35) / 35) ** 0.5)
                for block, x in enumerate(drawn)
            ]
        found = assess(values, PRIMARY, looks=(4,))
        covered += [f.low <= 1 <= f.high for f in found[:4] if f.low and f.high]
    assert np.mean(covered) >= 0.925  # 240 draws of 95 %; 88.9 % where rows are not looked at


def test_looks_that_do_not_rise_and_empty_input() -> None:
    with pytest.raises(UsageError, match="rising"):
        assess([], looks=(8, 4))
    assert assess([]) == []
    assert assess(series("x", [0.1], "unknown metric")) == []


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 2**31), change=st.floats(-0.2, 0.2), blocks=st.integers(2, 12))
def test_swapping_base_and_target_mirrors_everything(seed: int, change: float, blocks: int) -> None:
    values = series("x", [x + change for x in noise(seed, blocks)]) + quiet(blocks)
    mirrored = [replace(v, value=None if v.value is None else -v.value) for v in values]
    one, other = only(assess(values, PRIMARY)), only(assess(mirrored, PRIMARY))
    swapped = {Verdict.REGRESSION: Verdict.IMPROVEMENT, Verdict.IMPROVEMENT: Verdict.REGRESSION}
    assert other.verdict is swapped.get(one.verdict, one.verdict)
    assert one.p_value == pytest.approx(other.p_value)
    assert one.ratio is not None
    assert other.ratio == pytest.approx(1 / one.ratio)
    ends = (one.least, other.most) if blocks < 3 else (one.low, other.high)
    assert ends[0] is not None
    assert ends[1] == pytest.approx(1 / ends[0])


@settings(deadline=None, max_examples=20)
@given(shuffled=st.randoms(use_true_random=False))
def test_order_of_block_values_does_not_matter(shuffled: "st.Random") -> None:  # type: ignore[name-defined]
    values = series("x", noise(3, 8, 0.03)) + quiet(4)
    mixed = list(values)
    shuffled.shuffle(mixed)
    expected = {f.test: f for f in assess(values, PRIMARY)}
    for finding in assess(mixed, PRIMARY):
        other = expected[finding.test]
        assert finding.verdict is other.verdict
        assert (finding.ratio, finding.low, finding.q_value) == pytest.approx((other.ratio, other.low, other.q_value))
