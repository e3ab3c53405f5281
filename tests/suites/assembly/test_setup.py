"""Scripts that a suite names: for which DBMS, where they are, and mistakes."""

from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.suites.load import load_stored_suite, load_suite

SUITE = """title = "A shop"
[setup]
{setup}
[tests.one]
title = "One"
group = "point"
statements = [{{ name = "one", sql = "SELECT 1" }}]
[[phases]]
name = "all"
tests = ["one"]
"""


def written(folder: Path, setup: str) -> Path:
    for name in ("a.sql", "b.sql"):
        (folder / name).write_text("SELECT 1;")
    path = folder / "shop.toml"
    path.write_text(SUITE.format(setup=setup))
    return path


def names(path: Path, dbms: str) -> list[str]:
    return [script.path.name for script in load_suite(path).scripts_for(dbms)]


def test_each_dbms_has_its_own_or_those_of_its_relative_or_those_of_all(tmp_path: Path) -> None:
    path = written(tmp_path, 'mysql = ["a.sql", "b.sql"]\nsql = "b.sql"\nsqlite = "a.sql"')
    assert names(path, "mariadb") == names(path, "mysql") == ["a.sql", "b.sql"]
    assert names(path, "postgres") == ["b.sql"] and names(path, "sqlite") == ["a.sql"]
    suite = load_suite(path)
    assert suite.made_tables(10, 1) == [] and suite.table_words(10, 1, ["postgres"]) == ["what b.sql makes"]
    assert suite.usual_rows(10, 1) == 0 and suite.scripts_for("sqlite")[0].text_bytes == 9


def test_a_suite_that_extends_another_takes_its_scripts_from_where_that_is(tmp_path: Path) -> None:
    written(tmp_path, 'sql = "a.sql"')
    (tmp_path / "more").mkdir()
    own = tmp_path / "more/own.toml"
    own.write_text('title = "More"\nextends = "../shop.toml"\n')
    assert load_suite(own).scripts_for("postgres")[0].path.read_text() == "SELECT 1;"


def test_in_results_scripts_are_numbered(tmp_path: Path) -> None:
    text = written(tmp_path, 'sql = "a.sql"\nsqlite = ["../b.sql", "a.sql"]').read_text()
    folder = tmp_path / "results"
    (folder / "setup").mkdir(parents=True)
    (folder / "1-shop.toml").write_text(text)
    for name in ("1-a.sql", "2-b.sql"):
        (folder / "setup" / name).write_text("SELECT 2;")
    scripts = load_stored_suite(folder).scripts_for("sqlite")
    assert [script.path.name for script in scripts] == ["2-b.sql", "1-a.sql"]


@pytest.mark.parametrize(
    ("setup", "words"),
    [
        ('sql = "c.sql"', "shop.toml:3: there is no file "),
        ("", "shop.toml:2: [setup] names no script; sql, or a DBMS such as postgres"),
        ("sql = []", "shop.toml:3: setup.sql is []; it has to be at least one item"),
        ('oracle = "a.sql"', "shop.toml:3: "),
    ],
)
def test_mistakes_name_their_line(tmp_path: Path, setup: str, words: str) -> None:
    with pytest.raises(UsageError) as error:
        load_suite(written(tmp_path, setup))
    assert words in str(error.value)
