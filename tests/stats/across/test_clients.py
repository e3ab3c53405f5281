"""Numbers of clients taken together: what counts, and how often it is right."""

import numpy as np
import pytest

from dbversus.stats.across.clients import case_of, growth, pooled_margins, pooled_over_clients
from dbversus.stats.judging.sequential import LOOKS
from dbversus.stats.judging.verdicts import assess, decided
from dbversus.stats.metrics import CPU, IO_BYTES, PRIMARY, THROUGHPUT
from dbversus.stats.model import BlockValue, Finding, Verdict

CLIENTS = (1, 2, 4)
CHANGES = (Verdict.REGRESSION, Verdict.IMPROVEMENT)


@pytest.mark.parametrize(
    ("name", "case"),
    [("scan@4", ("scan", 4)), ("scan", None), ("odd@name", None), ("a@b@16", ("a@b", 16)), ("scan@all", None)],
)
def test_the_name_of_a_case(name: str, case: tuple[str, int] | None) -> None:
    assert case_of(name) == case


def value(
    test: str, block: int, log: float | None, metric: str = CPU, rows: int = 10, disturbed: int = 0
) -> BlockValue:
    return BlockValue(test, "b", metric, block, log, rows, disturbed)


def test_a_block_has_the_mean_over_its_numbers_of_clients() -> None:
    (pooled,) = pooled_over_clients([value("scan@1", 0, 0.02, disturbed=1), value("scan@2", 0, 0.06, rows=8)])
    assert pooled == BlockValue("scan@all", "b", CPU, 0, pooled.value, 18, 1)
    assert pooled.value == pytest.approx(0.04)


def test_only_blocks_with_every_number_of_clients_count() -> None:
    """A case that was retired, or lost all its rows, would change what the mean is of."""
    values = [value("scan@1", 0, 0.02), value("scan@2", 0, 0.02), value("scan@2", 1, 0.9), value("other@2", 0, 0.5)]
    values += [value("scan@1", 2, 0.4), value("scan@2", 2, None, rows=0)]
    pooled = pooled_over_clients(values)
    assert [(v.test, v.block) for v in pooled] == [("scan@all", 0), ("other@all", 0)]
    assert [v.value for v in pooled] == [pytest.approx(0.02), pytest.approx(0.5)]


def test_nothing_to_compare_is_no_difference_or_nothing_at_all() -> None:
    some = [value("scan@1", 0, None, IO_BYTES), value("scan@2", 0, 0.3, IO_BYTES)]
    assert pooled_over_clients(some)[0].value == pytest.approx(0.15)
    none = [value("scan@1", 0, None, IO_BYTES), value("scan@2", 0, None, IO_BYTES)]
    assert pooled_over_clients(none)[0].value is None


def test_tests_with_one_number_of_clients_are_left_aside() -> None:
    assert pooled_over_clients([value("scan", 0, 0.1)]) == []


def test_margins_are_the_widest_of_the_cases() -> None:
    margins = {("scan@1", CPU): 0.03, ("scan@4", CPU): 0.06, ("load", CPU): 0.5}
    assert pooled_margins(margins) == {("scan@all", CPU): 0.06}


def test_growth_is_of_blocks_that_both_have() -> None:
    ratio = growth({0: 1.0, 1: 1.2, 2: 1.7, 5: 9.0}, {0: 0.4, 1: 0.7, 2: 1.0, 3: 7.0})
    assert ratio is not None
    assert ratio.value == pytest.approx(np.exp(0.6))
    assert ratio.blocks == 3
    assert ratio.low is not None and ratio.high is not None and ratio.low < np.exp(0.6) < ratio.high
    assert growth({0: 1.0}, {1: 1.0}) is None
    single = growth({0: 1.0}, {0: 1.0})
    assert single is not None and (single.value, single.low) == (1.0, None)


def suite(rng: np.random.Generator, tests: int, blocks: int, changes: dict[int, float]) -> list[BlockValue]:
    """Equal tests but for `changes` (of ln CPU per op); numbers of clients share half of a block's noise."""
    values = []
    for test in range(tests):
        for metric, sd in ((CPU, 0.015), (THROUGHPUT, 0.015), (IO_BYTES, 0.03)):
            truth = changes.get(test, 0.0) if metric == CPU else 0.0
            shared = rng.normal(0, sd / np.sqrt(2), blocks)
            for clients in CLIENTS:
                logs = truth + shared + rng.normal(0, sd / np.sqrt(2), blocks)
                values += [value(f"t{test}@{clients}", b, float(log), metric) for b, log in enumerate(logs)]
    return values


def played(values: list[BlockValue]) -> tuple[list[Finding], list[Finding]]:
    """Findings of cases and of tests over all clients, with cases retired as in an experiment."""
    retired: dict[str, int] = {}
    seen: list[BlockValue] = []
    for look in LOOKS:
        seen = [v for v in values if v.block < retired.get(v.test, look)]
        for name in decided(assess(seen, PRIMARY)):
            retired.setdefault(name, look)
    return assess(seen, PRIMARY), assess(pooled_over_clients(seen), PRIMARY)


@pytest.mark.slow
def test_false_alarms_of_the_pooled_family_through_all_looks() -> None:
    """At most 5 % of suites of equal tests, with 2.3 standard errors of 60 suites."""
    rng = np.random.default_rng(5)
    alarms = 0
    for _ in range(60):
        _, pooled = played(suite(rng, 14, 12, {}))
        alarms += any(finding.verdict in CHANGES for finding in pooled)
    assert alarms <= 7


def test_together_numbers_of_clients_are_known_better_than_each() -> None:
    """Half of the variance is shared by the three of them: what is left is 2/3 of it."""
    values = suite(np.random.default_rng(6), 40, 12, {})
    spread = {}
    for name, chosen in (("alone", values), ("together", pooled_over_clients(values))):
        found = [f.block_sd for f in assess(chosen, PRIMARY, (12,)) if f.metric == CPU and f.block_sd]
        spread[name] = np.sqrt(np.mean(np.square(found)))
    assert spread["together"] / spread["alone"] == pytest.approx(np.sqrt(2 / 3), rel=0.07)


def test_several_candidates_share_one_family() -> None:
    """Three equal candidates against one base, whose noise is in all their ratios: the promise is for all of them."""
    rng = np.random.default_rng(7)
    alarms = 0
    for _ in range(60):
        values = []
        for test in range(14):
            base = rng.normal(0, 0.011, 12)
            for target in "bcd":
                logs = rng.normal(0, 0.011, 12) - base
                values += [BlockValue(f"t{test}", target, CPU, b, float(log), 60) for b, log in enumerate(logs)]
        alarms += any(finding.verdict in CHANGES for finding in assess(values, PRIMARY))
    assert alarms <= 7
