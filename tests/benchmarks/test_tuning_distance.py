"""Differences of slots by their distance, found again in slots that drift by a known amount."""

import importlib
from typing import Any

import numpy as np
import pytest

distance: Any = importlib.import_module("tuning.distance")

SLOTS, BLOCKS, APART_MS = 400, 6, 27


def made_columns(step_sd: float, affected: int = 0) -> dict[str, Any]:
    """Two targets in turns, the second twice as dear; what they cost walks at random, by `step_sd` from slot to slot."""
    rng = np.random.default_rng(1)
    number = np.tile(np.arange(SLOTS), BLOCKS)
    walk = np.cumsum(rng.normal(0, step_sd, (BLOCKS, SLOTS)), axis=1).ravel()
    order = rng.permutation(len(number))
    columns = {
        "test": np.full(len(number), "read", dtype=object),
        "block": np.repeat(np.arange(BLOCKS), SLOTS),
        "target": np.where(number % 2 == 0, "a", "b").astype(object),
        "row": number // 2,
        "position": number % 2,
        "started_unix_ns": number // 2 * 2 * APART_MS * 10**6,
        "disturbed": np.zeros(len(number), dtype=bool),
        "ops": np.full(len(number), 100),
        "affected": np.full(len(number), affected),
        "server_cpu_ns": 1e6 * np.exp(walk) * (1 + number % 2),
    }
    return {name: column[order] for name, column in columns.items()}


def test_a_random_walk_differs_by_the_root_of_the_distance() -> None:
    found = distance.differences_by_distance(made_columns(0.02))
    assert list(found) == list(distance.DISTANCES)
    for slots, one in found.items():
        assert one.apart_ms == pytest.approx(slots * APART_MS)
        # within two targets a random walk has two medians, so that odd distances differ by a little more
        assert one.sd == pytest.approx(0.02 * slots**0.5, rel=0.25)


def test_tests_that_change_data_tell_nothing() -> None:
    assert distance.differences_by_distance(made_columns(0.02, affected=1)) == {}
    assert distance.table(made_columns(0.02, affected=1)).startswith("Not told")
