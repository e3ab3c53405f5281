"""From target names to a verdict and a report."""

import json
import re
from pathlib import Path

import pytest

from .conftest import Bench

TESTS = "point-query,update-index,read-write-10,insert"


def test_two_sqlite_configurations_end_to_end(bench: Bench) -> None:
    file = bench.write(["sqlite:bundled@wal", "sqlite:bundled@rollback_sync_full"], TESTS)
    done = bench.run("run", file, "--out", bench.out)
    assert "update-index" in done.stdout and "report.html" in done.stdout
    for name in ("experiment.toml", "journal.jsonl", "slots.parquet", "host.json", "report.html", "report.md"):
        assert (bench.out / name).stat().st_size > 0, name
    assert {"t0", "t1"} == {path.name for path in (bench.out / "servers").iterdir()}
    assert all(check["agree"] for check in bench.records("check"))
    shown = bench.run(
        "show", bench.out, "--format", "json", "--sql", "SELECT target, sum(ops) AS ops FROM slots GROUP BY 1"
    )
    assert all(row["ops"] > 0 for row in json.loads(shown.stdout))


def test_postgres_against_a_copy_of_itself_does_the_same_work(bench: Bench, postgres: str) -> None:
    bench.run("run", bench.write([postgres, postgres], TESTS), "--out", bench.out, "--json")
    report = json.loads((bench.out / "report.json").read_text())
    assert {target["label"] for target in report["targets"]} == {postgres, f"{postgres}#2"}
    writes = [row["slots"] for row in bench.records("row") if row["test"] != "point-query"]
    assert writes
    for mine, base in writes:
        assert (mine["ops"], mine["affected"]) == (base["ops"], base["affected"])
    for settled in bench.records("settled"):
        owed = {name: count for name, count in settled["debt"].items() if not name.startswith("wal_")}
        assert not any(owed.values()), settled
    assert not bench.survivors()
    assert not (bench.home / "work").exists() or not any((bench.home / "work").iterdir())


def test_a_percentile_is_judged_where_there_are_operations_enough(bench: Bench) -> None:
    """Nobody reads a whole table ten thousand times in a quarter of a second."""
    file = bench.write(["sqlite:bundled@wal", "sqlite:bundled"], "point-query,scan", 'judge = "cpu"\n')
    file.write_text(file.read_text().replace("rows = 6", "rows = 24"))
    done = bench.run("run", file, "--judge", "throughput,p95,p99", "--out", bench.out)
    header = bench.records("experiment")[0]
    assert header["judge"] == ["throughput", "p95", "p99"] and "--judge throughput,p95,p99" in header["command"]
    assert re.search(r"p99 is not judged in \d, which ha\w+ too few operations per block: .*scan", done.stdout)
    sql = "SELECT test, metric FROM findings WHERE judged AND ratio IS NOT NULL"
    shown = json.loads(bench.run("show", bench.out, "--format", "json", "--sql", sql).stdout)
    judged = {tuple(row.values()) for row in shown}
    assert judged >= {("point-query", "latency_p95_us"), ("scan", "throughput_ops_per_s")}
    assert ("scan", "latency_p99_us") not in judged


def test_three_targets_share_their_rows(bench: Bench) -> None:
    file = bench.write(["sqlite:bundled@wal", "sqlite:bundled", "sqlite:bundled@cache_64mb"], "point-query")
    bench.run("run", file, "--out", bench.out)
    orders = {tuple(row["order"]) for row in bench.records("row")}
    assert orders == {(a, b, c) for a in _T for b in _T for c in _T if len({a, b, c}) == 3}


_T = ("t0", "t1", "t2")


def test_several_numbers_of_clients_are_judged_apart_and_memory_is_journaled(bench: Bench, postgres: str) -> None:
    file = bench.write([postgres, f"{postgres}@work_mem=8MB"], "point-query", "clients = [1, 2]\n")
    bench.run("run", file, "--out", bench.out)
    assert bench.records("experiment")[0]["tests"][1:] == ["point-query@1", "point-query@2"]
    findings = json.loads(bench.run("show", bench.out, "--format", "json").stdout)
    assert {row["test"] for row in findings} >= {"point-query@1", "point-query@2"}
    memory = [use for record in bench.records("memory") for use in record["targets"].items()]
    assert {name for name, _ in memory} == {"t0", "t1"}
    for _, use in memory:
        assert use["processes"] > 3
        assert use["pss_bytes"] is None or 0 < use["pss_bytes"] <= use["rss_bytes"]
        assert use["peak_rss_bytes"] > 0


def test_a_second_run_takes_the_loaded_data_of_the_first(bench: Bench) -> None:
    file = bench.write(["sqlite:bundled@wal", "sqlite:bundled", "sqlite:bundled@mmap"], "point-query")
    printed = [bench.run("run", file, "--out", folder).stdout for folder in (bench.out, bench.folder / "again")]
    first, again = (
        [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
        for folder in (bench.out, bench.folder / "again")
    )
    told = [
        [(record["earlier"], record.get("shares")) for record in records if record["type"] == "load"]
        for records in (first, again)
    ]
    shared = (True, "sqlite:bundled")
    assert told == [[(False, None), (False, None), shared], [(True, None), (True, None), shared]]
    assert all("sqlite:bundled@mmap shares the data of sqlite:bundled." in text for text in printed)
    assert not any("Loads of different times" in text for text in printed)  # in the second, both are of the first


def test_run_takes_another_table_size_than_the_file_says(bench: Bench) -> None:
    file = bench.write(["sqlite:bundled", "sqlite:bundled@page_size=8192"], "point-query")
    assert "1 × 3,000 rows, loaded 2 times" in bench.run("run", file, "--table-size", "3k", "--dry-run").stdout
    assert "--table-size is 'x'" in bench.run("run", file, "--table-size", "x", "--dry-run", status=2).stderr


def test_dry_run_prints_the_plan_and_starts_nothing(bench: Bench) -> None:
    done = bench.run("compare", "sqlite:bundled@wal", "sqlite:bundled", "--dry-run", "--tests", "point-*")
    assert "time" in done.stdout and "disk" in done.stdout and "point-query" in done.stdout
    assert not any(bench.home.iterdir())


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["compare", "oracle:19", "postgres:17"], "oracle"),
        (["compare", "postgres:99.9", "postgres:17"], "99.9"),
        (["compare", "postgres:nosuch/17.1", "postgres:17"], "nosuch"),
        (["compare", "sqlite:bundled@nosuch", "sqlite:bundled"], "nosuch"),
        (["compare", "sqlite:bundled@no_such_pragma=1", "sqlite:bundled"], "no_such_pragma"),
        (["compare", "sqlite:bundled", "sqlite:bundled@wal", "--tests", "nosuch"], "nosuch"),
        (["compare", "sqlite:bundled", "sqlite:bundled@wal", "--profile", "nosuch"], "nosuch"),
        (["compare", "sqlite:bundled", "sqlite:bundled@wal", "--suite", "nosuch"], "nosuch"),
        (["compare", "sqlite:bundled", "sqlite:bundled@wal", "--margin", "speed=0.1"], "speed"),
        (["compare", "sqlite:bundled", "sqlite:bundled@wal", "--judge", "speed"], "unknown metric 'speed'"),
        (["compare", "sqlite:bundled", "sqlite:bundled@wal", "--table-size", "0"], "table-size"),
        (["compare", "sqlite:bundled", "sqlite:bundled@wal", "--time-budget", "soon"], "soon"),
        (["compare", "sqlite:bundled", "sqlite:bundled@wal", "--fail-on", "sneeze"], "sneeze"),
        (["compare", "sqlite:bundled", "sqlite:bundled@wal", "--fail-on", "regression,"], "--fail-on ''"),
        (["compare", "sqlite:bundled", "sqlite:bundled@wal", "--fail-on", ""], "--fail-on ''"),
        (["compare", "sqlite:bundled", "sqlite:bundled@wal", "--fail-on", "disturbed"], "unstable"),
        (["compare", "sqlite:bundled", "sqlite:bundled@wal", "--require-verdicts", "0"], "--require-verdicts is '0'"),
        (["compare", "sqlite:bundled", "sqlite:bundled@wal", "--require-verdicts", "0%"], "--require-verdicts is '0%'"),
        (["compare", "sqlite:bundled", "sqlite:bundled@wal", "--require-verdicts", "101%"], "such as 80%"),
        (["report", "nosuch-results", "--fail-on", "sneeze"], "sneeze"),
        (["resume", "nosuch-results", "--require-verdicts", "0.8"], "0.8"),
        (["compare", "sqlite:bundled", "sqlite:bundled@wal", "--placement", "upside-down"], "upside-down"),
        (["compare", "/nosuch/postgres", "postgres:17"], "/nosuch/postgres"),
        (["run", "nosuch.toml"], "nosuch.toml"),
        (["report", "nosuch-results"], "nosuch-results"),
        (["resume", "nosuch-results"], "nosuch-results"),
        (["show", "nosuch-results"], "nosuch-results"),
    ],
)
def test_wrong_use_is_told_in_one_sentence_and_starts_nothing(bench: Bench, words: list[str], named: str) -> None:
    done = bench.run(*words, status=2)
    assert named in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1 and "Traceback" not in done.stderr
    assert not (bench.home / "work").exists() or not any((bench.home / "work").iterdir())
    assert not any(path.name.startswith("results") for path in bench.folder.iterdir())


def test_a_results_directory_is_never_overwritten(bench: Bench) -> None:
    bench.out.mkdir()
    (bench.out / "precious").write_text("x")
    done = bench.run("run", bench.write(["sqlite:bundled"] * 2, "point-query"), "--out", bench.out, status=2)
    assert "not empty" in done.stderr
    assert [path.name for path in bench.out.iterdir()] == ["precious"]


def test_a_target_that_gives_other_answers_is_a_wrong_result(bench: Bench, tmp_path: Path) -> None:
    suite = tmp_path / "odd.toml"
    suite.write_text(
        'title = "asks for the library itself"\nextends = "sysbench"\n'
        '[tests.odd]\ntitle = "odd"\ngroup = "point"\n'
        'statements = [{ name = "odd", sql = "SELECT cache_size FROM pragma_cache_size" }]\n'
        '[[phases]]\nname = "odd"\ntests = ["odd"]\n'
    )
    targets = ["sqlite:bundled@cache_size=100", "sqlite:bundled@cache_size=200"]
    bench.run(
        "run",
        bench.write(targets, "odd", f'suite = "{suite}"\n'),
        "--out",
        bench.out,
        "--fail-on",
        "regression",
        status=99,
    )
    assert [check["agree"] for check in bench.records("check")] == [False]
    assert [block["event"] for block in bench.records("block")] == ["started", "finished"]  # more would tell nothing
    assert "wrong result" in (bench.out / "report.md").read_text().lower()


def test_a_run_with_no_target_left_is_a_failed_one(bench: Bench, tmp_path: Path) -> None:
    suite = tmp_path / "strict.toml"
    suite.write_text(
        'title = "overflows at one cache size"\nextends = "sysbench"\n'
        '[tests.strict]\ntitle = "strict"\ngroup = "point"\nstatements = [{ name = "strict", '
        'sql = "SELECT abs(-9223372036854775607 - cache_size) > 0 FROM pragma_cache_size" }]\n'
        '[[phases]]\nname = "strict"\ntests = ["strict"]\n'
    )
    targets = ["sqlite:bundled@cache_size=200", "sqlite:bundled@cache_size=201"]
    file = bench.write(targets, "strict", f'suite = "{suite}"\n')
    done = bench.run("run", file, "--out", bench.out, "--fail-on", "undecided,failed", status=99)
    assert "No target is left to compare with" in done.stderr
    assert f"--fail-on failed: strict on {targets[1]}." in done.stderr
    bench.run("run", file, "--out", bench.folder / "again", "--fail-on", "regression", status=1)
    bench.run("report", bench.out, "--fail-on", "regression", status=98)


def test_others_are_measured_where_one_answers_otherwise_or_refuses(bench: Bench, tmp_path: Path) -> None:
    suite = tmp_path / "odd.toml"
    suite.write_text(
        'title = "asks for the library itself"\nextends = "sysbench"\n'
        '[tests.odd]\ntitle = "odd"\ngroup = "point"\n'
        'statements = [{ name = "odd", sql = "SELECT cache_size FROM pragma_cache_size" }]\n'
        '[tests.strict]\ntitle = "strict"\ngroup = "point"\nstatements = [{ name = "strict", '
        'sql = "SELECT abs(-9223372036854775607 - cache_size) > 0 FROM pragma_cache_size" }]\n'
        '[[phases]]\nname = "both"\ntests = ["odd", "strict"]\n'
    )
    targets = [f"sqlite:bundled@cache_size={size}" for size in (200, 100, 201, 200)]
    bench.run("run", bench.write(targets, "odd,strict", f'suite = "{suite}"\n'), "--out", bench.out)
    measured = {(row["test"], slot["target"]) for row in bench.records("row") for slot in row["slots"]}
    assert measured == {("odd", "t0"), ("odd", "t3"), ("strict", "t0"), ("strict", "t1"), ("strict", "t3")}
    (failure,) = bench.records("failure")
    assert (failure["target"], failure["test"], failure["stage"], failure["final"]) == ("t2", "strict", "slot", True)
    assert "overflow" in failure["message"] and bench.records("finished")
    tests = json.loads((bench.out / "report.json").read_text())["tests"]
    verdicts = {(test["name"], one["target"]): one["verdict"] for test in tests for one in test["comparisons"]}
    assert verdicts["odd", targets[1]] == verdicts["odd", targets[2]] == "wrong result"
    assert verdicts["strict", targets[2]] == "failed"


def test_in_sequential_order_targets_run_one_after_the_other(bench: Bench) -> None:
    file = bench.write(["sqlite:bundled@wal", "sqlite:bundled"], "point-query", 'order = "sequential"\n')
    bench.run("run", file, "--out", bench.out)
    orders = [(row["block"], *row["order"]) for row in bench.records("row")]
    turns = list(dict.fromkeys(orders))
    assert len(turns) == 2 * len({block for block, _ in turns})
    assert {name for _, name in turns} == {"t0", "t1"}
    assert [block for block, _ in turns] == sorted(block for block, _ in turns)
    assert {turns[0][1], turns[2][1]} == {"t0", "t1"}  # who comes first changes
    findings = json.loads(bench.run("show", bench.out, "--format", "json").stdout)
    cpu = [row for row in findings if row["metric"] == "server_cpu_us_per_op"]
    assert cpu and all(row["ratio"] or row["verdict"] == "disturbed" for row in cpu)  # a busy host may leave no row
