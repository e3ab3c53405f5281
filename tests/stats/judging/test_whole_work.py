"""All work of a block against its rows: what single slots cost is seen, what hits targets at random is not held against them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dbversus.results.layout import lay_out
from dbversus.stats.headline import headline
from dbversus.stats.judge import decided_tests
from dbversus.stats.judging.verdicts import assess
from dbversus.stats.judging.whole_work import check_whole_work, judge_whole_work, whole_work_values
from dbversus.stats.metrics import CPU, DRAIN_CPU, SMOOTH, THROUGHPUT
from dbversus.stats.model import CHANGES, Finding, Verdict
from dbversus.stats.simulation.protocol import take_looks
from dbversus.stats.values.blocks import block_values

from ..slots import Slots, make_slots, one_after_the_other

ROWS = 24
LOOKS = (4, 6, 8, 12)
NO_CHANGES = (Verdict.EQUIVALENT, Verdict.UNDECIDED, Verdict.UNSTABLE)
STALL_NS = 500e6
Shape = Callable[[Slots], Slots]


def drained(target: str, cpu: float | None, group: str | None = None, block: int = 0) -> dict[str, Any]:
    return {"block": block, "test": "t0", "target": target, "target_group": group, DRAIN_CPU: cpu}


@pytest.mark.parametrize("shape", [lambda slots: slots, one_after_the_other])
@pytest.mark.parametrize(
    ("drains", "expected"),
    [
        ([], np.log(30 / 20)),
        ([drained("a", 4.0), drained("b", 18.0)], np.log(48 / 24)),
        ([drained("a", 4.0), drained("b", None)], np.log(30 / 20)),
        ([drained("a", 4.0, "g0"), drained("a", 6.0, "g1"), drained("b", 9.0, "g1")], np.log(39 / 26)),
        ([drained("a", 4.0, "g0"), drained("b", 9.0, "g1")], np.log(30 / 20)),
    ],
)
def test_all_work_is_that_of_the_slots_and_what_was_drained(
    shape: Shape, drains: list[dict[str, Any]], expected: float
) -> None:
    slots = shape(make_slots(tests=1, blocks=1, rows=6))
    slots["server_cpu_ns"] = slots["ops"] * np.where(slots["target"] == "a", 20_000, 30_000)
    (cpu,) = [value for value in whole_work_values(lay_out(slots, "a"), drains) if value.metric == CPU]
    assert cpu.value == pytest.approx(expected)


def test_what_was_drained_in_some_blocks_only_counts_in_none() -> None:
    slots = make_slots(tests=1, blocks=2, rows=6)
    slots["server_cpu_ns"] = slots["ops"] * np.where(slots["target"] == "a", 20_000, 30_000)
    drains = [drained("a", 4.0), drained("b", 18.0)]
    values = [value.value for value in whole_work_values(lay_out(slots, "a"), drains) if value.metric == CPU]
    assert values == pytest.approx([np.log(30 / 20)] * 2)


def stalled(slots: Slots, chosen: np.ndarray) -> Slots:
    """Slots of 50 ms, the chosen ones longer by a stall."""
    return slots | {"elapsed_ns": slots["elapsed_ns"] + np.where(chosen, STALL_NS, 0.0)}


def of(slots: Slots, target: str) -> np.ndarray:
    return np.asarray((slots["target"] == target) & (slots["test"] == "t0"))


def judged(slots: Slots, drains: list[dict[str, Any]] | None = None) -> tuple[list[Finding], list[Finding]]:
    """Findings by rows alone, and as they are after the check."""
    findings = assess(block_values(lay_out(slots, "a"), SMOOTH), SMOOTH, LOOKS)
    checked = check_whole_work(
        findings, judge_whole_work(whole_work_values(lay_out(slots, "a"), drains or []), LOOKS, {})
    )
    assert [finding.key for finding in checked] == [finding.key for finding in findings]
    return findings, checked


def only(findings: list[Finding], metric: str) -> Finding:
    (found,) = [finding for finding in findings if (finding.test, finding.metric) == ("t0", metric)]
    return found


@pytest.mark.parametrize(
    ("target", "change", "words"),
    [
        ("b", Verdict.REGRESSION, "over all its work −45 %: single slots were slow"),
        ("a", Verdict.IMPROVEMENT, "over all its work +83 %: single slots of the base were slow"),
    ],
)
def test_what_stalls_in_few_slots_is_a_change_and_says_where(target: str, change: Verdict, words: str) -> None:
    slots = make_slots(tests=6, blocks=6, rows=ROWS)
    slots["ops"] = np.full(len(slots["ops"]), 1000.0)
    by_rows, checked = judged(stalled(slots, of(slots, target) & (slots["row"] % 12 == 5)))
    assert only(by_rows, THROUGHPUT).verdict is Verdict.EQUIVALENT
    finding = only(checked, THROUGHPUT)
    assert (finding.verdict, finding.whole_work, finding.fresh_blocks) == (change, change, 2)
    assert finding.note == f"equivalent in the middle half of its rows (±0 %); {words}; measured again"
    verdict, sentence = headline([finding for finding in checked if finding.test == "t0"])
    assert verdict is change
    assert "throughput" in sentence and "over all its work" in sentence
    first = {name: column[slots["block"] < 4] for name, column in slots.items()}
    unconfirmed = judged(stalled(first, of(first, target) & (first["row"] % 12 == 5)))[1]
    assert only(unconfirmed, THROUGHPUT).verdict is change
    assert "t0" in decided_tests(checked) and "t0" not in decided_tests(unconfirmed)


def test_what_is_not_certain_withholds_the_verdict_and_says_both() -> None:
    row = only(judged(make_slots(tests=6, blocks=4, rows=ROWS))[0], THROUGHPUT)
    whole = replace(row, verdict=Verdict.REGRESSION, ratio=0.8, p_value=1e-3, q_value=0.04)
    (finding,) = check_whole_work([row], {row.key: whole})
    assert (finding.verdict, finding.whole_work) == (Verdict.UNDECIDED, Verdict.REGRESSION)
    assert (
        finding.note == "equivalent in the middle half of its rows; over all its work −20.0 %: single slots were slow"
    )
    assert (finding.ratio, finding.low, finding.q_value) == (row.ratio, row.low, row.q_value)
    assert finding.note in headline([finding])[1]
    (certain,) = check_whole_work([row], {row.key: replace(whole, q_value=0.02)})
    assert (certain.verdict, certain.ratio) == (Verdict.REGRESSION, 0.8)


def test_what_fresh_blocks_do_not_bear_out_is_no_change() -> None:
    row = only(judged(make_slots(tests=6, blocks=4, rows=ROWS))[0], THROUGHPUT)
    refuted = replace(row, verdict=Verdict.UNDECIDED, ratio=0.9, p_value=1e-3, q_value=0.01, fresh_blocks=2)
    (finding,) = check_whole_work([row], {row.key: refuted})
    assert finding.verdict is Verdict.UNDECIDED and finding.ratio == row.ratio


@pytest.mark.parametrize("verdict", [Verdict.UNDECIDED, Verdict.UNSTABLE, Verdict.NO_STEADY_STATE])
def test_what_rows_leave_open_all_work_may_decide(verdict: Verdict) -> None:
    row = replace(only(judged(make_slots(tests=6, blocks=4, rows=ROWS))[0], THROUGHPUT), verdict=verdict)
    whole = replace(row, verdict=Verdict.REGRESSION, ratio=0.8, p_value=1e-5, q_value=1e-3)
    (finding,) = check_whole_work([row], {row.key: whole})
    decides = verdict in (Verdict.UNDECIDED, Verdict.UNSTABLE)
    assert finding == row or decides
    assert (finding.verdict is Verdict.REGRESSION) == decides
    (unsure,) = check_whole_work([row], {row.key: replace(whole, q_value=0.04)})
    assert unsure == row


def test_cpu_of_single_slots_and_of_what_was_left_to_do_counts_too() -> None:
    slots = make_slots(tests=6, blocks=4, rows=ROWS)
    costly = slots | {"server_cpu_ns": slots["server_cpu_ns"] * np.where(of(slots, "b") & (slots["row"] == 3), 9, 1)}
    left = [drained(name, cpu, block=block) for block in range(4) for name, cpu in (("a", 1.0), ("b", 6.0))]
    for findings, checked in (judged(costly), judged(slots, left)):
        assert only(findings, CPU).verdict is Verdict.EQUIVALENT
        assert only(checked, CPU).verdict is Verdict.REGRESSION
        assert "left to do after the test, cost more; not measured again" in only(checked, CPU).note
        assert only(checked, THROUGHPUT).verdict is Verdict.EQUIVALENT


def test_a_change_stays_what_it_is_and_says_where_all_work_is_another() -> None:
    slots = make_slots(tests=6, blocks=4, rows=ROWS)
    slots["ops"] = slots["ops"] * np.where(of(slots, "b"), 0.5, 1.0)
    findings, checked = judged(stalled(slots, of(slots, "b") & (slots["row"] % 6 == 5)))
    row, told = only(findings, THROUGHPUT), only(checked, THROUGHPUT)
    assert row.verdict is Verdict.REGRESSION and row.ratio == pytest.approx(0.5, rel=0.02)
    assert told == replace(row, note=told.note)
    assert told.note.startswith(f"{row.note}; a typical slot 0.49") and told.note.endswith(": single slots were slow")
    assert ", the total 0.18" in told.note
    assert [one for one in checked if one.key != row.key] == [one for one in findings if one.key != row.key]
    alike = replace(row, ratio=0.4, low=0.3, high=0.6, p_value=1e-9, q_value=1e-8)
    assert check_whole_work([row], {row.key: alike}) == [row]
    less = replace(alike, ratio=0.8, low=0.7, high=0.9)
    (told,) = check_whole_work([row], {row.key: less})
    assert told.note.endswith(", the total 0.800 [0.700, 0.900]: single slots of the base were slow")


@pytest.mark.parametrize(
    ("metric", "ratio", "total", "words"),
    [
        (
            CPU,
            0.94,
            1.11,
            "a typical slot is cheaper, 0.940 [0.912, 0.968], but the total dearer, 1.110 [1.077, 1.143]",
        ),
        (
            CPU,
            1.06,
            0.90,
            "a typical slot is dearer, 1.060 [1.028, 1.092], but the total cheaper, 0.900 [0.873, 0.927]",
        ),
        (
            THROUGHPUT,
            1.1,
            0.9,
            "a typical slot is faster, 1.100 [1.067, 1.133], but the total slower, 0.900 [0.873, 0.927]",
        ),
    ],
)
def test_a_change_that_all_work_contradicts_is_undecided_with_both_figures(
    metric: str, ratio: float, total: float, words: str
) -> None:
    row = only(judged(make_slots(tests=6, blocks=4, rows=ROWS))[0], metric)
    by_rows, by_total = (
        replace(row, verdict=told, ratio=value, low=0.97 * value, high=1.03 * value, p_value=0.05, q_value=0.3)
        for told, value in ((change_of(metric, ratio), ratio), (Verdict.UNDECIDED, total))
    )
    (finding,) = check_whole_work([by_rows], {row.key: by_total})
    assert (finding.verdict, finding.whole_work) == (Verdict.UNDECIDED, change_of(metric, total))
    assert finding.note == words and words in headline([finding])[1]
    by_chance, small = replace(by_total, p_value=0.051), replace(by_total, ratio=1.0)
    for stands in (by_chance, small):
        (finding,) = check_whole_work([by_rows], {row.key: stands})
        assert finding.verdict is by_rows.verdict and ", the total " in finding.note


def change_of(metric: str, ratio: float) -> Verdict:
    return Verdict.REGRESSION if (ratio > 1) == (metric == CPU) else Verdict.IMPROVEMENT


def one_of(rng: np.random.Generator, verdicts: tuple[Verdict, ...]) -> Verdict:
    return verdicts[rng.integers(len(verdicts))]


def test_no_verdict_opposes_a_significant_total() -> None:
    """Of any verdict of the rows, and any total."""
    rng = np.random.default_rng(8)
    known = {metric: only(judged(make_slots(tests=6, blocks=4, rows=ROWS))[0], metric) for metric in (CPU, THROUGHPUT)}
    opposed, told = 0, 0
    for _ in range(3000):
        row = known[str(rng.choice((CPU, THROUGHPUT)))]
        ratio, total = np.exp(rng.normal(0, 0.1, 2)).tolist()
        p_value, q_value, reach = rng.random() ** 3, rng.random() ** 3, 1 + rng.exponential(0.05)
        by_rows, by_total = (
            replace(
                row, verdict=one_of(rng, (change_of(row.metric, value), *NO_CHANGES)), ratio=value, low=value / reach,
                high=value * reach, p_value=p_value, q_value=q_value,
            )
            for value in (ratio, total)
        )  # fmt: skip
        (finding,) = check_whole_work([by_rows], {row.key: by_total})
        is_significant = p_value <= 0.05 and max(total, 1 / total) > 1 + row.margin
        against = ({*CHANGES} - {change_of(row.metric, total)}).pop()
        opposed += is_significant and by_rows.verdict is against
        told += finding.verdict in CHANGES
        assert not (is_significant and finding.verdict is against)
        assert finding.verdict not in CHANGES or finding.verdict is change_of(row.metric, finding.ratio or 1)
    assert opposed > 50 and told > 500


def through_looks(slots: Slots, *, check: bool = True) -> list[Finding]:
    """Findings of an experiment on these slots, in which settled tests retire; without the `check`, by rows alone."""
    rows, work = block_values(lay_out(slots, "a"), SMOOTH), whole_work_values(lay_out(slots, "a"), [])

    def judge(blocks: Mapping[str, int]) -> list[Finding]:
        findings, whole = (
            assess([value for value in values if value.block < blocks[value.test]], SMOOTH, LOOKS)
            for values in (rows, work)
        )
        return check_whole_work(findings, {finding.key: finding for finding in whole} if check else {})

    return take_looks(judge, {value.test for value in rows}, LOOKS, decided_tests).findings


@pytest.mark.parametrize("share", [0.002, 0.02])
def test_stalls_of_the_host_cost_equal_tests_their_equivalence_in_at_most_two_percent(share: float) -> None:
    """`share` of all slots, of any target, take eleven times as long."""
    rng = np.random.default_rng(5)
    equivalent, lost = 0, 0
    for seed in range(8):
        slots = make_slots(tests=42, blocks=12, rows=ROWS, seed=seed)
        found = through_looks(stalled(slots, rng.random(len(slots["ops"])) < share))
        throughput = [finding for finding in found if finding.metric == THROUGHPUT]
        equivalent += sum(finding.verdict is Verdict.EQUIVALENT for finding in throughput)
        lost += sum(finding.whole_work is not None for finding in throughput)
    assert equivalent + lost == 8 * 42
    assert lost <= 0.02 * 8 * 42


@pytest.mark.parametrize("tests", [1, 8, pytest.param(42, marks=pytest.mark.slow)])
@pytest.mark.parametrize("host", [0.0, 0.005])
def test_a_target_that_stalls_in_one_of_six_slots_is_not_called_equivalent(tests: int, host: float) -> None:
    """At random in each slot, so that some blocks have more of it and some less; `host`: stalls that hit all targets."""
    rng = np.random.default_rng(6)
    by_rows, after = 0, 0
    for seed in range(20):
        slots = make_slots(tests=tests, blocks=12, rows=ROWS, seed=seed)
        slots = stalled(slots, rng.random(len(slots["ops"])) < np.where(of(slots, "b"), 1 / 6, host))
        by_rows += only(through_looks(slots, check=False), THROUGHPUT).verdict is Verdict.EQUIVALENT
        after += only(through_looks(slots), THROUGHPUT).verdict is Verdict.EQUIVALENT
    assert by_rows > 10
    assert after <= 2


def in_bursts(slots: Slots, rng: np.random.Generator) -> Slots:
    """Of b, in test t0: two of every twenty slots in a row are twice as dear, beginning anywhere."""
    start = rng.integers(0, 20, int(slots["block"].max()) + 1)[slots["block"].astype(int)]
    hit = of(slots, "b") & ((slots["row"] + start) % 20 < 2)
    return slots | {"server_cpu_ns": slots["server_cpu_ns"] * np.where(hit, 2, 1)}


def heavy_tailed(slots: Slots, rng: np.random.Generator) -> Slots:
    """CPU of slots as on a busy host: Student's t with three degrees of freedom, some 8 % of standard deviation."""
    noise = 0.08 / np.sqrt(3) * rng.standard_t(3, len(slots["ops"]))
    return slots | {"server_cpu_ns": slots["server_cpu_ns"] * np.exp(np.clip(noise, -1, 1))}


@pytest.mark.slow
def test_bursts_are_found_and_nothing_else_is() -> None:
    """50 ms of every 500 ms twice as dear: in most blocks the midmean over rows has nothing of it."""
    rng = np.random.default_rng(7)
    found, by_rows, false, suites = 0, 0, 0, 40
    for seed in range(suites):
        slots = heavy_tailed(make_slots(tests=12, blocks=12, rows=36, seed=seed), rng)
        bursts = in_bursts(slots, rng)
        by_rows += only(through_looks(bursts, check=False), CPU).verdict is Verdict.REGRESSION
        found += only(through_looks(bursts), CPU).verdict is Verdict.REGRESSION
        false += any(finding.verdict in CHANGES for finding in through_looks(slots))
    assert by_rows <= 0.1 * suites
    assert found >= 0.9 * suites
    assert false <= 0.05 * suites


@pytest.mark.parametrize(("ratio", "p_value"), [(0.965, 1e-4), (1.035, 1e-4), (0.8, 0.06), (0.8, None), (None, None)])
def test_all_work_within_the_margin_or_by_chance_contradicts_nothing(
    ratio: float | None, p_value: float | None
) -> None:
    """A real change under the margin is called one where the interval is wide, as that of all work is."""
    findings, _ = judged(make_slots(tests=6, blocks=4, rows=ROWS))
    row = only(findings, THROUGHPUT)
    whole = replace(row, verdict=Verdict.REGRESSION, ratio=ratio, p_value=p_value)
    assert row.verdict is Verdict.EQUIVALENT
    assert check_whole_work([row], {row.key: whole}) == [row]
