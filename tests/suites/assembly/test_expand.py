"""Variables, snippets and repetition in the SQL of a suite."""

from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.suites import Test, definition, load_suite

SUITE = """\
title = "Braces"

[variables]
metrics = ["user", "system", "idle"]
days = 2

[tables.t]
columns = {{ id = {{ type = "int4", values = {{ gen = "sequence" }} }} }}

[snippets.bucket]
args = ["col", "s"]
postgres = "date_bin('{{s}} s', {{col}}, 'epoch')"
mysql = "{{col}} DIV {{s}}"
mariadb = "{{col}} DIV {{s}} -- maria"

[snippets.twice]
args = ["x"]
sql = "({{x}} + {{x}})"

[snippets.round]
args = ["x"]
sql = "{{round({{x}})}}"

[tests.q]
title = "q"
group = "range"
variants = {{ m = [1, 3] }}
statements = [
  {{ name = "q", sql = '''{sql}''' }},
]

[[phases]]
name = "p"
tests = ["q"]
"""


def load(tmp_path: Path, sql: str) -> dict[str, Test]:
    (tmp_path / "braces.toml").write_text(SUITE.format(sql=sql))
    return load_suite(tmp_path / "braces.toml").tests


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT {each metrics[:m]: max({}) AS max_{}}", "SELECT max(user) AS max_user"),
        ("{each metrics[1:]: {} > 0 | AND} FROM t{table}", "system > 0 AND idle > 0 FROM t{table}"),
        ("{each metrics[:2]: a || '{}' | || }", "a || 'user' || a || 'system'"),
        ("{each metrics[:2]: {twice({})}}", "(user + user), (system + system)"),
        (
            "SELECT {twice({twice(f(a, 'x, y'))})}",
            "SELECT ((f(a, 'x, y') + f(a, 'x, y')) + (f(a, 'x, y') + f(a, 'x, y')))",
        ),
        (
            "INTERVAL '{days} days', '{\"a\": {\"b\": 1}}', '{}', '{a}', {m}",
            "INTERVAL '2 days', '{\"a\": {\"b\": 1}}', '{}', '{a}', 1",
        ),
    ],
)
def test_braces_are_worked_out(tmp_path: Path, sql: str, expected: str) -> None:
    assert definition(load(tmp_path, sql)["q-1"], "sqlite", 10)["statements"][0]["sql"] == expected


def test_a_snippet_has_a_text_for_each_dbms(tmp_path: Path) -> None:
    test = load(tmp_path, "SELECT {bucket(t.time, 60)}")["q-3"]
    made = {dbms: test.statements[0].sql_for(dbms) for dbms in ("postgres", "mysql", "myrocks", "mariadb")}
    assert made == {
        "postgres": "SELECT date_bin('60 s', t.time, 'epoch')",
        "mysql": "SELECT t.time DIV 60",
        "myrocks": "SELECT t.time DIV 60",
        "mariadb": "SELECT t.time DIV 60 -- maria",
    }
    with pytest.raises(UsageError, match="statement 'q' has no SQL for sqlite, only for"):
        definition(test, "sqlite", 10)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT {twise(1)}", "unknown snippet 'twise'. Did you mean 'twice'"),
        ("SELECT {twice(1, 2)}", "snippet 'twice' takes 1 arguments (x), and is given 2"),
        ("SELECT {round(1)}", "snippet 'round' uses itself"),
        ("SELECT {dais}", "unknown name 'dais' in braces. Did you mean 'days'"),
        ("SELECT {each days: {}}", "'days' is no list. Accepted: metrics"),
        ("SELECT {each metrics[:4]: {}}", "reaches past the 3 items of 'metrics'"),
        ("SELECT {each metrics[:n]: {}}", "unknown variable 'n'"),
        ("SELECT {twice(:a)}", "statement 'q' has no parameter for :a"),
    ],
)
def test_mistakes_have_their_line(tmp_path: Path, sql: str, expected: str) -> None:
    with pytest.raises(UsageError) as error:
        load(tmp_path, sql)
    assert expected in str(error.value)
    assert str(error.value).startswith(f"{tmp_path}/braces.toml:29:")
