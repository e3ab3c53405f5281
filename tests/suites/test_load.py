import re
import shlex
from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.suites import Suite, definition, list_suites, load_suite

MINE = """\
title = "Mine"
extends = "sysbench"

[variables]
range = 7

[statements.point]
sql = "SELECT pad FROM sbtest{table} WHERE id = :id"
params = { id = "any_id" }

[tests.two]
title = "Two"
group = "point"
statements = ["point", { use = "range-simple", mode = "text" }]

[[phases]]
name = "mine"
tests = ["two", "point-query", "read-only-100"]
"""


@pytest.fixture
def mine(tmp_path: Path) -> Suite:
    (tmp_path / "mine.toml").write_text(MINE)
    return load_suite(tmp_path / "mine.toml")


def test_suites_that_come_with_dbversus() -> None:
    names = [
        "allocators",
        "connect",
        "durability",
        "insert",
        "insert-2021",
        "scan",
        "sysbench",
        "sysbench-2017",
        "sysbench-now",
    ]
    assert [suite.name for suite in list_suites()] == names


def test_one_that_comes_with_dbversus_is_read_once_and_one_s_own_each_time(mine: Suite, tmp_path: Path) -> None:
    assert load_suite("sysbench") is load_suite("sysbench")
    (tmp_path / "mine.toml").write_text(MINE.replace("Mine", "Changed"))
    assert (mine.title, load_suite(tmp_path / "mine.toml").title) == ("Mine", "Changed")


def test_own_definitions_replace_those_extended(mine: Suite) -> None:
    assert mine.sequence == ["load", "two", "point-query", "read-only-100"]
    two, point = (definition(mine.tests[name], "sqlite", 100) for name in ("two", "point-query"))
    assert two["statements"][0] == point["statements"][0]
    assert point["statements"][0]["sql"].startswith("SELECT pad ")
    assert two["statements"][1]["mode"] == "text"
    assert two["statements"][1]["params"]["high"]["add"] == 6
    assert not mine.selections


def test_variables_of_a_test_win_over_the_users_and_those_over_the_suites(mine: Suite) -> None:
    def last_of_range(name: str) -> int:
        made = definition(mine.tests[name], "sqlite", 100, variables={"range": 30})
        return int(made["statements"][1]["params"]["high"]["add"])

    assert last_of_range("two") == 29
    assert last_of_range("read-only-100") == 99


def test_the_example_of_the_documentation(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs/suites.md").read_text()
    (tmp_path / "shop.toml").write_text(text.split("```toml\n")[1].split("```")[0])
    shop = load_suite(tmp_path / "shop.toml")
    names = ["order-page.pre", "order-change-1", "order-change-5", "order-page", "point-query"]
    assert shop.sequence == ["load", *names]
    assert f"`{'`, `'.join(names[:-1])}` and `{names[-1]}`" in text
    assert shop.select("reads").sequence == ["load", "order-page.pre", "order-page", "point-query"]


def test_unknown_names_are_refused_with_those_known() -> None:
    with pytest.raises(UsageError, match=r"Unknown suite 'sysbenh'\. Did you mean 'sysbench'"):
        load_suite("sysbenh")
    with pytest.raises(UsageError, match=r"absent\.toml cannot be read"):
        load_suite("absent.toml")
    with pytest.raises(UsageError, match=r"Unknown variable 'rnge'\. Did you mean 'range'\?"):
        definition(load_suite("sysbench").tests["scan"], "sqlite", 10, 1, {"rnge": 3})


@pytest.mark.parametrize(
    ("globs", "expected"),
    [
        ("scan", ["scan"]),
        ("scan, point-query.pre", ["point-query.pre", "scan"]),
        ("random-points-10*.pre", ["random-points-10.pre", "random-points-100.pre", "random-points-1000.pre"]),
        (
            "update-*,insert",
            ["update-inlist", "update-index", "update-nonindex", "update-one", "update-zipf", "insert"],
        ),
        ("load", []),
    ],
)
def test_selecting(globs: str, expected: list[str]) -> None:
    selected = load_suite("sysbench").select(globs)
    assert selected.sequence == ["load", *expected]
    assert all(phase.tests for phase in selected.phases)


def test_selecting_nothing_or_everything() -> None:
    suite = load_suite("sysbench")
    assert suite.select(None) is suite
    with pytest.raises(UsageError, match=r"No test of suite sysbench matches 'pont-\*'\. Did you mean"):
        suite.select("scan,pont-*")
    with pytest.raises(UsageError, match="The list of tests is empty"):
        suite.select(" , ")


def test_warm_ups_stay_with_what_they_warm() -> None:
    now = load_suite("sysbench-now")
    scan = now.select("scan")
    assert scan.sequence == ["load", "scan"]
    assert "scan.warm" in scan.tests
    assert not now.select("insert").tests.keys() - {"insert"}


AGED = """
[aging]
test = "age"
operations = "6 * tables"
rounds = 2

[tests.age]
title = "Change every row"
group = "write"
statements = [{ name = "age", sql = "UPDATE sbtest{table} SET c = 'x'" }]

[[phases]]
name = "after a while"
data = "aged"
suffix = ".aged"
tests = ["point-query", "two"]

[[phases]]
name = "later"
suffix = ".later"
tests = ["two"]
"""


def test_aged_data_is_that_of_all_phases_from_the_first_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "aged.toml").write_text(MINE + AGED)
    suite = load_suite(tmp_path / "aged.toml")
    assert [phase.data for phase in suite.phases] == ["loaded", "aged", "aged"]
    assert suite.aging is not None and suite.aging.operations_of_round(10, 3) == 9
    assert "age" not in suite.tests


def test_what_is_left_of_a_selection_keeps_its_data(tmp_path: Path) -> None:
    (tmp_path / "aged.toml").write_text(MINE + AGED)
    suite = load_suite(tmp_path / "aged.toml")
    later, before = suite.select("two.later"), suite.select("two")
    assert [phase.data for phase in later.phases] == ["aged"] and later.ages
    assert [phase.data for phase in before.phases] == ["loaded"] and not before.ages


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('test = "age"', 'test = "aeg"', r"aged.toml:21: unknown test 'aeg'. Did you mean 'age'"),
        ('operations = "6 * tables"', "operations = 0", r"aged.toml:22: operations is 0; 1 or more is accepted"),
        ('data = "aged"', 'data = "old"', r"aged.toml:32: "),
        ("[aging]", "[variables2]", "variables2"),
    ],
)
def test_mistakes_in_aging_are_told_with_their_line(tmp_path: Path, old: str, new: str, words: str) -> None:
    (tmp_path / "aged.toml").write_text((MINE + AGED).replace(old, new))
    with pytest.raises(UsageError, match=words):
        load_suite(tmp_path / "aged.toml")


def test_aged_data_needs_an_aging(tmp_path: Path) -> None:
    own = """title = "t"
[tables.t]
columns = { id = { type = "int4", values = { gen = "sequence" } } }
[tests.one]
title = "one"
group = "point"
statements = [{ name = "one", sql = "SELECT 1" }]
[[phases]]
name = "p"
data = "aged"
tests = ["one"]
"""
    (tmp_path / "own.toml").write_text(own)
    with pytest.raises(UsageError, match=r'own.toml:10: data = "aged" needs an \[aging\]'):
        load_suite(tmp_path / "own.toml")


def test_what_lists_all_tests_of_a_file_of_ones_own_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("", "my suites/"):
        path = f"{folder}shop.toml"
        Path(path).parent.mkdir(exist_ok=True)
        Path(path).write_text('title = "A shop"\nextends = "sysbench"\n')
        with pytest.raises(UsageError) as error:
            load_suite(path).select("nothing")
        said = re.search("`dbversus suites show (.*)` lists all tests", str(error.value))
        assert said
        assert load_suite(shlex.split(said[1])[0]).name == "shop"
    with pytest.raises(UsageError, match="`dbversus suites show scan` lists"):
        load_suite("scan").select("nothing")
