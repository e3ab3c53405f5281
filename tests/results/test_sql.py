"""SQL on an experiment's tables: several statements, what can be seen, and how mistakes are told."""

from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from dbversus.cli.tables import write_all
from dbversus.errors import UsageError
from dbversus.results.sql import run_sql

TABLES = ["loads", "runs"]


def run(query: str) -> list[tuple[list[str], list[tuple[object, ...]]]]:
    return run_sql(query, {"runs": ({"a": np.array([1, 2])}, {"a": "BIGINT"})}, {"loads": [{"target": "t;0"}]})


def test_each_result_is_given() -> None:
    assert run("SELECT a FROM runs; SELECT 'x;y' AS b;; ") == [(["a"], [(1,), (2,)]), (["b"], [("x;y",)])]
    assert run("CREATE TABLE own AS SELECT max(a) AS most FROM runs; SELECT * FROM own") == [(["most"], [(2,)])]


@pytest.mark.parametrize("query", ["", " ; ", "CREATE TABLE own AS SELECT 1"])
def test_without_any_result_it_is_refused(query: str) -> None:
    with pytest.raises(UsageError, match="no statement with a result"):
        run(query)


def test_only_own_tables_are_seen() -> None:
    assert run("SHOW TABLES") == [(["name"], [(name,) for name in TABLES])]
    assert len(run("SHOW ALL TABLES")[0][1]) == len(TABLES)
    assert run("DESCRIBE runs")[0][1][0][:2] == ("a", "BIGINT")


@pytest.mark.parametrize("name", ["content", "query", "connection", "typed", "statement"])
def test_no_variable_of_ours_is_a_table(name: str) -> None:
    with pytest.raises(UsageError, match=f"Table with name {name} does not exist") as refused:
        run(f"FROM {name}")
    assert "pg_" not in str(refused.value) and "sqlite_" not in str(refused.value)


@pytest.mark.parametrize("before", ["", "SELECT 1;\n"])
@pytest.mark.parametrize(
    ("query", "wrong"), [("SELECT a,\n       nope FROM runs", "nope"), ("SELECT a FRM runs", "runs")]
)
def test_the_caret_stays_under_the_mistake(before: str, query: str, wrong: str) -> None:
    with pytest.raises(UsageError) as refused:
        run(before + query)
    lines = str(refused.value).splitlines()
    caret = next(place for place, line in enumerate(lines) if line.strip(" ^") == "" and "^" in line)
    assert lines[caret - 1].startswith("LINE ")
    assert lines[caret - 1][lines[caret].index("^") :].startswith(wrong)
    assert lines[-1] == "Tables: runs, loads."


def test_several_results_are_written_in_sequence(capsys: pytest.CaptureFixture[str]) -> None:
    write_all(run("SELECT a FROM runs; SELECT 7 AS b"), "csv")
    assert capsys.readouterr().out == "a\n1\n2\n\nb\n7\n"
    write_all(run("SELECT a FROM runs; SELECT 7 AS b"), "json")
    assert "".join(capsys.readouterr().out.split()) == '[[{"a":1},{"a":2}],[{"b":7}]]'
    write_all(run("SELECT 7 AS b"), "json")
    assert "".join(capsys.readouterr().out.split()) == '[{"b":7}]'


def test_a_file_is_out_of_reach(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a\n1\n")
    with pytest.raises(UsageError, match="The SQL was refused"):
        run(f"FROM '{tmp_path}/x.csv'")


def test_moments_are_in_utc_and_need_no_other_package() -> None:
    columns, rows = run("SELECT to_timestamp(0) AS t, [to_timestamp(0)] AS u, 1 AS t")[0]
    assert columns == ["t", "u", "t"]
    assert rows == [(datetime(1970, 1, 1), "['1970-01-01 00:00:00+00']", 1)]


def test_a_query_that_takes_too_much_memory_is_refused_and_no_file_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dbversus.results.sql._memory_mb", lambda: 50)
    (tmp_path / ".tmp").mkdir()
    with pytest.raises(UsageError, match="Out of Memory"):
        run("SELECT list(i) FROM range(100000000) t(i)")
    with pytest.raises(UsageError, match="disabled by configuration"):
        run("COPY (SELECT 42) TO '.tmp/w.csv'; SELECT 1")
    assert not list((tmp_path / ".tmp").iterdir())
