"""Weighted mixes: from the file to what the engine draws, and what is refused."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.experiment.rig.engine import Engine
from dbversus.servers.sqlite.ddl import table_sql
from dbversus.suites import definition, literal_statement, load_suite, loads
from dbversus.suites.send.define import Json

from ...left_out import engine_at_hand

GOOD = """\
title = "A shop"
[variables]
page = 3
[generators]
any_id = { gen = "uniform", low = 1, high = "table_size" }
[tables.t]
primary_key = ["id"]
[tables.t.columns]
id = { type = "int4", values = { gen = "sequence" } }
k = { type = "int4", values = { gen = "constant", value = 0 } }
[statements.point]
sql = "SELECT k FROM t WHERE id = :id"
params = { id = "any_id" }
[statements.change]
sql = "UPDATE t SET k = k + 1 WHERE id = :id"
params = { id = "any_id" }
[tests.weighed]
title = "Reads and changes"
group = "write"
variants = { reads = [50, 90] }
statements = [{ use = "point", weight = "reads" }, { use = "change", weight = "100 - reads" }]
[tests.browse]
title = "Two pages"
group = "range"
variables = { page = 5 }
[[tests.browse.statements]]
name = "page"
sql = "SELECT id, k FROM t ORDER BY id LIMIT :n"
repeat = 2
params = { n = { gen = "uniform", low = "page", high = "page" } }
[tests.buy]
title = "Look and change"
group = "write"
transaction = true
statements = ["point", { use = "change", params = { id = { gen = "ref", of = "id" } } }]
[tests.shop]
title = "The shop"
group = "write"
mix = [{ test = "browse" }, { test = "buy", weight = 3 }]
[[phases]]
name = "all"
tests = ["weighed", "shop", "buy"]
"""


def refused(tmp_path: Path, old: str, new: str) -> str:
    assert old in GOOD
    path = tmp_path / "shop.toml"
    path.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(UsageError) as error:
        load_suite(path)
    return str(error.value).removeprefix(f"{tmp_path}/")


def made(tmp_path: Path, test: str) -> Json:
    (tmp_path / "shop.toml").write_text(GOOD)
    return definition(load_suite(tmp_path / "shop.toml").tests[test], "sqlite", 100)


def test_weighted_statements_are_parts_and_weights_are_expressions(tmp_path: Path) -> None:
    parts = [one["part"] for one in made(tmp_path, "weighed-90")["statements"]]
    assert [(one["name"], one["weight"], one["transaction"]) for one in parts] == [
        ("point", 90, False),
        ("change", 10, False),
    ]


def test_a_mix_of_tests_keeps_what_they_are(tmp_path: Path) -> None:
    test = made(tmp_path, "shop")
    assert not test["transaction"]
    page, point, change = test["statements"]
    assert (page["name"], page["params"]["n"]["low"], page["repeat"]) == ("browse.page", 5, 2)
    assert page["part"] == {"name": "browse", "weight": 1, "transaction": False}
    assert point["part"] == {"name": "buy", "weight": 3, "transaction": True}
    assert change["name"] == "buy.change" and "part" not in change
    literals = dict(literal_statement(load_suite(tmp_path / "shop.toml").tests["shop"], "sqlite", 100))
    assert literals["browse.page"].endswith("LIMIT 5")


def test_parts_are_shown_with_their_weights(tmp_path: Path) -> None:
    (tmp_path / "shop.toml").write_text(GOOD)
    page, point, change = load_suite(tmp_path / "shop.toml").tests["shop"].statements
    assert page.words == "browse, weight 1:\n2 × SELECT id, k FROM t ORDER BY id LIMIT :n"
    assert point.words.startswith("buy, weight 3:\n1 × SELECT") and change.words.startswith("1 × UPDATE")


def test_a_test_without_weights_is_no_mix(tmp_path: Path) -> None:
    test = made(tmp_path, "buy")
    assert test["transaction"] and not any("part" in one for one in test["statements"])


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('"buy", weight = 3', '"buy", weight = 0', "shop.toml:39: weight is 0; 1 or more is accepted."),
        ('weight = "100 - reads"', 'weight = "90 - reads"', "shop.toml:21: weight is 0; 1 or more is accepted."),
        ('"buy", weight = 3', '"bye", weight = 3', "shop.toml:39: unknown test 'bye'. Did you mean 'buy'?"),
        ('"browse" }', '"weighed" }', "'weighed' has several variants; accepted is one: weighed-50, weighed-90."),
        ('"browse" }', '"weighed-50" }', "'weighed-50' is a mix or has roles; accepted are tests that are neither."),
        ('"browse" }', '"buy" }', "the mix names 'buy' twice; give it the sum of both weights."),
        (
            "mix = [",
            "transaction = true\nmix = [",
            "`transaction` is said of each test of a mix and of each role, not beside `mix`",
        ),
        (
            'mix = [{ test = "browse" }, { test = "buy", weight = 3 }]',
            "",
            "the test has no `statements`; one of `statements`, `mix` (of other tests) and `roles` is needed",
        ),
        (
            ', weight = "100 - reads"',
            "",
            "shop.toml:21: this statement has no `weight`, and others of the test have one",
        ),
        ('test = "browse" }', 'tests = "browse" }', "unknown key 'tests'. Did you mean 'test'?"),
        ('{ test = "browse" }, ', "", "test 'browse' is in no phase"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert expected in refused(tmp_path, old, new)


def test_a_part_knows_its_own_parameters_alone(tmp_path: Path) -> None:
    refers = 'use = "change", weight = "100 - reads", params = { id = { gen = "ref", of = "id" } }'
    words = refused(tmp_path, 'use = "change", weight = "100 - reads"', refers)
    assert "id refers to 'id', which is no earlier parameter" in words


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine_at_hand()
    with Engine() as engine:
        engine.call("target", name="t0", wire="sqlite", address={"path": str(tmp_path / "a.db"), "library": "bundled"})
        yield engine


def test_the_engine_draws_the_parts_by_weight(tmp_path: Path, engine: Engine) -> None:
    test = made(tmp_path, "shop")
    for table in loads(load_suite(tmp_path / "shop.toml"), 100, 1, table_sql):
        engine.call("load", target="t0", seed=1, table=table)
    engine.call("open", targets=["t0"], clients=1, mode="prepared", tables=1, test=test)
    checked = engine.call("check", events=1, seed=7)["targets"]["t0"]["statements"]
    assert [one["rows"] for one in checked] == [10, 1, 0]  # each part once, though one event was asked for
    rows = engine.stream("rows", tag={}, seed=1, first_row=0, orders=[["t0"]], settle={"ops": 1}, slot={"ops": 1000})
    slot = next(iter(rows))["slots"][0]
    changed = slot["affected"]
    assert slot["ops"] == 1000 and 700 < changed < 800
    assert slot["statements"] == 4 * changed + 2 * (1000 - changed)
