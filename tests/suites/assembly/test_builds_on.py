"""Tests that build on others: their order, and what may be left out."""

from pathlib import Path
from typing import Any

import pytest

from dbversus.errors import UsageError
from dbversus.experiment.asked.spec import make_spec
from dbversus.suites.assembly.builds_on import needed
from dbversus.suites.load import load_suite

SUITE = """title = "Mine"
extends = "insert"
[tests."l.x"]
title = "x"
group = "load"
builds_on = ["l.i0"]
statements = ["insert"]
[[phases]]
name = "all"
tests = ["l.i0", "l.x"]
"""


def _read(**choices: Any) -> list[str]:
    spec = make_spec({"targets": ["sqlite:bundled", "sqlite:bundled"], "suite": "insert", **choices})
    return spec.read_suite().sequence[1:]


def test_a_test_needs_those_that_it_builds_on_and_these_need() -> None:
    assert needed(load_suite("insert"), "l.i1") == ["l.i0", "l.x"]
    assert _read(tests="l.i0,l.x") == ["l.i0", "l.x"]


def test_a_test_without_those_that_it_builds_on_is_refused_with_what_is_needed() -> None:
    with pytest.raises(UsageError) as error:
        _read(tests="l.i0,l.i1")
    assert str(error.value) == (
        "test l.i1 builds on l.x, which is not among the tests asked for: --tests l.i0,l.x,l.i1"
    )


def test_a_pass_has_one_number_of_clients() -> None:
    with pytest.raises(UsageError, match="one pass has one number of clients, and 1, 4 are asked for"):
        _read(clients=[1, 4])
    assert _read(clients=[1, 4], tests="l.i0") == ["l.i0"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            '["l.i0"]',
            '["l.i3"]',
            "mine.toml:6: 'l.x' builds on 'l.i3', which is no test before it. Did you mean 'l.i0'? Accepted: l.i0.",
        ),
        ('["l.i0", "l.x"]', '["l.x", "l.i0"]', "mine.toml:6: 'l.x' builds on 'l.i0', which is no test before it"),
    ],
)
def test_what_a_test_builds_on_comes_before_it(tmp_path: Path, old: str, new: str, expected: str) -> None:
    (tmp_path / "mine.toml").write_text(SUITE.replace(old, new, 1))
    with pytest.raises(UsageError) as error:
        load_suite(tmp_path / "mine.toml")
    assert expected in str(error.value)
