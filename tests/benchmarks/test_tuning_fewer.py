"""A calibration judged with fewer rows: what its table says, and the minutes that it would take."""

import importlib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dbversus.results.records import Block
from dbversus.results.stored import Results, Target

from ..journals import header
from .test_tuning_variance import made_columns

clock: Any = importlib.import_module("tuning.clock")
fewer: Any = importlib.import_module("tuning.fewer")

LABELS = ("postgres:17", "postgres:17#2", "postgres:17#3")
TARGETS = tuple(Target(f"t{number}", label, "postgres", "17.11", "base") for number, label in enumerate(LABELS))
TESTS = ("test0", "test1", "test2")
BLOCKS, ROWS = 8, 8


def made_clock(*counted: str) -> Any:
    test_s, row_s, rows = (dict.fromkeys(TESTS, figure) for figure in (1.0, 0.1, ROWS))
    return clock.Clock(12.0, test_s, row_s, rows, frozenset(counted))


def made_results() -> Results:
    """Of a base and its twin that hardly differ."""
    columns = made_columns(len(TESTS), BLOCKS, ROWS, between=1e-3, within=2e-3)
    columns["target"] = np.where(columns["target"] == "base", *LABELS[:2]).astype(object)
    blocks = [Block(block, "finished") for block in range(BLOCKS)]
    return Results(Path("none"), header(), TARGETS[:2], TESTS, tuple(blocks), {}, columns)


@pytest.mark.slow
def test_quiet_targets_are_settled_at_the_first_look_with_any_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fewer, "read_clock", lambda results: made_clock())
    lines = fewer.report(made_results(), suites=4, seed=1).splitlines()[2:6]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    assert [line[0] for line in cells] == ["2", "4", "6", "8"]
    for line in cells:
        assert (line[1], line[3]) == ("3, 4, 6, 8", "100%")
        assert line[2] == f"{3 * (12 + 3 * (1 + 0.1 * int(line[0]))) / 60:.1f}"
        assert line[4].startswith("0.0% [0.0, ") and line[6] == "100%"


def test_minutes_are_those_of_two_targets_with_what_is_run_again() -> None:
    """test0 changes data, so it is run in all blocks in which test1 is."""
    played = SimpleNamespace(blocks=(4, 6, 4))
    minutes = fewer.minutes_of(played, TESTS, made_clock("test0"), ROWS, targets=3)
    assert minutes == pytest.approx(2 / 3 * (4 * (12 + 3 * 1.8) + 2 * (12 + 2 * 1.8)) / 60)


def test_the_target_that_was_slowed_down_is_left_out() -> None:
    twins = made_results()
    third = {name: column[twins.slots["target"] == LABELS[0]] for name, column in twins.slots.items()}
    third["target"] = np.full(len(third["row"]), LABELS[2], dtype=object)
    slots = {name: np.concatenate((column, third[name])) for name, column in twins.slots.items()}
    equal = fewer.equal_targets(replace(twins, targets=TARGETS, slots=slots))
    assert equal.targets == TARGETS[:2]
    assert set(equal.slots["target"]) == set(LABELS[:2]) and len(equal.slots["row"]) == len(twins.slots["row"])
