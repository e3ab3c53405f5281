"""perf is looked for and tried before anything is measured; what is missing is said in one sentence, with what to change."""

import os
import sys
from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.profiling import perf
from dbversus.profiling.perf import Perf, Stacks, find_perf, has_frame_pointers


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


def test_callers_are_found_by_what_all_programs_have(tmp_path: Path) -> None:
    nothing = tmp_path / "text"
    nothing.write_text("no program")
    assert not has_frame_pointers(nothing)
    assert not has_frame_pointers(tmp_path / "absent")
    assert isinstance(has_frame_pointers(Path(sys.executable).resolve()), bool)
    assert Perf("perf", "cpu-clock", unwinds=True).stacks_of([nothing]) is Stacks.UNWIND_TABLES
    assert Perf("perf", "cpu-clock", unwinds=False).stacks_of([None]) is Stacks.NONE
    assert Stacks.NONE.flags == []
