"""The Insert Benchmark when things go wrong: a disk that fills, a controller that is killed, a server that stands still."""

import json
import signal
import time
from pathlib import Path
from subprocess import Popen

import pytest

from ..soak.disk import SmallDisk, can_mount
from .conftest import Bench, wait_for
from .test_roles import servers, signal_all

pytestmark = pytest.mark.e2e

SUITE = """title = "Short"
extends = "insert"
[variables]
seconds = {seconds}
percent_more = {percent_more}
"""
LOAD = "l.i0,l.x,l.i1"
SECONDS = 6
STALL_S = 2.0


def write(bench: Bench, target: str, tests: str, *, percent_more: int = 100, table_size: int = 2000) -> Path:
    (bench.folder / "short.toml").write_text(SUITE.format(seconds=SECONDS, percent_more=percent_more))
    path = bench.write([target], tests, 'suite = "short.toml"\nalone = true\n', looks=(1,))
    path.write_text(path.read_text().replace("table_size = 2000", f"table_size = {table_size}"))
    return path


def wait_for_test(bench: Bench, run: "Popen[str]", name: str) -> None:
    """Until a test is finished, and the one after it has begun to be driven."""
    wait_for(lambda: (bench.out / "journal.jsonl").exists() and name in finished(bench), run)
    time.sleep(1.0)


def finished(bench: Bench) -> list[str]:
    lines = (bench.out / "journal.jsonl").read_text().splitlines()
    return [json.loads(line)["test"] for line in lines if line.startswith('{"type":"test"') and line.endswith("}")]


@pytest.mark.skipif(not can_mount(), reason="needs the right to mount a small file system")
def test_a_disk_that_fills_in_a_load_step_is_a_clean_stop_and_the_pass_is_begun_again(
    bench: Bench, postgres: str
) -> None:
    path = write(bench, postgres, LOAD, percent_more=2000, table_size=20_000)
    with SmallDisk(bench.home, 4 * 2**30) as disk:
        run = bench.start("run", path, "--out", bench.out, "--quiet")
        wait_for_test(bench, run, "l.x")
        disk.fill()
        _, said = run.communicate(timeout=600)
        assert run.returncode == 1, said
        # PostgreSQL's words for a page that it could write half of are others
        assert "No space left on device" in said or "Check free disk space" in said, said
        assert f"go on with: dbversus resume {bench.out}" in said
        assert "Traceback" not in said and not bench.survivors()
        disk.free()
        bench.run("resume", bench.out, "--quiet")
        (remark,) = [each["words"] for each in bench.records("remark") if "begun again" in each["words"]]
        assert "since it had been interrupted after l.x; what had been measured of l.i0, l.x counts" in remark
        assert finished(bench) == LOAD.split(",") and bench.records("finished")
    assert not disk.was_busy
    assert remark in (bench.out / "report.json").read_text()


def test_a_controller_killed_in_a_step_begins_the_pass_again(bench: Bench) -> None:
    run = bench.start(
        "run", write(bench, "sqlite:bundled@wal", LOAD, percent_more=20_000), "--out", bench.out, "--quiet"
    )
    wait_for_test(bench, run, "l.x")
    assert run.poll() is None and finished(bench)[-1] == "l.x"
    run.kill()
    run.communicate()
    bench.run("resume", bench.out, "--quiet")
    assert finished(bench) == LOAD.split(",")
    deleted = {row["test"]: row["slots"][0]["affected"] for row in bench.records("row")}
    assert deleted["l.i1"] == 2 * 2000 * 200 * 4 // 5  # on the data of before, each row that is deleted was there
    assert "the pass of block 1 was begun again on restored data" in (bench.out / "report.json").read_text()


def test_a_server_that_stands_still_shows_in_the_times_of_the_writers_and_as_a_stall(
    bench: Bench, postgres: str
) -> None:
    run = bench.start("run", write(bench, postgres, "l.i0,l.x,l.i1,l.i2,qr1000"), "--out", bench.out, "--quiet")
    wait_for_test(bench, run, "l.i2")
    time.sleep(1.0)
    pids = servers(bench.home)
    signal_all(pids, signal.SIGSTOP)
    time.sleep(STALL_S)
    signal_all(pids, signal.SIGCONT)
    assert run.wait(600) == 0, run.communicate()

    tests = json.loads((bench.out / "report.json").read_text())["tests"]
    (test,) = [each for each in tests if each["name"] == "qr1000"]
    (writers,), (readers,) = (test["roles"][role].values() for role in ("inserters", "queries"))
    response, service, closed = (
        times["percentiles_us"]["99"]["value"] / 1e6
        for times in (writers["response"], writers["service"], readers["response"])
    )
    # 40 of 120 inserts fell due while the server stood still, and one query was under way
    assert response > STALL_S * 0.8 and service < STALL_S * 0.5 and closed < STALL_S * 0.1
    assert writers["response"]["max_us"] > 1e6 * STALL_S * 0.9 and writers["late_share"] > 0.15
    assert readers["response"]["max_us"] > 1e6 * STALL_S * 0.9
    sql = "SELECT role, max(longest_s) AS longest FROM stalls WHERE test = 'qr1000' GROUP BY role"
    shown = json.loads(bench.run("show", bench.out, "--sql", sql, "--format", "json").stdout)
    longest = {line["role"]: line["longest"] for line in shown}
    assert all(0.9 * STALL_S < longest[role] < 1.5 * STALL_S for role in ("", "inserters", "queries")), longest
