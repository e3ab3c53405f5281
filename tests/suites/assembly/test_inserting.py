"""Statements at the ends of a table, and parameters that are rows it has."""

from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.suites.load import load_suite
from dbversus.suites.model import Suite
from dbversus.suites.send.define import definition

SUITE = """title = "Ends"
[tables.t]
rows = "table_size / 2"
primary_key = ["id"]
[tables.t.columns]
id = { type = "int8", values = { gen = "sequence" } }
[tests.go]
title = "Go on"
group = "write"
[[tests.go.statements]]
name = "delete"
sql = "DELETE FROM t WHERE id >= :low AND id < :low + 5"
rows = 5
oldest_of = "t"
params.low = { gen = "row", expr = "row + 1" }
[[tests.go.statements]]
name = "read"
sql = "SELECT id FROM t WHERE id IN (:ids)"
params.ids = { gen = "present", of = "t", count = 3 }
[[phases]]
name = "all"
tests = ["go"]
"""


def _suite(folder: Path, text: str = SUITE) -> Suite:
    (folder / "mine.toml").write_text(text)
    return load_suite(folder / "mine.toml")


def test_the_engine_is_told_the_end_of_the_table_and_the_rows_that_were_loaded(tmp_path: Path) -> None:
    delete, read = definition(_suite(tmp_path).tests["go"], "mysql", 100)["statements"]
    assert delete["rows"] == 5 and delete["params"] == {"low": {"gen": "row", "expr": ["+", "row", 1]}}
    assert (delete["position"]["of"], delete["position"]["end"]) == ("t", "oldest")
    assert read["params"] == {"ids": {"gen": "present", "of": "t", "count": 3, "loaded": 50}}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('oldest_of = "t"', 'oldest_of = "u"', "mine.toml:14: unknown table 'u'. Accepted: t."),
        (
            'oldest_of = "t"',
            'oldest_of = "t"\ninto = "t"\nposition = "after"',
            "mine.toml:14: a statement has `oldest_of`",
        ),
        ('oldest_of = "t"\n', "", "statement 'delete' has `rows`; that is for INSERT"),
        ('of = "t", count', 'of = "tt", count', "mine.toml:19: unknown table 'tt'"),
        ('{ gen = "sequence" }', '{ gen = "present", of = "t" }', "`present` is for parameters of statements"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert old in SUITE
    with pytest.raises(UsageError) as error:
        _suite(tmp_path, SUITE.replace(old, new, 1))
    assert expected in str(error.value)
