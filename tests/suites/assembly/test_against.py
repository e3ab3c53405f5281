"""Tests that are judged against another form of theirs: which they may name, and what both must have in common."""

from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.suites.load import load_suite
from dbversus.suites.model import Suite

SUITE = """title = "Forms"
extends = "sysbench"
[tests.near]
title = "A row and its neighbours"
group = "range"
variants = { n = [1, 9] }
statements = [{ name = "near", sql = "SELECT k FROM sbtest{table} WHERE id = :id", params = { id = "any_id" } }]
[tests.near-text]
title = "The same as text"
group = "range"
variants = { n = [1, 9] }
against = "near"
statements = [{ name = "text", mode = "text", sql = "SELECT k FROM sbtest{table} WHERE id = :id", params = { id = "any_id" } }]
[[phases]]
name = "all"
tests = ["near", "near-text", "update-index"]
suffix = ".one"
[[phases]]
name = "again"
tests = ["near", "near-text"]
"""


def _suite(folder: Path, text: str = SUITE) -> Suite:
    path = folder / "forms.toml"
    path.write_text(text)
    return load_suite(str(path))


def test_a_form_is_against_the_same_variant_in_the_same_phase(tmp_path: Path) -> None:
    found = {name: test.against for name, test in _suite(tmp_path).tests.items() if test.against}
    assert found == {
        "near-text-1.one": "near-1.one",
        "near-text-9.one": "near-9.one",
        "near-text-1": "near-1",
        "near-text-9": "near-9",
    }


def test_a_form_that_is_asked_for_brings_what_it_is_against(tmp_path: Path) -> None:
    chosen = _suite(tmp_path).select("near-text-9")
    assert list(chosen.tests) == ["near-9", "near-text-9"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('against = "near"', 'against = "nar"', "forms.toml:12: 'nar' is no test. Did you mean"),
        ('against = "near"', 'against = "near-text"', "forms.toml:12: test 'near-text-1' is against itself"),
        (
            'group = "range"\nvariants = { n = [1, 9] }\nstatements',
            'group = "range"\nvariants = { n = [1, 9] }\nagainst = "near-text"\nstatements',
            "forms.toml:7: 'near-text-1' is itself against 'near'; several forms are all against the same test",
        ),
        (
            'against = "near"',
            'against = "update-index"',
            "forms.toml:12: 'near-text-1' cannot be judged against 'update-index': 'update-index' changes data",
        ),
        (
            'mode = "text", sql',
            'mode = "text", repeat = 2, sql',
            "forms.toml:12: 'near-text-1' cannot be judged against 'near-1': they draw other values",
        ),
        (
            'against = "near"',
            'against = "near"\ntransaction = true',
            "'near-text-1' cannot be judged against 'near-1': one is a transaction and the other is not",
        ),
        (
            'tests = ["near", "near-text"]',
            'tests = ["near-text"]',
            "forms.toml:12: 'near-text-1' is against 'near-1', which is not in the same phase, 'again'",
        ),
    ],
)
def test_a_form_that_cannot_be_judged_is_refused_with_its_line(
    tmp_path: Path, old: str, new: str, expected: str
) -> None:
    assert old in SUITE
    with pytest.raises(UsageError) as error:
        _suite(tmp_path, SUITE.replace(old, new))
    assert expected in str(error.value)
