"""Settings of a test's connections, in the SQL of each DBMS."""

from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.suites import Test, definition, load_suite

SUITE = """\
title = "Sessions"

[tables.t]
columns = { id = { type = "int4", values = { gen = "sequence" } } }

[tests.q]
title = "q"
group = "range"
variables = { ef = 40 }
settings_postgres = { "hnsw.ef_search" = "{ef}", jit = false }
settings_mysql = { sort_buffer_size = 262144, sql_mode = "" }
settings_mariadb = { join_cache_level = 0 }
settings_sqlite = { cache_size = -4000 }
statements = [{ name = "q", sql = "SELECT 1" }]

[[phases]]
name = "p"
tests = ["q"]
"""


def load(tmp_path: Path, text: str = SUITE) -> Test:
    (tmp_path / "sessions.toml").write_text(text)
    return load_suite(tmp_path / "sessions.toml").tests["q"]


@pytest.mark.parametrize(
    ("dbms", "expected"),
    [
        ("postgres", ["SET hnsw.ef_search = '40'", "SET jit = 'off'"]),
        ("mysql", ["SET SESSION sort_buffer_size = 262144", "SET SESSION sql_mode = ''"]),
        ("myrocks", ["SET SESSION sort_buffer_size = 262144", "SET SESSION sql_mode = ''"]),
        ("mariadb", ["SET SESSION join_cache_level = 0"]),
        ("sqlite", ["PRAGMA cache_size = -4000"]),
    ],
)
def test_each_dbms_has_its_sql(tmp_path: Path, dbms: str, expected: list[str]) -> None:
    assert definition(load(tmp_path), dbms, 10)["session_sql"] == expected


def test_a_test_without_settings_says_nothing_of_them(tmp_path: Path) -> None:
    text = "\n".join(line for line in SUITE.splitlines() if not line.startswith("settings_"))
    assert "session_sql" not in definition(load(tmp_path, text), "postgres", 10)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "jit = false",
            "jit = [1]",
            "sessions.toml:10: tests.q.settings_postgres.jit is [1]: it has to be a text, a number",
        ),
        ("jit =", '"j; DROP" =', "sessions.toml:10: tests.q.settings_postgres"),
        ("{ef}", "{eff}", "sessions.toml:10: unknown variable 'eff'"),
        ("settings_sqlite", "settings_sqlit", "sessions.toml:13: tests.q: unknown key 'settings_sqlit'"),
    ],
)
def test_mistakes_have_their_line(tmp_path: Path, old: str, new: str, expected: str) -> None:
    with pytest.raises(UsageError) as error:
        load(tmp_path, SUITE.replace(old, new))
    assert expected in str(error.value)
