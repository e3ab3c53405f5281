"""A campaign on SQLite: which settings make a change; interrupted, killed, and gone on with."""

import json
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from ..soak.leaks import processes_of
from .conftest import Bench, wait_for

# acts only together: pages are checked when they are read, which a large cache spares
PAIR = {"cache_size", "cell_size_check"}
FIRST = "cache_size=-20000,temp_store=default,secure_delete=off,cell_size_check=off"
SECOND = "cache_size=2,temp_store=memory,secure_delete=on,cell_size_check=on"
ONE_TEST = ["--profile", "demo", "--tests", "point-query", "--table-size", "5k"]


def screening(bench: Bench, *more: str, second: str = SECOND) -> subprocess.Popen[str]:
    asked = ["--settings", FIRST, second, "--build", "sqlite:bundled", *ONE_TEST]
    return bench.start("explain", *asked, "--out", bench.out, *more)


def lines(bench: Bench) -> list[dict[str, object]]:
    content = (bench.out / "campaign.jsonl").read_text()
    return [json.loads(line) for line in content.splitlines(keepends=True) if line.endswith("\n")]


def rows(bench: Bench, name: str) -> int:
    try:
        return (bench.out / name / "journal.jsonl").read_bytes().count(b'{"type":"row"')
    except OSError:
        return 0


def check_found(bench: Bench, said: str) -> None:
    """The whole campaign is there, nothing of it twice, and says what is true; nothing runs any more."""
    found = json.loads(said)
    assert found["ended"], found
    # which settings are named is tested by simulation: short slots on a busy host tell no more than that one is
    for change in found["changes"]:
        parts = {part["settings"]: part["ratio"] for part in change["parts"]}
        assert change["metric"] != "server_cpu_us_per_op" or parts.get("cache_size, cell_size_check", 2) > 1.1
    measured = [line["name"] for line in lines(bench) if line["type"] == "measured"]
    assert measured and measured == ["ends", "screen", "confirm"][: len(measured)]
    for name in measured:
        journal = (bench.out / str(name) / "journal.jsonl").read_text().splitlines()
        ids = [(row["block"], row["test"], row["row"]) for row in map(json.loads, journal) if row["type"] == "row"]
        assert ids and len(ids) == len(set(ids))
    assert not bench.survivors() and not any((bench.home / "work").iterdir())


def test_an_interrupted_screening_goes_on_to_its_end(bench: Bench) -> None:
    process = screening(bench, "-q")
    wait_for(lambda: rows(bench, "screen") > 3, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=600)
    assert process.returncode == 130 and "Traceback" not in err
    assert f"go on with: dbversus resume {bench.out}" in err
    assert not bench.survivors()

    listed = bench.run("show", bench.out)
    assert "not finished; go on with: dbversus resume" in listed.stderr
    assert [line.split()[:2] for line in listed.stdout.splitlines()[1:]] == [["ends", "finished:"], ["screen", "begun"]]
    done = bench.run("resume", bench.out, "--json", "-q")
    check_found(bench, done.stdout)
    again = bench.run("resume", bench.out, "--json")
    assert again.stdout == done.stdout
    report = bench.run("report", bench.out / "screen")
    assert "point-query" in report.stdout


@pytest.mark.alone
def test_killed_at_any_moment_it_goes_on(bench: Bench) -> None:
    chance = random.Random(11)
    process = screening(bench, "-q")
    for _ in range(5):
        wait_for((bench.out / "campaign.jsonl").exists, process)
        time.sleep(chance.uniform(0, 7))
        process.kill()
        process.communicate()
        wait_for(lambda: not processes_of(bench.folder))
        process = bench.start("resume", bench.out, "--json", "-q")
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    check_found(bench, out)


def test_a_dry_run_says_what_comes_first_and_how_long_it_takes(bench: Bench) -> None:
    out, err = screening(bench, "--dry-run").communicate(timeout=600)
    assert out.startswith("ends: whether there is a change") and "looks    after 3, 5 blocks" in out, out + err
    assert "then: if tests changed, 4 settings screened in" in out and not bench.out.exists()


def test_a_setting_that_is_refused_leaves_nothing(bench: Bench) -> None:
    process = screening(bench, second="cache_size=2,jurnal_mode=wal,temp_store=memory,secure_delete=on")
    _, err = process.communicate(timeout=600)
    assert process.returncode == 2 and "has no PRAGMA 'jurnal_mode'" in err
    assert not bench.out.exists()


def test_an_interrupted_calibration_is_gone_on_with_and_evaluated(bench: Bench) -> None:
    small = ["--quick", "--blocks", "3", "--table-size", "5k", "--tests", "point-query", "--suites", "20"]
    process = bench.start("calibrate", "sqlite:bundled@wal", *small, "--out", bench.out)
    journal: Path = bench.out / "journal.jsonl"
    wait_for(lambda: journal.is_file() and b'{"type":"row"' in journal.read_bytes(), process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=600)
    assert process.returncode == 130 and err.count(f"go on with: dbversus resume {bench.out}") == 1
    done = bench.run("resume", bench.out)
    assert "Calibration of this host: SQLite" in done.stdout and (bench.out / "calibration.json").is_file()
    assert len(list((bench.home / "calibrations").glob("*/*.json"))) == 1
    assert not bench.survivors()
