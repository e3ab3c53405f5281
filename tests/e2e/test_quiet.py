"""Other work on the host before a block: a process that is busy all the time, and is not ours."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from .conftest import Bench, wait_for

TARGETS = ["sqlite:bundled@wal", "sqlite:bundled"]


@pytest.fixture
def other_work() -> Iterator[None]:
    """Of a shell that has ended, so that nobody takes it for a child."""
    command = f"{sys.executable} -c 'while True: pass' > /dev/null 2>&1 & echo $!"
    pid = int(subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True).stdout)
    yield
    os.kill(pid, signal.SIGKILL)


@pytest.mark.alone
@pytest.mark.usefixtures("other_work")
def test_where_a_quiet_host_is_required_the_run_ends_and_can_go_on(bench: Bench) -> None:
    file = bench.write(TARGETS, "point-query", 'wait_quiet_s = "2s"\n')
    ended = bench.run("run", file, "--require-quiet", "--out", bench.out, status=1)
    said = "dbversus: Block 1 was not begun, since the host is not quiet after 2 s: other processes use "
    assert said in ended.stderr and f"go on with: dbversus resume {bench.out}" in ended.stderr
    (waited,) = bench.records("wait")
    assert not waited["quiet"] and waited["foreign_cores"] > 0.5 and not bench.records("row")
    choices = bench.out / "experiment.toml"
    choices.write_text(choices.read_text().replace("require_quiet = true", "require_quiet = false"))
    bench.run("resume", bench.out, "--wait-quiet", "1s")
    assert bench.records("row") and bench.records("finished") and len(bench.records("wait")) > 1
    assert "for a quiet host, before" in (bench.out / "report.md").read_text()


@pytest.mark.alone
@pytest.mark.usefixtures("other_work")
def test_ctrl_c_ends_the_wait_at_once(bench: Bench) -> None:
    process = bench.start("run", bench.write(TARGETS, "point-query"), "--wait-quiet", "10m", "--out", bench.out)
    wait_for(lambda: (bench.out / "journal.jsonl").exists() and len(bench.records("load")) == len(TARGETS), process)
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=600)
    assert process.returncode == 130 and f"go on with: dbversus resume {bench.out}" in said
    assert not bench.records("row") and not bench.survivors()
