"""Statements that keep what they read for others, and statements that are left out."""

from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.suites import definition, load_suite
from dbversus.suites.send.define import Json, literal_statement

SUITE = """\
title = "Orders"
[variables]
every = 100
[tables.t]
columns = { id = { type = "int4", values = { gen = "sequence" } } }

[statements.district]
sql = "SELECT next_id, name, tax FROM district WHERE id = :d"
params = { d = { gen = "uniform", low = 1, high = 10 } }
keep = ["o_id", "_", "tax"]

[tests.order]
title = "Order"
group = "write"
transaction = true
statements = [
  "district",
  { use = "insert" },
  { name = "rare", when = "o_id % every == 0", sql = "DELETE FROM t WHERE id = :c", params.c = { gen = "client", start = 1 } },
]

[statements.insert]
sql = "INSERT INTO t VALUES (:o_id, :d, :tax, :next)"
[statements.insert.params]
o_id = { gen = "ref", of = "o_id" }
d = { gen = "ref", of = "d" }
tax = { gen = "ref", of = "tax" }
next = { gen = "row", expr = "o_id + 1" }

[[phases]]
name = "all"
tests = ["order"]
"""


def load(tmp_path: Path, text: str) -> list[Json]:
    path = tmp_path / "suite.toml"
    path.write_text(text)
    made: list[Json] = definition(load_suite(path).tests["order"], "postgres", 100)["statements"]
    return made


def test_what_is_kept_and_when_a_statement_runs_is_told_to_the_engine(tmp_path: Path) -> None:
    district, insert, rare = load(tmp_path, SUITE)
    assert district["keep"] == ["o_id", "_", "tax"] and "when" not in district
    assert insert["params"]["o_id"] == {"gen": "ref", "of": "o_id"} and "keep" not in insert
    assert insert["params"]["next"] == {"gen": "row", "expr": ["+", "o_id", 1]}
    assert rare["when"] == ["==", ["%", "o_id", 100], 0]
    assert rare["params"] == {"c": {"gen": "client", "start": 1}}


def test_plans_are_asked_for_with_a_literal_that_fits_numbers_and_texts(tmp_path: Path) -> None:
    load(tmp_path, SUITE)
    suite = load_suite(tmp_path / "suite.toml")
    texts = dict(literal_statement(suite.tests["order"], "postgres", 100))
    assert texts["insert"] == "INSERT INTO t VALUES ('1', 5, '1', 2)"
    assert suite.tests["order"].statements[0].words.endswith("keeps o_id, tax")
    assert suite.tests["order"].statements[2].words.startswith("when o_id % every == 0: 1 × DELETE")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('keep = ["o_id", "_", "tax"]', 'keep = ["o_id", "b", "tax"]', "keeps 'b', which no statement after it uses"),
        ('keep = ["o_id", "_", "tax"]', 'keep = ["o_id", "o_id", "tax"]', "`keep` has 'o_id' twice"),
        ('keep = ["o_id", "_", "tax"]', 'keep = ["O"]', "keep"),
        ('keep = ["o_id", "_", "tax"]', 'keep = ["o_id"]', "tax refers to 'tax', which is no earlier parameter"),
        ('"o_id % every == 0"', '"o_di % every == 0"', "unknown name 'o_di'. Did you mean 'o_id'"),
        ('"o_id % every == 0"', '"every % o_id == 0"', "divides by what depends on the row"),
        ('  "district",', '  { use = "district", only = ["postgres"] },', "it can have no `params`, `into`, `keep`"),
        (
            'sql = "DELETE FROM t WHERE id = :c", params.c = { gen = "client", start = 1 }',
            'into = "t"',
            "it always runs, and has no `when`",
        ),
        ('gen = "sequence"', 'gen = "client"', "`client` is for parameters of statements"),
    ],
)
def test_mistakes(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert old in SUITE
    with pytest.raises(UsageError) as error:
        load(tmp_path, SUITE.replace(old, new))
    assert expected in str(error.value)
