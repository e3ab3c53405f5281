"""Settings of a test's connections: made on a real server, in the report; refused with their line."""

import json

from .conftest import Bench

SUITE = """title = "Sessions"
extends = "sysbench"
[[phases]]
name = "one"
tests = ["page"]
[tests.page]
title = "a page"
group = "range"
variables = { kib = 2000 }
settings_postgres = { work_mem = "{kib}kB", enable_seqscan = false }
settings_mysql = { sort_buffer_size = 65536 }
settings_sqlite = { cache_size = -4000 }
statements = [
  { name = "page", sql = "SELECT id FROM sbtest{table} WHERE k >= :from ORDER BY k, id LIMIT 3", params = { from = "any_id" } },
]
"""


def write(bench: Bench, old: str = "", new: str = "") -> None:
    (bench.folder / "sessions.toml").write_text(SUITE.replace(old, new) if old else SUITE)


def test_a_report_lists_them(bench: Bench, postgres: str) -> None:
    write(bench)
    file = bench.write([postgres, f"{postgres}@work_mem=8MB"], "*", 'suite = "sessions.toml"\n', looks=(2,))
    file.write_text(file.read_text().replace("[2, 3]", "[1]"))
    bench.run("run", file, "--out", bench.out)
    bench.run("report", bench.out, "--format", "json")
    report = json.loads((bench.out / "report.json").read_text())
    (page,) = [test for test in report["tests"] if test["name"] == "page"]
    assert "connections to PostgreSQL have work_mem = 2000kB, enable_seqscan = False" in page["notes"]


def test_a_server_refuses_one_by_its_line(bench: Bench, postgres: str) -> None:
    words = ("--suite", "sessions.toml", "--table-size", "1000", "--out", bench.out)
    write(bench, "enable_seqscan", "enable_seqscans")
    said = bench.run("compare", postgres, f"{postgres}@work_mem=8MB", *words, status=2).stderr
    assert "sessions.toml:10: setting 'enable_seqscans' is refused by postgres:" in said
    assert 'unrecognized configuration parameter "enable_seqscans"' in said
    assert not bench.survivors()


def test_sqlite_has_no_pragma_of_that_name(bench: Bench) -> None:
    write(bench, "cache_size", "cache_sizes")
    words = ("--suite", "sessions.toml", "--table-size", "1000", "--out", bench.out)
    said = bench.run("compare", "sqlite:bundled", "sqlite:bundled@mmap", *words, status=2).stderr
    assert (
        "sessions.toml:12: setting 'cache_sizes' is refused by sqlite:bundled: there is no setting of that name" in said
    )
