"""Answers of two targets: the same, or near enough where the suite says so."""

from pathlib import Path
from typing import Any

import pytest

from dbversus.experiment.cell.answers import same_answers
from dbversus.suites import Statement, load_suite

SUITE = """title = "Sums"
[tables.t]
columns = { id = { type = "int4", values = { gen = "sequence" } } }
[tests.sums]
title = "t"
group = "range"
statements = [
  { name = "exact", sql = "SELECT 1" },
  { name = "near", sql = "SELECT 2", answers = { tolerance = 1e-6 } },
  { name = "any", sql = "SELECT id FROM t ORDER BY id", answers = "set" },
]
[[phases]]
name = "p"
tests = ["sums"]
"""


@pytest.fixture
def statements(tmp_path: Path) -> tuple[Statement, ...]:
    (tmp_path / "sums.toml").write_text(SUITE)
    return load_suite(tmp_path / "sums.toml").tests["sums"].statements


def reply(near: list[float], checksum: str = "9f", affected: int = 0) -> dict[str, Any]:
    statements = [{"name": "exact"}, {"name": "near", "numbers": near}, {"name": "any"}]
    return {"rows": 3, "affected": affected, "checksum": checksum, "statements": statements}


def test_numbers_may_differ_by_the_tolerance(statements: tuple[Statement, ...]) -> None:
    one = reply([1e9, 0.0])
    assert same_answers(one, reply([1e9 + 1, 1e-7]), statements)
    assert not same_answers(one, reply([1e9 + 2000, 0.0]), statements)
    assert not same_answers(one, reply([1e9, 1e-5]), statements)


def test_all_else_has_to_be_the_same(statements: tuple[Statement, ...]) -> None:
    one = reply([1.0])
    assert same_answers(one, reply([1.0]), statements)
    assert not same_answers(one, reply([1.0], checksum="8f"), statements)
    assert not same_answers(one, reply([1.0], affected=1), statements)
