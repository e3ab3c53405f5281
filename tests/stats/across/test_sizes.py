"""Sizes of tables as a factor: what the interaction is made of, and how often it is right."""

import numpy as np
import pytest

from dbversus.stats.across.sizes import interaction_margins, interactions, size_of
from dbversus.stats.judging.sequential import LOOKS
from dbversus.stats.judging.verdicts import assess
from dbversus.stats.metrics import CPU, PRIMARY
from dbversus.stats.model import CHANGES, BlockValue, Finding, Verdict


@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("scan@10m", ("scan", 10_000_000)),
        ("scan.pre@100k@4", ("scan.pre@4", 100_000)),
        ("scan@1500rows", ("scan", 1500)),
        ("scan@4", None),
        ("scan", None),
        ("scan@all", None),
    ],
)
def test_the_name_of_a_case(name: str, case: tuple[str, int] | None) -> None:
    assert size_of(name) == case


def value(test: str, block: int, log: float | None, error: float | None = None, rows: int = 10) -> BlockValue:
    return BlockValue(test, "b", CPU, block, log, rows, 0, error)


def test_an_interaction_is_the_difference_within_a_block() -> None:
    values = [value("scan@1k", 0, 0.02, 0.03), value("scan@2m", 0, 0.12, 0.04, rows=8), value("scan@2m", 1, 0.5)]
    values += [value("scan@1k", 2, None), value("scan@2m", 2, 0.5), value("other@2m", 0, 0.5), value("scan", 0, 0.5)]
    (found,) = interactions(values)
    assert (found.test, found.block, found.rows) == ("scan@2m/1k", 0, 8)
    assert found.value == pytest.approx(0.10) and found.error == pytest.approx(0.05)


def test_every_size_is_set_against_the_smallest() -> None:
    values = [value(f"scan@{size}@4", 0, log) for size, log in (("100k", 0.3), ("1500rows", 0.1), ("2m", 0.4))]
    assert {one.test: one.value for one in interactions(values)} == {
        "scan@4@100k/1500rows": pytest.approx(0.2),
        "scan@4@2m/1500rows": pytest.approx(0.3),
    }


def test_margins_are_the_wider_of_both_cases() -> None:
    margins = {("scan@1k", CPU): 0.03, ("scan@2m", CPU): 0.06, ("scan@3m", CPU): 0.02, ("load", CPU): 0.5}
    assert interaction_margins(margins) == {("scan@2m/1k", CPU): 0.06, ("scan@3m/1k", CPU): 0.03}


def judged(rng: np.random.Generator, interaction: float, tests: int = 20, blocks: int = 6) -> list[Finding]:
    """Both sizes differ from the base by 5 %, larger tables by `interaction` more; what a block has is in both."""
    values = []
    for test in range(tests):
        for block in range(blocks):
            shared = rng.normal(0.05, 0.02)
            for size, more in (("1k", 0.0), ("2m", interaction)):
                values.append(value(f"t{test}@{size}", block, shared + more + rng.normal(0, 0.004)))
    return assess(interactions(values), PRIMARY, LOOKS, {})


def test_a_true_interaction_is_found_and_none_is_made_up() -> None:
    rng = np.random.default_rng(11)
    found = judged(rng, 0.08)
    assert all(finding.verdict is Verdict.REGRESSION for finding in found)
    covered = [finding.low <= np.exp(0.08) <= finding.high for finding in found if finding.low and finding.high]
    assert np.mean(covered) >= 0.9 and len(covered) == 20
    none = [finding.verdict for _ in range(10) for finding in judged(rng, 0.0)]
    assert sum(verdict in CHANGES for verdict in none) <= 2
    assert none.count(Verdict.EQUIVALENT) > 150
