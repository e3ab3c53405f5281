"""perf is looked for and tried before anything is measured; what is missing is said in one sentence, with what to change."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.host.processes import is_alive
from dbversus.profiling import perf
from dbversus.profiling.perf import Perf, Recording, Stacks, find_perf, has_frame_pointers


def _fake_perf(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "perf"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setattr(perf, "instructions_counted", lambda: False)


def test_without_perf_the_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match=r"perf, which is not installed: package linux-perf .* known without it"):
        find_perf()


def test_without_permission_the_setting_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _fake_perf(tmp_path, "echo 'Access to performance monitoring is limited.' >&2; exit 255", monkeypatch)
    level = tmp_path / "level"
    level.write_text("3\n")
    monkeypatch.setattr(perf, "_PARANOID", level)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(UsageError, match=r"perf_event_paranoid is 3\): `sysctl kernel.perf_event_paranoid=1`"):
        find_perf()
    level.write_text("2\n")
    with pytest.raises(UsageError, match=r"^perf cannot record here: Access to performance monitoring is limited\."):
        find_perf()


def test_where_the_kernel_may_not_be_seen_the_rest_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _fake_perf(tmp_path, 'case "$*" in *cpu-clock:u*) exit 0;; esac; exit 1', monkeypatch)
    found = find_perf()
    assert (found.event, found.unwinds) == ("cpu-clock:u", True)


def test_where_perf_leaves_the_kernel_out_without_a_word_that_is_what_is_recorded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = 'case "$1" in evlist) echo "cpu-clock:u: type: 1, exclude_kernel: 1, exclude_hv: 1";; esac'
    _fake_perf(tmp_path, script, monkeypatch)
    found = find_perf()
    assert found.event == "cpu-clock:u" and not found.sees_kernel
    _fake_perf(tmp_path, "exit 0", monkeypatch)
    assert find_perf().sees_kernel


def test_the_clock_is_that_of_all_cpus_where_perf_may_sample_these(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _fake_perf(tmp_path, "exit 0", monkeypatch)
    assert find_perf().all_cpus
    _fake_perf(tmp_path, 'case "$*" in *--all-cpus*) exit 1;; esac', monkeypatch)
    assert (find_perf().event, find_perf().all_cpus) == ("cpu-clock", False)
    _fake_perf(tmp_path, "exit 0", monkeypatch)
    monkeypatch.setattr(perf, "instructions_counted", lambda: True)
    assert (find_perf().event, find_perf().all_cpus) == ("cycles", False)


@pytest.mark.parametrize("all_cpus", [True, False])
def test_of_all_cpus_only_samples_of_the_servers_count_and_of_what_they_start(
    all_cpus: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    head = "  postgres  %s/%s  10.%s:  1000:  55d0 ExecScan (/bin/postgres)"
    told = [head % (pid, pid, pid) for pid in (7, 8, 9)]
    forks = "  postgres  7/7  10.1: PERF_RECORD_FORK(8:8):(7:7)"
    # a script that was asked for processes has the others all the same: they are left out here, too
    (tmp_path / "told").write_text("\n".join([*told, ""]))
    (tmp_path / "forks").write_text(f"{forks}\n")
    script = f"""echo "$*" >> {tmp_path}/asked
case "$*" in
  *--show-task-events*) cat {tmp_path}/forks;;
  script*) cat {tmp_path}/told;;
  record*) echo > {tmp_path}/data; exec sleep 60;;
esac"""
    _fake_perf(tmp_path, script, monkeypatch)
    recording = Recording(
        Perf(str(tmp_path / "perf"), "cpu-clock", True, all_cpus), [7], Stacks.NONE, tmp_path / "data"
    )
    recording.end()
    assert [sample.pid for sample in recording.samples()] == ([7, 8] if all_cpus else [7, 8, 9])
    record, *_, last = (tmp_path / "asked").read_text().splitlines()
    assert ("--all-cpus" in record, "--pid 7" in record) == (all_cpus, not all_cpus)
    assert last.endswith("--pid 7,8") == all_cpus


def test_perf_ends_with_the_process_that_records(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """However that ends: of all CPUs it would go on for ever."""
    _fake_perf(tmp_path, f"echo $$ > {tmp_path}/pid; echo > {tmp_path}/data; exec sleep 600", monkeypatch)
    code = f"""
import signal, sys
from pathlib import Path
from dbversus.profiling.perf import Perf, Recording, Stacks
signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a job of a script has it
Recording(Perf({str(tmp_path / "perf")!r}, "cpu-clock", True, True), [7], Stacks.NONE, Path({str(tmp_path / "data")!r}))
print("recording", flush=True)
sys.stdin.read()
"""
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as recorder:
        assert recorder.stdout and recorder.stdout.readline() == b"recording\n"
        pid = int((tmp_path / "pid").read_text())
        assert is_alive(pid)
        recorder.kill()
    deadline_s = time.monotonic() + 60
    while is_alive(pid):
        assert time.monotonic() < deadline_s
        time.sleep(0.02)


def test_callers_are_found_by_what_all_programs_have(tmp_path: Path) -> None:
    nothing = tmp_path / "text"
    nothing.write_text("no program")
    assert not has_frame_pointers(nothing)
    assert not has_frame_pointers(tmp_path / "absent")
    assert isinstance(has_frame_pointers(Path(sys.executable).resolve()), bool)
    assert Perf("perf", "cpu-clock", unwinds=True).stacks_of([nothing]) is Stacks.UNWIND_TABLES
    assert Perf("perf", "cpu-clock", unwinds=False).stacks_of([None]) is Stacks.NONE
    assert Stacks.NONE.flags == []
