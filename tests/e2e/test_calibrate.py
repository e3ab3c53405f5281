"""A calibration of the host through the command line, and what stands on it afterwards."""

import json
import subprocess
from pathlib import Path

import pytest

from .conftest import Bench

TRIES = 3


def calibrated(bench: Bench, *words: str) -> tuple[subprocess.CompletedProcess[str], Path]:
    """A calibration and its results directory, after a few tries: other work on the host can spoil one."""
    for number in range(TRIES):
        out = bench.folder / f"calibration-{number}"
        command = bench.command(*words, "--out", out)
        done = subprocess.run(command, capture_output=True, text=True, env=bench.env, cwd=bench.folder)
        if done.returncode == 0:
            return done, out
        assert "calibrate while it is quiet" in done.stderr, done.stderr
    pytest.skip("other work disturbs every calibration on this host")


@pytest.mark.alone
def test_a_calibration_is_measured_kept_shown_and_cited(bench: Bench, postgres: str) -> None:
    small = ["--quick", "--blocks", "4", "--table-size", "10k", "--tests", "point-query,update-index,read-write-10"]
    done, out = calibrated(bench, "calibrate", postgres, *small, "--suites", "20")
    assert (
        "False alarms" in done.stdout and "an injected slowdown" in done.stdout
    )  # how much of it, if four blocks tell
    content = json.loads((out / "calibration.json").read_text())
    assert (content["figures"]["blocks"], content["figures"]["injected"]) == (4, True)
    assert content["figures"]["recovery"]["values"] > 6
    bursts = content["figures"]["bursts"]
    assert (bursts["ms"], bursts["every_ms"]) == (50, 500) and bursts["blocks_with"] >= 1
    assert "Bursts (50" in done.stdout and "in bursts, 50" in done.stdout
    assert (out / "calibration.md").read_text().startswith("# Calibration of this host: PostgreSQL")
    (kept,) = (bench.home / "calibrations").glob("*/*.json")
    assert json.loads(kept.read_text()) == content

    shown = bench.run("doctor", "--seconds", "0")
    assert "Calibrated on this host" in shown.stdout
    again = json.loads(bench.run("calibrate", "--from", out, "--suites", "20", "--json").stdout)
    assert again == content

    compared = bench.folder / "compared"
    bench.run("run", bench.write([postgres, f"{postgres}@work_mem=8MB"], "point-query"), "--out", compared)
    report = json.loads((compared / "report.json").read_text())
    assert report["calibration"].startswith("Calibrated on this host less than an hour before this run (PostgreSQL")
    assert report["experiment"]["calibration"][0]["id"] == content["id"]
    assert not bench.survivors()


@pytest.mark.on_disk
@pytest.mark.alone
def test_io_can_be_injected_instead(bench: Bench, postgres: str) -> None:
    small = ["--quick", "--blocks", "3", "--table-size", "10k", "--tests", "update-index,update-nonindex,insert"]
    done, out = calibrated(bench, "calibrate", postgres, *small, "--suites", "20", "--inject", "io")
    assert "of injected io (bytes per operation)" in " ".join(done.stdout.lower().split())
    figures = json.loads((out / "calibration.json").read_text())["figures"]
    assert (figures["injected"], figures["recovery"]["metric"]) == (False, "io_bytes_per_op")
    assert done.stdout.count("--inject io") == 1


@pytest.mark.alone
def test_an_embedded_database_has_two_equal_copies_only(bench: Bench) -> None:
    words = [
        "calibrate",
        "sqlite:bundled@wal",
        "--quick",
        "--blocks",
        "3",
        "--table-size",
        "5k",
        "--tests",
        "point-query",
    ]
    done = bench.run(*words, "--judge", "cpu,p95", "--suites", "20", "--out", bench.out, "--json")
    assert "is no server" in done.stderr
    content = json.loads(done.stdout)
    assert (content["dbms"], content["figures"]["injected"]) == ("sqlite", False)
    header = bench.records("experiment")[0]
    assert len(header["targets"]) == 2
    assert "--judge cpu,p95" in header["command"] and header["judge"] == ["cpu", "p95"]
    assert content["figures"]["metrics"] == ["server_cpu_us_per_op", "latency_p95_us"]
    spread = {one["metric"]: one["block_sd"] for one in content["figures"]["spreads"]}
    assert spread["latency_p95_us"] is not None
    again = bench.run("calibrate", "--from", bench.out, "--judge", "throughput", "--suites", "20", "--json")
    assert json.loads(again.stdout)["figures"]["metrics"] == ["throughput_ops_per_s"]


def test_wrong_use_is_told_in_one_sentence(bench: Bench) -> None:
    for words, named in (
        (["calibrate", "--quick"], "target is missing"),
        (["calibrate", "postgres:17", "--from", "nosuch"], "leave out the target"),
        (["calibrate", "--from", "nosuch"], "nosuch"),
        (["calibrate", "postgres:17", "--blocks", "1"], "--blocks"),
        (["calibrate", "postgres:17", "--tests", "nosuch"], "nosuch"),
    ):
        done = bench.run(*words, status=2)
        assert named in done.stderr and len(done.stderr.strip().splitlines()) == 1


def test_results_of_a_comparison_are_no_calibration(bench: Bench) -> None:
    bench.run("run", bench.write(["sqlite:bundled@wal", "sqlite:bundled"], "point-query"), "--out", bench.out)
    done = bench.run("calibrate", "--from", bench.out, status=2)
    assert "is no calibration" in done.stderr
    assert not (bench.home / "calibrations").exists()
