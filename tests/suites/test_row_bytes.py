"""Bytes of a row: as the suite's columns tell, and as a real table holds them."""

import sqlite3
from pathlib import Path

import pytest

from dbversus.experiment.rig.engine import Engine
from dbversus.servers.sqlite.ddl import table_sql
from dbversus.suites import load_suite, loads
from dbversus.suites.row_bytes import bytes_of_roles, bytes_of_tables

from ..left_out import engine_at_hand

ROWS = 4000
SUITE = """title = "Rows"

[tables.items]
primary_key = ["id"]
[tables.items.columns]
id = {{ type = "int8", values = {{ gen = "sequence" }} }}
mood = {{ type = "text", values = {{ gen = "choice", of = ["calm", "excited"], weights = [3, 1] }} }}
note = {{ type = "varchar(90)", nullable = true, values = {{ gen = "text", template = ["@@@@", "#### ###"], nulls = 0.5 }} }}
{more}
[tests.more]
title = "Insert, and delete"
group = "write"
[tests.more.roles.writers]
statements = [{{ name = "write", into = "items" }}]
[tests.more.roles.readers]
statements = [{{ name = "read", sql = "SELECT count(*) FROM items" }}]

[[phases]]
name = "all"
tests = ["more"]
"""
OF_A_ROW = 8 + (3 * 4 + 7) / 4 + (4 + 8) / 2 / 2
REFERRING = 'tag = { type = "text", values = { gen = "text", template = "n {id}" } }\n'


def _written(folder: Path, more: str = "") -> Path:
    path = folder / "rows.toml"
    path.write_text(SUITE.format(more=more))
    return path


def test_rows_of_the_insert_benchmark() -> None:
    suite = load_suite("insert")
    assert bytes_of_tables(suite, 1000, 2) == {"pi": 2 * 8 + 4 * 4 + 15}
    assert bytes_of_roles(suite, suite.tests["l.x"], 1000, 2) == {"": 47.0}
    assert bytes_of_roles(suite, suite.tests["qr100"], 1000, 2) == {"inserters": 47.0, "deleters": 47.0}


def test_texts_count_by_their_mean_length_and_null_is_nothing(tmp_path: Path) -> None:
    suite = load_suite(_written(tmp_path))
    assert bytes_of_tables(suite, ROWS, 1) == {"items": pytest.approx(OF_A_ROW)}
    assert bytes_of_roles(suite, suite.tests["more"], ROWS, 1) == {"writers": pytest.approx(OF_A_ROW)}


def test_a_text_whose_length_depends_on_others_is_not_guessed(tmp_path: Path) -> None:
    suite = load_suite(_written(tmp_path, REFERRING))
    assert bytes_of_tables(suite, ROWS, 1) == {}
    assert bytes_of_roles(suite, suite.tests["more"], ROWS, 1) == {}


def test_a_real_table_holds_so_many_bytes(tmp_path: Path) -> None:
    """Values of 4,000 rows as the engine has made them; 8 for each integer, as in other DBMSs: SQLite packs small ones."""
    engine_at_hand()
    suite, path = load_suite(_written(tmp_path)), tmp_path / "items.db"
    with Engine() as engine:
        engine.call("target", name="t0", wire="sqlite", address={"path": str(path), "library": "bundled"})
        for made in loads(suite, ROWS, 1, table_sql):
            engine.call("load", target="t0", seed=1, table=made)
    with sqlite3.connect(path) as connection:
        texts = "sum(length(CAST(mood AS BLOB)) + coalesce(length(CAST(note AS BLOB)), 0))"
        (found,) = connection.execute(f"SELECT 8 * count(*) + {texts} FROM items").fetchone()  # noqa: S608
    assert found / ROWS == pytest.approx(OF_A_ROW, rel=0.02)
