"""Rows and parameters that depend on more than chance, from the suite's text to what the engine puts into a table."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dbversus.errors import UsageError
from dbversus.experiment.rig.engine import Engine
from dbversus.servers.sqlite.ddl import table_sql
from dbversus.suites import Suite, definition, literal_statement, load_suite, loads

from ...left_out import engine_at_hand

SUITE = """\
title = "Hosts"

[variables]
hosts = 20
interval = "10s"
start = 2016-01-01T00:00:00Z
teams = ["SF", "NYC", "LON"]
metrics = ["usage_user", "usage_idle"]

[generators]
w = { gen = "window", type = "timestamp", low = "start", high = "start + 1h", length = "length", resolution = "1min" }

[tables.tags]
rows = "hosts"
primary_key = ["id"]
[tables.tags.columns]
id = { type = "int4", values = { gen = "row", expr = "row" } }
name = { type = "text", values = { gen = "text", template = "host_{id}" } }
team = { type = "text", values = { gen = "choice", of = "teams", per = "id" } }
rack = { type = "int4", values = { gen = "choice", of = [1, 2, 3], weights = [8, 1, 1] } }

[tables.cpu]
rows = "hosts * 1h / interval"
indexes = [{ name = "cpu_host", columns = ["host", "time"] }]
[tables.cpu.columns]
time = { type = "timestamp", values = { gen = "row", expr = "start + row / hosts * interval" } }
host = { type = "int4", values = { gen = "row", expr = "row % hosts" } }
[[tables.cpu.columns_each]]
list = "metrics"
column.type = "float8"
column.values = { gen = "walk", key = "host", step = "row / hosts", sd = 2.0, low = 0, high = 100, round = 0 }

[tests.window]
title = "The highest value of {hosts} hosts in {length}"
group = "range-aggregate"
variables = { length = "10min" }
[[tests.window.statements]]
name = "w"
sql = '''SELECT host, min(time), max(time), max(usage_user) FROM cpu
  WHERE host IN (:some) AND time >= :w.from AND time < :w.to GROUP BY host'''
params = { some = { gen = "sample", of = "hosts", count = 5 }, w = "w" }

[tests.names]
title = "Hosts by name"
group = "point"
[[tests.names.statements]]
name = "n"
sql = "SELECT id, :x FROM tags WHERE name IN (:names) AND rack <= :rack"
[tests.names.statements.params]
names = { gen = "sample", of = "hosts", count = 3, template = "host_{}" }
x = { gen = "exponential", low = 1, high = 100, parameter = 5 }
rack = { gen = "row", expr = "max(3, x % 4)" }

[tests.append]
title = "Ten rows more"
group = "write"
statements = [{ name = "more", into = "cpu", rows = 10 }]

[tests.append-some]
title = "Three rows more, of some columns"
group = "write"
variables = { hosts = 3 }
statements = [{ use = "some" }]

[statements.some]
sql = "INSERT INTO cpu (time, host, usage_user, usage_idle) VALUES (:time, :host, 0, :x) ON CONFLICT DO NOTHING"
rows = "hosts"
into = "cpu"
position = "after"
[statements.some.params]
time = { gen = "row", expr = "start + row / 20 * interval", type = "timestamp" }
host = { gen = "row", expr = "row % 20" }
x = { gen = "uniform", low = 1, high = 1000000 }

[[phases]]
name = "p"
tests = ["window", "names", "append", "append-some"]
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    path = tmp_path_factory.mktemp("hosts") / "hosts.toml"
    path.write_text(SUITE)
    return load_suite(path)


@pytest.fixture(scope="module")
def engine(suite: Suite, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    engine_at_hand()
    with Engine() as engine:
        engine.call("target", **target(tmp_path_factory.getbasetemp() / "hosts.db"))
        for table in loads(suite, 100, 1, table_sql):
            engine.call("load", target="t0", seed=1, table=table)
        yield engine


def target(path: Path) -> dict[str, Any]:
    return {"name": "t0", "wire": "sqlite", "address": {"path": str(path), "library": "bundled"}}


def rows(engine: Engine, sql: str) -> list[list[Any]]:
    found: list[list[Any]] = engine.call("query", target="t0", sql=sql)["rows"]
    return found


def test_rows_are_made_of_their_position_and_earlier_columns(engine: Engine) -> None:
    assert rows(engine, "SELECT count(*), min(id), max(id) FROM tags") == [["20", "0", "19"]]
    assert rows(engine, "SELECT count(*) FROM tags WHERE name = 'host_' || id") == [["20"]]
    assert rows(engine, "SELECT count(*), min(time), max(time) FROM cpu") == [["7200", "1451606400", "1451609990"]]
    assert rows(engine, "SELECT count(*) FROM (SELECT DISTINCT host, time FROM cpu)") == [["7200"]]


def test_choices(engine: Engine) -> None:
    teams = [team for [team] in rows(engine, "SELECT DISTINCT team FROM tags ORDER BY team")]
    assert teams == ["LON", "NYC", "SF"]
    [[first]] = rows(engine, "SELECT count(*) FROM tags WHERE rack = 1")
    assert int(first) > 10


def test_walks_move_in_small_steps_each_column_on_its_own(engine: Engine) -> None:
    jumps = "SELECT usage_user - lag(usage_user) OVER (PARTITION BY host ORDER BY time) AS jump FROM cpu"
    sql = f"SELECT min(jump), max(jump), sum(jump <> 0) FROM ({jumps})"  # noqa: S608
    [[least, most, changed]] = rows(engine, sql)
    assert -10 <= float(least) < -3 < 3 < float(most) <= 10
    assert int(changed) > 5000
    [[equal, outside]] = rows(
        engine, "SELECT sum(usage_user = usage_idle), sum(usage_user NOT BETWEEN 0 AND 100) FROM cpu"
    )
    assert int(equal) < 1000 and int(outside) == 0


@pytest.mark.parametrize(("test", "most_rows"), [("window", 5), ("names", 3)])
def test_statements_get_samples_and_windows(engine: Engine, suite: Suite, test: str, most_rows: int) -> None:
    made = definition(suite.tests[test], "sqlite", 100)
    engine.call("open", targets=["t0"], clients=2, mode="prepared", tables=1, test=made)
    order = {"orders": [["t0"]], "settle": {"ops": 1}, "slot": {"ops": 40}}
    replies = list(engine.stream("rows", tag={}, seed=1, first_row=0, **order))
    engine.call("close")
    slot = replies[0]["slots"][0]
    assert slot["rows"] == most_rows * slot["ops"] == most_rows * 40
    assert not slot["errors"]


def drive(engine: Engine, suite: Suite, test: str, ops: int) -> None:
    engine.call("open", targets=["t0"], clients=2, tables=1, test=definition(suite.tests[test], "sqlite", 100))
    order = {"orders": [["t0"]], "settle": {"ops": 0}, "slot": {"ops": ops}}
    slot = next(engine.stream("rows", tag={}, seed=1, first_row=0, **order))["slots"][0]
    assert not slot["errors"], slot
    engine.call("close")


def test_appended_rows_go_on_after_those_of_the_load(engine: Engine, suite: Suite) -> None:
    for test in ("append", "append-some", "append"):
        drive(engine, suite, test, 20)
    [[added, kinds, last]] = rows(
        engine, "SELECT count(*), count(DISTINCT time * 100 + host), max(time) FROM cpu WHERE time > 1451609990"
    )
    assert (added, kinds) == ("460", "460")
    assert int(last) == 1451609990 + 10 * 460 // 20
    jumps = "SELECT usage_user - lag(usage_user) OVER (PARTITION BY host ORDER BY time) AS jump, time FROM cpu"
    sql = f"SELECT max(abs(jump)) FROM ({jumps}) WHERE time = 1451610000"  # noqa: S608
    [[jump]] = rows(engine, sql)
    assert 0 < float(jump) < 10


def test_appended_rows_go_on_when_a_server_was_started_anew(
    engine: Engine, suite: Suite, tmp_path_factory: pytest.TempPathFactory
) -> None:
    [[before]] = rows(engine, "SELECT count(*) FROM cpu")
    engine.call("drop", target="t0")
    engine.call("target", **target(tmp_path_factory.getbasetemp() / "hosts.db"), goes_on=True)
    drive(engine, suite, "append", 20)
    [[after, kinds]] = rows(engine, "SELECT count(*), count(DISTINCT time * 100 + host) FROM cpu")
    assert int(after) == int(kinds) == int(before) + 200


def test_statements_that_append(suite: Suite) -> None:
    [more] = definition(suite.tests["append"], "postgres", 100)["statements"]
    columns = "time, host, usage_user, usage_idle"
    assert more["sql"].split("VALUES ") == [f"INSERT INTO cpu ({columns}) ", "(:time, :host, :usage_user, :usage_idle)"]
    _, cpu = loads(suite, 100, 1, table_sql)
    assert more["params"] == cpu["columns"]
    assert (more["rows"], more["position"]["of"], more["position"]["from"]) == (10, "cpu", cpu["rows"])
    [some] = definition(suite.tests["append-some"], "postgres", 100)["statements"]
    assert some["rows"] == 3 and some["position"] == more["position"]
    assert suite.tests["append"].changes_data


def test_definitions_are_concrete(suite: Suite) -> None:
    params = definition(suite.tests["window"], "postgres", 100)["statements"][0]["params"]
    assert params["some"] == {"gen": "sample", "of": 20, "count": 5}
    start = 1_451_606_400_000_000
    assert params["w.from"] == {
        "gen": "grid",
        "low": start,
        "high": start + 50 * 60_000_000,
        "step": 60_000_000,
        "order": "random",
        "type": "timestamp",
    }
    assert params["w.to"] == {"gen": "ref", "of": "w.from", "add": 600_000_000}
    _, cpu = loads(suite, 100, 1, table_sql)
    assert cpu["columns"]["host"]["expr"] == ["%", "row", 20]
    assert cpu["columns"]["time"]["expr"] == ["+", start, ["*", ["/", "row", 20], 10_000_000]]
    walk, other = cpu["columns"]["usage_user"], cpu["columns"]["usage_idle"]
    assert walk["key"] == "host" and walk["seed"] != other["seed"]


def test_examples(suite: Suite) -> None:
    [(_, window)] = literal_statement(suite.tests["window"], "sqlite", 100)
    assert "host IN (2, 6, 10, 14, 18) AND time >= 1451607900 AND time < 1451608500" in window
    [(_, names)] = literal_statement(suite.tests["names"], "mysql", 100)
    assert "name IN ('host_3', 'host_10', 'host_16')" in names


def test_titles_have_values_as_they_are_written(suite: Suite) -> None:
    assert suite.tests["window"].title == "The highest value of 20 hosts in 10min"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('interval = "10s"', 'interval = "10x"', "hosts.toml:26: variable 'interval' is a text, \"10x\""),
        ("hosts = 20", "hosts = true", "hosts.toml:4: variables.hosts is True: it has to be a number, a text, a time"),
        ("hosts = 20", "hosts = 2.5", 'hosts.toml:41: "hosts" is 2.5; an integer is accepted'),
        ('["SF", "NYC", "LON"]', '["SF", ["NYC"]]', "hosts.toml:7: variables.teams is ['SF', ['NYC']]: it has to be"),
        ('expr = "row"', 'expr = "rwo"', "hosts.toml:17: unknown name 'rwo'. Did you mean 'row'?"),
        ('expr = "row"', 'expr = "id"', "hosts.toml:17: unknown name 'id'."),
        (
            'expr = "row"',
            'expr = "row /"',
            "hosts.toml:17: tables.tags.columns.id.values.expr is 'row /': \"row /\" is",
        ),
        ('"row % hosts"', '"hosts % row"', 'hosts.toml:27: "hosts % row" divides by what depends on the row'),
        ("host_{id}", "host_{di}", "hosts.toml:18: name: {di} is no earlier value. Did you mean 'id'?"),
        ('of = "teams"', 'of = "temas"', "hosts.toml:19: 'temas' is no variable that is a list. Did you mean 'teams'?"),
        (
            "of = [1, 2, 3]",
            'of = [1, "2", 3]',
            "hosts.toml:20: tables.tags.columns.rack.values.of is [1, '2', 3]: it has",
        ),
        ("[8, 1, 1]", "[8, 1]", "hosts.toml:20: rack: `of` has 3 values; `weights` has as many numbers"),
        ("[8, 1, 1]", "[0, 0, 0]", "hosts.toml:20: rack: `of` has 3 values; `weights` has as many numbers"),
        ('list = "metrics"', 'list = "metric"', "hosts.toml:29: 'metric' is no variable that is a list."),
        ('"usage_idle"]', '"Usage idle"]', "hosts.toml:29: 'Usage idle' is no name of a column"),
        ('"usage_idle"]', '"host"]', "hosts.toml:29: there are two columns 'host'."),
        ("sd = 2.0", "sd = -1", "hosts.toml:31: usage_user: sd is -1; 0 or more is accepted."),
        ("high = 100", "high = 0", "hosts.toml:31: usage_user: low is 0 and high is 0; low < high is accepted."),
        ("time < :w.to", "time < :w.too", "hosts.toml:39: statement 'w' has no parameter for :w."),
        (
            ":w.from AND time < :w.to",
            "1",
            "hosts.toml:41: statement 'w' does not use its parameter 'w'; write :w.from and",
        ),
        ("count = 5", "count = 21", "hosts.toml:41: some: 21 values of 20; none is drawn twice in a sample."),
        (
            'length = "10min"',
            'length = "2h"',
            "hosts.toml:11: w: length is 7200000000, and from low to high it is 3600000000",
        ),
        ("parameter = 5", "parameter = 0", "hosts.toml:51: tests.names.statements.0.params.x.parameter is 0"),
        (
            '"max(3, x % 4)"',
            '"row"',
            "hosts.toml:52: unknown name 'row' (for parameters: in statements with `position`).",
        ),
        ("rows = 10", "rows = 0", "hosts.toml:57: rows is 0; 1 or more is accepted."),
        (
            "rows = 10",
            "rows = 10000",
            "hosts.toml:57: statement 'more' would have 10000 rows of 4 values; 32000 values",
        ),
        ('into = "cpu", rows', 'into = "cpus", rows', "hosts.toml:57: unknown table 'cpus'. Did you mean 'cpu'?"),
        ('into = "cpu", rows', "rows", "hosts.toml:57: a statement has `name` and `sql`, or `use`"),
        ('into = "cpu"\n', "", "hosts.toml:68: `position` needs `into`, the table whose rows go on."),
        (":time, :host, 0", ":time, :host, 0), (1", "hosts.toml:66: statement 'some' has `rows`; that is for INSERT"),
        ("DO NOTHING", "DO UPDATE SET x = :x", "hosts.toml:66: statement 'some' has `rows`; that is for INSERT"),
        ('position = "after"', 'position = "before"', "hosts.toml:69: statements.some.position is 'before'"),
        (
            'template = "host_{}"',
            'template = "host_"',
            "hosts.toml:50: tests.names.statements.0.params.names.template is 'host_': \"{}\" has",
        ),
    ],
)
def test_mistakes_are_named(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert old in SUITE
    path = tmp_path / "hosts.toml"
    path.write_text(SUITE.replace(old, new, 1))
    with pytest.raises(UsageError) as error:
        made = load_suite(path)
        loads(made, 100, 1, table_sql)
        for test in made.tests.values():
            definition(test, "sqlite", 100)
    message = str(error.value).replace(f"{tmp_path}/", "")
    assert message.startswith(expected), message


def test_the_example_of_the_documentation(tmp_path: Path) -> None:
    docs = Path(__file__).parents[3] / "docs"
    text, values = (docs / "suites.md").read_text(), (docs / "suites/values.md").read_text()
    example = "[variables]\nhosts = 100" + values.split("[variables]\nhosts = 100")[1].split("```")[0]
    phases = '[[phases]]\nname = "p"\ntests = ["highest", "append"]\n'
    append = (
        '[tests.append]\ntitle = "t"\ngroup = "write"\n' + text.split("#### Rows that go on")[1].split("```")[1][4:]
    )
    path = tmp_path / "hosts.toml"
    path.write_text(f'title = "Hosts"\n{example}{append}{phases}')
    suite = load_suite(path)
    assert [table["rows"] for table in loads(suite, 1000, 1, table_sql)] == [100, 864_000]
    [append_more] = definition(suite.tests["append"], "mysql", 1000)["statements"]
    assert append_more["position"]["from"] == 864_000
    [highest] = definition(suite.tests["highest"], "mysql", 1000)["statements"]
    assert highest["params"]["w.to"]["add"] == 3_600_000_000
