"""The sentence for one test and target."""

from dataclasses import replace

import pytest

from dbversus.stats.headline import headline
from dbversus.stats.judgeable import MEAN, P95, P99
from dbversus.stats.metrics import CPU, IO_BYTES, THROUGHPUT
from dbversus.stats.model import Finding, Verdict

R, E, BETTER, U = Verdict.REGRESSION, Verdict.EQUIVALENT, Verdict.IMPROVEMENT, Verdict.UNDECIDED
SMALL = Verdict.SMALL_CHANGE


def finding(metric: str, verdict: Verdict, ratio: float | None = 1.0, note: str = "") -> Finding:
    return Finding(
        "t", "b", metric, verdict, ratio, None, None, 0.98, 4, None, None, 0.05, 0.042, 0.081, None, note=note
    )


def told(
    cpu: Verdict, throughput: Verdict, io: Verdict = E, ratios: tuple[float, float, float] = (1, 1, 1)
) -> tuple[Verdict, str]:
    both = zip((CPU, THROUGHPUT, IO_BYTES), (cpu, throughput, io), ratios, strict=True)
    return headline([finding(*each) for each in both])


@pytest.mark.parametrize(
    ("cpu", "throughput", "verdict", "words"),
    [
        (R, E, R, "more CPU per op, same throughput"),
        (E, R, R, "less throughput at equal CPU per op: waiting (IO, locks)"),
        (R, R, R, "more CPU per op, less throughput"),
        (BETTER, R, R, "less CPU per op, yet less throughput: waiting"),
        (R, BETTER, R, "more CPU per op, yet more throughput: less waiting"),
        (BETTER, E, BETTER, "less CPU per op, same throughput"),
        (E, BETTER, BETTER, "more throughput at equal CPU per op: less waiting"),
        (BETTER, BETTER, BETTER, "less CPU per op, more throughput"),
        (R, U, R, "more CPU per op, throughput undecided (±0 %, a change under 4.2 % could be missed)"),
        (U, BETTER, BETTER, "server CPU per op undecided"),
        (E, E, E, "no change beyond 5 % in server CPU per op, 5 % in throughput"),
        (U, E, U, "server CPU per op undecided"),
    ],
)
def test_cpu_and_throughput_together(cpu: Verdict, throughput: Verdict, verdict: Verdict, words: str) -> None:
    said, sentence = told(cpu, throughput)
    assert said is verdict
    assert words in sentence


def test_changes_are_named_with_their_size() -> None:
    _, sentence = told(R, R, R, (1.051, 0.952, 3.2))
    assert sentence.startswith("server CPU per op +5.1 %, throughput −4.8 %, IO bytes per op ×3.2; more")


@pytest.mark.parametrize(
    ("verdict", "ratio", "low", "high", "words"),
    [
        (R, 1.051, 1.02, 1.083, "+5.1 % (at least +2.0 %)"),
        (BETTER, 0.88, 0.85, 0.911, "−12.0 % (at least −8.9 %)"),
        (R, 3.2, 2.8, 3.7, "×3.2 (at least ×2.8)"),
        (BETTER, 0.002, 0.001, 0.004, "to 1/500 (at least to 1/250)"),
        (R, 1.021, 1.0001, 1.042, "+2.1 % (more than 0 %)"),
        (SMALL, 1.021, 1.015, 1.028, "+2.1 % (within 5 %)"),
    ],
)
def test_a_change_is_one_of_at_least_the_nearer_end(
    verdict: Verdict, ratio: float, low: float, high: float, words: str
) -> None:
    assert headline([replace(finding(CPU, verdict, ratio), low=low, high=high)]) == (
        verdict,
        f"server CPU per op {words}",
    )


@pytest.mark.parametrize(
    ("cpu", "throughput", "verdict", "words"),
    [
        ((SMALL, 1.02), (E, 1.0), SMALL, "slightly more CPU per op, same throughput"),
        ((SMALL, 0.98), (SMALL, 1.02), SMALL, "slightly less CPU per op, slightly more throughput"),
        ((E, 1.0), (SMALL, 0.98), SMALL, "same CPU per op, slightly less throughput"),
        ((R, 1.08), (SMALL, 0.98), R, "more CPU per op, slightly less throughput"),
        ((SMALL, 1.02), (BETTER, 1.1), BETTER, "slightly more CPU per op, more throughput"),
        ((SMALL, 1.02), (U, 0.96), U, "server CPU per op small change (+2.0 %); throughput undecided (−4.0 %"),
    ],
)
def test_small_changes_and_what_is_beside_them(
    cpu: tuple[Verdict, float], throughput: tuple[Verdict, float], verdict: Verdict, words: str
) -> None:
    """A test is a small change where all of it is known to be within the margins."""
    said = headline([finding(CPU, *cpu), replace(finding(THROUGHPUT, *throughput), higher_is_better=True)])
    assert said[0] is verdict and words in said[1]


def test_a_small_change_of_io_is_one_of_the_test_and_open_io_is_mentioned() -> None:
    assert told(E, E, SMALL, (1, 1, 1.02))[0] is SMALL
    verdict, sentence = told(SMALL, E, U, (1.02, 1, 1.03))
    assert verdict is SMALL
    assert sentence.endswith("; IO bytes per op undecided (+3.0 %, a change under 4.2 % could be missed)")


def test_io_alone_makes_a_regression() -> None:
    assert told(E, E, R, (1, 1, 1.2)) == (R, "IO bytes per op +20.0 %; same CPU per op, same throughput")


def test_equivalent_notes_undecided_io() -> None:
    verdict, sentence = told(E, E, U, (1, 1, 1.03))
    assert verdict is E
    assert sentence.endswith("IO bytes per op undecided (+3.0 %, a change under 4.2 % could be missed)")


def test_regression_outweighs_improvement() -> None:
    assert told(E, E, BETTER)[0] is BETTER
    assert told(R, BETTER, BETTER)[0] is R


def test_unstable() -> None:
    verdict, sentence = told(E, Verdict.UNSTABLE)
    assert (verdict, sentence) == (Verdict.UNSTABLE, "throughput unstable (spread between blocks 8.1 %)")


def test_exploratory_findings_and_none_at_all() -> None:
    assert headline([replace(finding(P99, R), judged=False)]) == (U, "not measured")
    assert headline([])[0] is U


def test_a_host_that_cannot_tell_cpu() -> None:
    assert headline([finding(THROUGHPUT, E)])[0] is E
    verdict, sentence = headline([finding(THROUGHPUT, R, 0.9)])
    assert (verdict, sentence) == (R, "throughput −10.0 %")


def test_rows_and_all_work_that_contradict_each_other_are_both_told() -> None:
    stalls = replace(finding(THROUGHPUT, U, note="equivalent …; over all its work −45.0 %"), whole_work=R)
    verdict, sentence = headline([finding(CPU, E), stalls])
    assert (verdict, sentence) == (U, "throughput undecided (equivalent …; over all its work −45.0 %)")
    assert "over all its work −45.0 %" in headline([finding(CPU, R), stalls])[1]


def test_a_change_over_all_its_work_is_called_that() -> None:
    burst = replace(finding(CPU, R, 1.098, note="equivalent in the middle half …"), whole_work=R)
    assert headline([burst, finding(THROUGHPUT, E)]) == (
        R,
        "server CPU per op +9.8 % over all its work; more CPU per op, same throughput; "
        "server CPU per op equivalent in the middle half …",
    )


def times(p99: Verdict, ratio: float = 1.0) -> list[Finding]:
    return [finding(CPU, E), finding(THROUGHPUT, E), finding(P99, p99, ratio)]


def test_a_judged_response_time_has_a_clause_of_its_own() -> None:
    verdict, sentence = headline(times(R, 1.12))
    assert verdict is R
    assert sentence == "99th percentile of response time +12.0 %; same CPU per op, same throughput"
    assert headline(times(E))[1].endswith("5 % in throughput, 5 % in 99th percentile of response time")


def test_a_judged_response_time_that_is_open_leaves_the_test_open() -> None:
    verdict, sentence = headline(times(U, 1.06))
    assert (verdict, sentence) == (
        U,
        "99th percentile of response time undecided (+6.0 %, a change under 4.2 % could be missed)",
    )
    changed = headline([finding(CPU, R, 1.05), finding(THROUGHPUT, E), finding(P99, U, 1.06)])
    assert changed[0] is R and changed[1].endswith("; " + sentence)


@pytest.mark.parametrize(
    ("metric", "verdict", "sentence"),
    [
        (P99, E, "no change beyond 5 % in 99th percentile of response time"),
        (P95, BETTER, "95th percentile of response time −20.0 %"),
        (MEAN, R, "mean response time −20.0 %"),
        (IO_BYTES, E, "no change beyond 5 % in IO bytes per op"),
        (CPU, R, "server CPU per op −20.0 %"),
    ],
)
def test_one_judged_metric_alone(metric: str, verdict: Verdict, sentence: str) -> None:
    exploratory = [replace(finding(name, R), judged=False) for name in (CPU, P99) if name != metric]
    assert headline([*exploratory, finding(metric, verdict, 0.8)]) == (verdict, sentence)


def test_io_alone_has_to_be_equivalent_itself() -> None:
    assert headline([finding(IO_BYTES, U)])[0] is U


def test_too_few_operations_are_told_and_make_no_verdict() -> None:
    few = replace(finding(P99, U, None, "40 operations per block, 10,000 are needed"), judged=False, blocks=0)
    said = "99th percentile of response time not judged: 40 operations per block, 10,000 are needed"
    assert headline([few]) == (U, said)
    verdict, sentence = headline([finding(CPU, E), finding(THROUGHPUT, E), few])
    assert verdict is E and sentence.endswith(f"; {said}")
