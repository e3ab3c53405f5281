"""A small matrix, 2 × 2, in groups that share the base; and what belongs to the matrices of the reference method."""

import csv
import io
import json
from collections import Counter
from pathlib import Path

import pytest

from .conftest import Bench

EXPERIMENT = """
tests = "{tests}"
table_size = 2000
slot_ms = 10
write_slot_ms = 10
warm_up_ms = 1
rows = 6
seconds = 1
looks = [2]
at_once = 3
{more}
[matrix]
builds = ["sqlite:bundled"]
configs = [["wal", "rollback_sync_full"], ["cache_64mb", "mmap"]]
"""
PAIRS = """
SELECT t.target, count(*) AS pairs FROM slots t JOIN slots b USING (test, block, row)
WHERE b.target = 'sqlite:bundled@wal,cache_64mb' AND t.target <> b.target GROUP BY 1"""
CONFIGS = ["wal_cache_64mb", "wal_mmap", "rollback_sync_full_cache_64mb", "rollback_sync_full_mmap"]


def write(bench: Bench, tests: str, more: str = "") -> Path:
    path = bench.folder / "matrix.toml"
    path.write_text(EXPERIMENT.format(tests=tests, more=more))
    return path


def test_a_matrix_runs_in_groups_with_the_base(bench: Bench) -> None:
    done = bench.run("run", write(bench, "point-query,update-index"), "--out", bench.out)
    assert "Throughput of all targets" in done.stdout
    groups = {(row["group"], frozenset(slot["target"] for slot in row["slots"])) for row in bench.records("row")}
    assert groups == {("g0", frozenset({"t0", "t1"})), ("g1", frozenset({"t0", "t2", "t3"}))}
    rows = [(row["block"], row["test"], row["row"]) for row in bench.records("row")]
    assert len(set(rows)) == len(rows)
    assert all(check["agree"] for check in bench.records("check")) and len(bench.records("check")) == 4
    pairs = json.loads(bench.run("show", bench.out, "--format", "json", "--sql", PAIRS).stdout)
    slots = Counter(slot["target"] for row in bench.records("row") for slot in row["slots"])
    assert sorted(row["pairs"] for row in pairs) == sorted(slots[name] for name in ("t1", "t2", "t3"))
    assert not bench.survivors()
    text = bench.run("show", bench.out, "--table", "matrix", "--format", "csv").stdout
    lines = list(csv.DictReader(io.StringIO(text)))
    assert [line["config"] for line in lines] == CONFIGS
    # a host that was busy throughout leaves nothing to show
    assert all(float(line["point_query_per_s"] or 1) > 0 for line in lines)
    for name in ("report.html", "report.md"):
        assert "Throughput of all targets" in (bench.out / name).read_text()


def test_an_interrupted_block_goes_on_with_the_group_that_was_not_done_and_what_was_lost(bench: Bench) -> None:
    bench.run("run", write(bench, "update-index"), "--out", bench.out)
    journal = bench.out / "journal.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    records = [json.loads(line) for line in lines]
    ends = [n for n, one in enumerate(records) if one["type"] == "test" and (one["block"], one["group"]) == (1, "g0")]
    kept_lines = lines[1 : ends[0] + 1]
    journal.write_text("".join([json.dumps(records[0] | {"suite_checksum": "0"}) + "\n", *kept_lines]))
    (bench.out / "slots.parquet").unlink()
    refused = bench.run("resume", bench.out, status=2)
    assert "tests of suite sysbench are not what they were" in refused.stderr and "go on with" not in refused.stderr
    lost = {"type": "failure", "target": "t2", "stage": "start", "message": "no room", "final": True, "at_unix_ns": 1}
    journal.write_text("".join([lines[0], *kept_lines, json.dumps(lost) + "\n"]))
    bench.run("resume", bench.out)
    kept = [(row["block"], row["group"], row["row"]) for row in bench.records("row")]
    assert len(set(kept)) == len(kept)
    assert {(block, group) for block, group, _ in kept} == {(b, g) for b in (0, 1) for g in ("g0", "g1")}
    (remark,) = [remark for remark in bench.records("remark") if remark["target"] == "t2"]
    last = bench.records("row")[-1]
    assert "tried again" in remark["words"] and "t2" in last["order"] and last["block"] == 1
    assert bench.records("finished")


def test_dry_run_prints_the_expanded_matrix_with_time_and_disk(bench: Bench) -> None:
    file = write(bench, "point-query")
    done = bench.run("run", file, "--dry-run", "--exclude", "@wal,mmap")
    assert done.stdout.count("sqlite:bundled@") == 3 and "wal,mmap" not in done.stdout
    assert "all 3 targets in every row" in done.stdout
    assert "time" in done.stdout and "disk" in done.stdout
    crossed = bench.run("compare", "sqlite:bundled@sync_off", "--matrix", file, "--dry-run", "--at-once", "2").stdout
    assert "sqlite:bundled@sync_off,wal,cache_64mb" in crossed and "3 groups a block" in crossed
    assert not any(bench.home.iterdir())


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["run", "nosuch"], "durability"),
        (["run", "durability"], "no builds of mysql are named"),
        (["run", "durability", "--builds", "sqlite:bundled"], "no configs for sqlite"),
        (["run", "durability", "--builds", "postgres:17", "--exclude", "@nosuch"], "'@nosuch' matches no target"),
        (["compare", "sqlite:bundled", "sqlite:bundled@wal", "--exclude", "@wal"], "--exclude is for --matrix"),
        (["compare", "sqlite:bundled", "--matrix", "nosuch"], "Unknown experiment 'nosuch'"),
        (["compare", "sqlite:bundled", "sqlite:bundled@nosuch", "--dry-run"], "nosuch"),
    ],
)
def test_wrong_use_is_told_in_one_sentence(bench: Bench, words: list[str], named: str) -> None:
    done = bench.run(*words, status=2)
    assert named in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1 and "Traceback" not in done.stderr


def test_the_disk_is_measured_before_durability_is(bench: Bench) -> None:
    text = EXPERIMENT.format(tests="insert", more='suite = "durability"').replace("[2]", "[1]")
    (bench.folder / "matrix.toml").write_text(text)
    bench.run("run", bench.folder / "matrix.toml", "--out", bench.out)
    latency = json.loads((bench.out / "host.json").read_text())["sync_latency"]
    assert latency["fdatasync_4kB"]["p50_us"] > 0
    assert "A write and its sync took" in (bench.out / "report.md").read_text()
    slots = {plan["test"]: plan["slot"] for plan in bench.records("slots")}
    assert "ms" in slots["insert"]


def test_an_optional_config_that_the_server_refuses_has_its_own_line(bench: Bench) -> None:
    (bench.folder / "configs/sqlite/odd.conf").write_text("no_such_pragma = 1\n")
    text = EXPERIMENT.format(tests="point-query", more="").replace('"mmap"]]', '"odd", "mmap"]]')
    file = bench.folder / "matrix.toml"
    file.write_text(text)
    assert "no_such_pragma" in bench.run("run", file, "--out", bench.out, status=2).stderr
    file.write_text(f'{text}optional = ["odd"]\n')
    done = bench.run("run", file, "--out", bench.out)
    assert [failure["stage"] for failure in bench.records("failure")] == ["check", "check"]
    assert done.stdout.count("no_such_pragma") >= 2
    lines = bench.run("show", bench.out, "--table", "matrix").stdout.splitlines()
    assert sum("odd" in line and "–" in line for line in lines) == 2
