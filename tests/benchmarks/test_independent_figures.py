"""Shares, intervals and tables of runs whose outcome is known."""

import importlib
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.stats import binomtest

from dbversus.stats.metrics import CPU, THROUGHPUT
from dbversus.stats.model import Finding, Verdict

outcome: Any = importlib.import_module("independent_runs.outcome")
plan: Any = importlib.import_module("independent_runs.plan")
shares: Any = importlib.import_module("independent_runs.shares")
tables: Any = importlib.import_module("independent_runs.tables")

EQUIVALENT, REGRESSION, UNSTABLE = Verdict.EQUIVALENT, Verdict.REGRESSION, Verdict.UNSTABLE


def finding(metric: str, verdict: Verdict, ratio: float = 1.0) -> Finding:
    return Finding(
        "scan", "copy", metric, verdict, ratio, ratio - 0.01, ratio + 0.01, 0.98, 4, 0.5, 0.5, 0.03, 0.02, 0.01, 9.0
    )


def made_test(name: str, verdict: Verdict = EQUIVALENT, cpu: float = 1.0, **more: Any) -> Any:
    findings = {CPU: finding(CPU, verdict, cpu), THROUGHPUT: finding(THROUGHPUT, EQUIVALENT)}
    return outcome.TestOutcome(name, verdict, findings, **more)


def made_run(kind: str, number: int, tests: list[Any], minutes: float | None = 2.5) -> Any:
    return outcome.Outcome(plan.Run(kind, "postgres", number), "postgres 17.11", minutes, tests)


def cells(table: str, line: int = 0) -> list[str]:
    return [cell.strip() for cell in table.splitlines()[2 + line].strip("|").split("|")]


def groups_of(runs: list[Any]) -> Any:
    return {runs[0].group: runs}


def test_independent_tests_have_about_the_interval_of_clopper_and_pearson() -> None:
    rng = np.random.default_rng(1)
    hits = rng.random((200, 5)) < 0.8
    found = shares.clustered_share(hits.tolist())
    exact = binomtest(int(hits.sum()), hits.size).proportion_ci(0.95, method="exact")
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=0.01)


def test_tests_that_go_together_count_as_one() -> None:
    hits = [[True] * 10] * 15 + [[False] * 10] * 5
    found = shares.clustered_share(hits)
    exact = binomtest(15, 20).proportion_ci(0.95, method="exact")
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=0.03)


def test_a_share_of_all_or_nothing_is_not_certain() -> None:
    everything, nothing = (shares.clustered_share([[hit] * 4] * 12) for hit in (True, False))
    assert everything.estimate == everything.high == 1 and 0.85 < everything.low < 0.95
    assert nothing.estimate == nothing.low == 0 and nothing.high == pytest.approx(1 - everything.low)


@pytest.mark.parametrize("share", [0.5, 0.85, 0.97])
@pytest.mark.parametrize("alike", [0.02, 0.2])
def test_intervals_hold_the_truth_when_suites_differ(share: float, alike: float) -> None:
    """Twelve suites of four tests; `alike` is the correlation of tests of a suite (beta-binomial)."""
    rng, strength = np.random.default_rng(3), 1 / alike - 1
    held = 0
    for _ in range(400):
        of_suites = rng.beta(share * strength, (1 - share) * strength, 12)
        found = shares.clustered_share((rng.random((12, 4)) < of_suites[:, None]).tolist())
        held += found.low <= share <= found.high
    assert held / 400 >= 0.93


def test_one_cluster_has_a_share_without_an_interval_and_none_has_nothing() -> None:
    assert shares.percent(shares.clustered_share([[True, False], []])) == "50.0 %"
    assert shares.percent(shares.clustered_share([[]])) == "–"


def test_any_change_of_an_equal_test_is_an_alarm() -> None:
    quiet = made_run("quick", 1, [made_test("scan"), made_test("insert", UNSTABLE)])
    alarmed = made_run("quick", 2, [made_test("scan", REGRESSION, 1.05), made_test("insert")], minutes=None)
    slowed = made_run("quick", 3, [made_test("scan", REGRESSION, 1.05, asked=0.05), made_test("insert")], minutes=4)
    groups = groups_of([quiet, alarmed, slowed])
    assert cells(tables.runs_table(groups)) == [
        "quick", "postgres 17.11", "3", "3.2 [2.5–4.0]", "1", "33.3 % [0.8, 90.6]", "scan",
    ]  # fmt: skip
    shown = cells(tables.verdicts_table(groups))
    assert shown[2] == "5" and shown[3].startswith("60.0 % [") and shown[4:6] == ["20.0 %", "20.0 %"]
    assert shown[6].startswith("80.0 % [")  # CPU per operation has a verdict, be it a false one
    (line,) = tables.alarm_lines([quiet, alarmed, slowed])
    assert line == f"- quick-postgres-002, scan: {CPU} 1.050 [1.040, 1.060] regression"


def test_found_and_covered_are_of_what_was_truly_added() -> None:
    truth = math.log1p(0.04)
    found = made_test("scan", REGRESSION, 1.045, asked=0.05, truth=truth)
    missed = made_test("insert", EQUIVALENT, 1.02, asked=0.05, truth=truth)
    equal = made_test("delete", EQUIVALENT, 1.005)
    unknown = replace(equal, truth=None)
    runs = [made_run("standard", number, [found, missed, equal, unknown]) for number in range(1, 13)]
    table = tables.injected_table(groups_of(runs))
    five, nothing = (cells(table, line) for line in range(2))
    assert five[2:5] == ["+ 5 %", "+4.00 % (+4.00 to +4.00)", "24"]
    assert five[5].startswith("50.0 % [") and five[6] == five[5]  # 1.01 to 1.03 does not hold 1.04
    assert five[7] == "-0.72 % (-1.92 to +0.48)"
    assert nothing[2:6] == ["nothing", "0", "24", "–"] and nothing[6].startswith("100.0 % [")
    line = next(iter(tables.missed_lines(runs)))
    assert line == (
        f"- standard-postgres-001, insert: + 5 % asked, +4.0 % added; {CPU} 1.020 [1.010, 1.030] equivalent"
    )


def run_with(errors: np.ndarray, number: int = 1) -> Any:
    """Errors: tests × blocks."""
    of_tests = {f"t{test}": dict(enumerate(map(float, of_blocks))) for test, of_blocks in enumerate(errors)}
    return replace(made_run("fine", number, [made_test("scan")]), errors=of_tests)


def test_where_all_blocks_have_all_tests_the_bias_has_the_interval_of_their_means() -> None:
    errors = np.random.default_rng(1).normal(0.002, 0.01, (10, 8))
    found = tables.bias([run_with(errors)])
    exact = stats.ttest_1samp(errors.mean(axis=0), 0.0).confidence_interval(0.95)
    assert (found.estimate, found.low, found.high) == pytest.approx((errors.mean(), exact.low, exact.high))


def test_what_befalls_a_block_is_in_the_interval_of_the_bias() -> None:
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(200):
        errors = rng.normal(0, 0.01, (42, 12)) + rng.normal(0, 0.003, 12)
        run = run_with(errors)
        for test in range(20):  # decided after four blocks
            run.errors[f"t{test}"] = {block: run.errors[f"t{test}"][block] for block in range(4)}
        found = tables.bias([run])
        held += found.low <= 0.0 <= found.high
    assert held >= 180, held


def test_the_bias_of_runs_is_shown_in_percent() -> None:
    runs = [run_with(np.full((2, 2), value), number) for number, value in ((1, 0.001), (2, 0.003))]
    line = tables.bias_table(groups_of(runs)).splitlines()[2]
    assert "| fine | postgres 17.11 | 4 | +0.20 % [" in line


def test_the_report_has_a_part_on_slowdowns_where_there_are_any() -> None:
    equal = made_run("busy", 1, [made_test("scan")])
    slowed = made_run("standard", 1, [made_test("scan", REGRESSION, 1.05, asked=0.05, truth=0.048)])
    assert "Truly added" not in tables.report([equal])
    text = tables.report([equal, slowed])
    assert "Truly added" in text and "| busy |" in text and "| standard |" in text
