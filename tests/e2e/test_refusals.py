"""A statement that a server refuses is told with its line before any row is loaded."""

from pathlib import Path

from .conftest import Bench

HEAD = """title = "Shop"
extends = "sysbench"
[[phases]]
name = "one"
tests = ["page", "point-query"]
[tests.page]
title = "a page"
group = "range"
statements = [
"""
PAGE = '  { name = "page", sql = "SELECT id, c FROM sbtest{table} WHERE k >= :from ORDER BY k, id LIMIT 3", '
PAGE += 'params = { from = "any_id" } },\n'


def shop(bench: Bench, *statements: str) -> Path:
    """A suite whose statements stand on the lines from 10 on."""
    path = bench.folder / "shop.toml"
    path.write_text(HEAD + "".join(statements) + "]\n")
    return path


def told(bench: Bench, *targets: str) -> str:
    """What is said of a suite that is refused, with no row loaded and nothing left behind."""
    words = ("--suite", "shop.toml", "--table-size", "1000", "--out", bench.out, "--profile", "quick")
    said = bench.run("compare", *targets, *words, status=2).stderr
    assert "Traceback" not in said and "resume" not in said
    assert not bench.out.exists() and not list(bench.home.glob("snapshots/*"))
    return said.splitlines()[-1]


def run_once(bench: Bench, targets: list[str], out: Path) -> None:
    """One block of all tests of the suite."""
    file = bench.write(targets, "*", 'suite = "shop.toml"\n')
    file.write_text(file.read_text().replace("[2, 3]", "[1]"))
    bench.run("run", file, "--out", out)


def test_postgres_names_file_line_and_statement(bench: Bench, postgres: str) -> None:
    targets = (postgres, f"{postgres}@work_mem=8MB")
    shop(bench, PAGE, '  { name = "wrong", sql = "SELECT colour FROM sbtest{table}" },\n')
    line = told(bench, *targets)
    assert "shop.toml:11: statement 'wrong' is refused by postgres:" in line
    assert 'column "colour" does not exist' in line
    shop(bench, '  { name = "wrong", sql = "SELECT 1", sql_postgres = "SELCT 1", mode = "text" },\n')
    assert "shop.toml:10: statement 'wrong' is refused" in told(bench, *targets)
    assert not bench.survivors()


def test_sqlite_names_the_file_of_the_statement(bench: Bench) -> None:
    shop(bench, PAGE, '  { name = "wrong", sql = "SELECT f(id) FROM sbtest{table}" },\n')
    (bench.folder / "more.toml").write_text('title = "more"\nextends = "shop.toml"\n')
    words = ("--suite", "more.toml", "--table-size", "1000", "--out", bench.out)
    said = bench.run("compare", "sqlite:bundled", "sqlite:bundled@mmap", *words, status=2).stderr
    assert "shop.toml:11: statement 'wrong' is refused by sqlite:bundled: no such function: f" in said


def test_what_the_suite_itself_makes_is_not_missed(bench: Bench, postgres: str) -> None:
    text = HEAD.replace('["page", ', '["make", "page", ').replace("[tests.page]", _MAKE + "[tests.page]")
    statement = '  { name = "own", sql = "SELECT k FROM own WHERE id = :id", params = { id = "any_id" } },\n'
    (bench.folder / "shop.toml").write_text(f"{text}{statement}]\n")
    run_once(bench, [postgres, f"{postgres}@work_mem=8MB"], bench.out)
    assert not bench.records("failure")
    assert {row["test"] for row in bench.records("row")} == {"make", "page", "point-query"}


_MAKE = """
[tests.make]
title = "make a table"
group = "write"
statements = [
  { name = "drop", sql = "DROP TABLE IF EXISTS own", mode = "text" },
  { name = "make", sql = "CREATE TABLE own AS SELECT id, k FROM sbtest{table} WHERE id < 9", mode = "text" },
]
"""


def test_data_that_is_there_is_no_reason_to_measure_first(bench: Bench) -> None:
    targets = ("sqlite:bundled", "sqlite:bundled@mmap")
    words = ("--table-size", "2000", "--out")
    shop(bench, PAGE)
    run_once(bench, list(targets), bench.folder / "first")
    shop(bench, PAGE, '  { name = "wrong", sql = "SELECT colour FROM sbtest{table}" },\n')
    said = bench.run("compare", *targets, "--suite", "shop.toml", *words, bench.out, status=2).stderr
    assert "shop.toml:11: statement 'wrong' is refused by sqlite:bundled: no such column: colour" in said
    assert not bench.out.exists()
