"""Spread within and between blocks, found again in data that was made with a known one."""

import importlib
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

variance: Any = importlib.import_module("tuning.variance")

Columns = dict[str, npt.NDArray[Any]]


def made_columns(tests: int, blocks: int, rows: int, between: float, within: float, seed: int = 1) -> Columns:
    """Slots of two equal targets whose CPU per op differs by normal noise, common to a block and of each row."""
    rng = np.random.default_rng(seed)
    shape = tests, blocks, rows
    noise = rng.normal(0, between, (tests, blocks, 1)) + rng.normal(0, within, shape)
    test, block, row = (part.ravel() for part in np.indices(shape))
    cpu_ns = np.concatenate((np.full(noise.size, 50e6), 50e6 * np.exp(noise.ravel())))
    target = np.array(["base"] * noise.size + ["other"] * noise.size, dtype=object)
    return {
        "test": np.array([f"test{number}" for number in np.tile(test, 2)], dtype=object),
        "target": target,
        "block": np.tile(block, 2),
        "row": np.tile(row, 2),
        "disturbed": np.zeros(2 * noise.size, dtype=bool),
        "server_cpu_ns": cpu_ns,
        "elapsed_ns": cpu_ns * 1.1,
        "ops": np.full(2 * noise.size, 1000),
    }


def test_components_are_found_again() -> None:
    columns = made_columns(tests=40, blocks=12, rows=32, between=0.01, within=0.04)
    rng = np.random.default_rng(2)
    seen = variance.variances_by_rows(columns, "base", "server_cpu_us_per_op", [4, 8, 16, 32], 5, rng)
    assert len(seen) == 40
    pooled = {size: float(np.mean([by_rows[size] for by_rows in seen.values()])) for size in (4, 8, 16, 32)}
    found = variance.fit_components(pooled)
    assert math.sqrt(found.between) == pytest.approx(0.01, rel=0.15)
    # the midmean of normal values is a little less sharp than their mean
    assert 1.0 < found.within / 0.04**2 < 1.5


def test_exact_variances_give_exact_components() -> None:
    truth = variance.Components(4e-4, 9e-3)
    found = variance.fit_components({rows: truth.variance(rows) for rows in (4, 8, 20, 60)})
    assert (found.between, found.within) == pytest.approx((4e-4, 9e-3))


def test_a_part_never_goes_below_zero() -> None:
    found = variance.fit_components({4: 1.0, 8: 0.4, 16: 0.1})
    assert found.between == 0 and found.within > 0


@given(st.floats(1e-6, 1e-2), st.floats(1e-6, 1e-2), st.floats(0.05, 50), st.floats(0.01, 5), st.floats(0.2, 5.0))
def test_no_other_number_of_rows_gives_more_for_the_time(
    between: float, within: float, block_s: float, row_s: float, factor: float
) -> None:
    one = variance.Components(between, within)
    best = one.best_rows(block_s, row_s)
    least = one.variance_minutes(best, block_s, row_s)
    assert least <= one.variance_minutes(best * factor, block_s, row_s) * (1 + 1e-9)


def test_without_spread_between_starts_rows_are_never_enough() -> None:
    assert variance.Components(0.0, 1e-3).best_rows(1, 0.1) == math.inf
    assert variance.Components(1e-3, 0.0).best_rows(1, 0.1) == 1


def test_rows_are_drawn_in_whole_cycles() -> None:
    columns = made_columns(tests=2, blocks=3, rows=10, between=0, within=0.01)
    mask = variance.choose_rows(columns, 4, np.random.default_rng(3))
    for test in ("test0", "test1"):
        for block in range(3):
            here = mask & (columns["test"] == test) & (columns["block"] == block)
            chosen = sorted(columns["row"][here & (columns["target"] == "base")])
            assert chosen == sorted(columns["row"][here & (columns["target"] == "other")])
            assert len(chosen) == 4
            assert {row // 2 for row in chosen} == {chosen[0] // 2, chosen[2] // 2}


def test_blocks_with_too_few_rows_give_none() -> None:
    columns = made_columns(tests=1, blocks=4, rows=6, between=0, within=0.01)
    assert variance.choose_rows(columns, 8, np.random.default_rng(1)).sum() == 0
    assert variance.variances_by_rows(columns, "base", "server_cpu_us_per_op", [8], 2, np.random.default_rng(1)) == {}


def test_three_targets_have_a_cycle_of_six_rows() -> None:
    columns = made_columns(tests=1, blocks=2, rows=4, between=0, within=0.01)
    assert variance.cycle_length(columns) == 2
    columns["target"][:4] = "third"
    assert variance.cycle_length(columns) == 6


def test_numbers_of_rows_are_whole_cycles() -> None:
    assert variance.usable_sizes(20, 2) == [2, 4, 6, 8, 12, 16, 20]
    assert variance.usable_sizes(63, 6) == [6, 12, 24, 30, 48, 60]
