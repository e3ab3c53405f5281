import errno
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from dbversus.host import processes
from dbversus.host.claims.registry import Entry, Registry, cleanup_stale, end, remove_paths, stale_paths


def sleeper() -> "subprocess.Popen[bytes]":
    return subprocess.Popen(["sleep", "600"], cwd="/")


def entry_of(process: "subprocess.Popen[bytes]", tmp_path: Path) -> Entry:
    ticks = processes.start_ticks(process.pid)
    assert ticks
    return Entry(
        process.pid, ticks, str(tmp_path / "data"), processes.program_of(process.pid), paths=[str(tmp_path / "s")]
    )


def record_of_a_dead_controller(home: Path) -> Path:
    """Turns our own record into one of a controller that is gone."""
    path = next((home / "run").glob("*.json"))
    record = json.loads(path.read_text())
    record["controller_ticks"] -= 1
    path.write_text(json.dumps(record))
    return path


def test_a_record_exists_while_something_runs(tmp_path: Path) -> None:
    registry = Registry(tmp_path)
    process = sleeper()
    try:
        registry.add(entry_of(process, tmp_path))
        record = json.loads((tmp_path / f"run/{os.getpid()}.json").read_text())
        assert record["entries"][0]["root_pid"] == process.pid
        assert cleanup_stale(tmp_path) == []
        assert process.poll() is None
        registry.forget(process.pid)
        assert not (tmp_path / f"run/{os.getpid()}.json").exists()
    finally:
        process.kill()
        process.wait()


def test_of_a_record_that_cannot_be_written_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, text: str, encoding: str) -> None:
        path.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match=rf"No space left on device: '{tmp_path}/run/{os.getpid()}.json'"):
        Registry(tmp_path).add(Entry(1_000_000, 1, "", ""))
    assert not list((tmp_path / "run").iterdir())


def test_records_that_dead_controllers_did_not_finish_are_removed(tmp_path: Path) -> None:
    dead = sleeper()
    dead.kill()
    dead.wait()
    (tmp_path / "run").mkdir()
    unfinished, ours = (tmp_path / f"run/{pid}.partial" for pid in (dead.pid, os.getpid()))
    unfinished.touch()
    ours.touch()
    assert cleanup_stale(tmp_path) == []
    assert ours.exists() and not unfinished.exists()


def test_servers_that_are_started_by_several_threads_are_all_on_record(tmp_path: Path) -> None:
    registry, numbers = Registry(tmp_path), range(1_000_000, 1_000_200)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: registry.add(Entry(number, 1, "", "")), numbers))
        record = json.loads((tmp_path / f"run/{os.getpid()}.json").read_text())
        assert {entry["root_pid"] for entry in record["entries"]} == set(numbers)
        list(pool.map(registry.forget, numbers))
    assert not (tmp_path / f"run/{os.getpid()}.json").exists()


def test_what_a_dead_controller_left_is_ended_and_removed(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "work/4194999/t0").mkdir(parents=True)
    (tmp_path / f"work/{os.getpid()}").mkdir()
    process = sleeper()
    Registry(tmp_path).add(entry_of(process, tmp_path))
    path = record_of_a_dead_controller(tmp_path)
    said = cleanup_stale(tmp_path)
    assert f"pid {process.pid}" in said[0]
    assert process.wait(600) == -9
    assert not path.exists()
    assert not (tmp_path / "s").exists()
    assert [path.name for path in (tmp_path / "work").iterdir()] == [str(os.getpid())]


def test_memory_of_a_server_that_was_killed_before_anybody_saw_it_is_removed(tmp_path: Path) -> None:
    code = "import ctypes; print(ctypes.CDLL(None).shmget(0, 4096, 0o1600))"
    maker = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    number = int(maker.communicate()[0])
    assert number >= 0
    own = os.getuid()
    assert processes.unused_segments_by(maker.pid, own) == [number]
    assert processes.unused_segments_by(os.getpid(), own) == []
    end(Entry(maker.pid, 1, str(tmp_path / "data"), sys.executable, uid=own + 1))
    assert processes.unused_segments_by(maker.pid, own) == [number]  # of another who had the same number
    end(Entry(maker.pid, 1, str(tmp_path / "data"), sys.executable, uid=own))
    assert processes.unused_segments_by(maker.pid, own) == []


@pytest.mark.parametrize("change", ["ticks", "boot"])
def test_a_process_that_only_has_the_same_pid_is_left_alone(tmp_path: Path, change: str) -> None:
    process = sleeper()
    try:
        Registry(tmp_path).add(entry_of(process, tmp_path))
        path = record_of_a_dead_controller(tmp_path)
        record = json.loads(path.read_text())
        if change == "ticks":
            record["entries"][0]["root_ticks"] -= 1
        else:
            record["boot"] = "another"
        path.write_text(json.dumps(record))
        assert cleanup_stale(tmp_path) == []
        assert process.poll() is None
        assert not path.exists()
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"entries": [{"pid": 1}]}'])
def test_a_damaged_record_is_told_and_removed(tmp_path: Path, text: str) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run/77.json").write_text(text)
    assert "77.json was damaged" in cleanup_stale(tmp_path)[0]
    assert list((tmp_path / "run").iterdir()) == []


@pytest.mark.parametrize("what", ["record", "folder", "owner", "link"])
def test_records_of_others_are_left_alone(tmp_path: Path, what: str) -> None:
    """Whoever writes one would have root remove what they name, and end what they like."""
    if what == "owner" and os.geteuid() != 0:
        pytest.skip("only root gives files away")
    (tmp_path / "precious").touch()
    (tmp_path / "s").mkdir()
    process = sleeper()
    try:
        registry = Registry(tmp_path)
        registry.add(replace(entry_of(process, tmp_path), paths=[str(tmp_path / "precious"), str(tmp_path / "s")]))
        path = record_of_a_dead_controller(tmp_path)
        if what == "record":
            path.chmod(0o666)
        elif what == "folder":
            path.parent.chmod(0o777)
        elif what == "owner":
            os.chown(path, 54321, 54321)
        else:
            path.symlink_to(path.rename(tmp_path / "elsewhere"))
        (said,) = cleanup_stale(tmp_path)
        assert "what it says was left behind is left alone" in said
        assert stale_paths(tmp_path) == []
        assert process.poll() is None
        assert (tmp_path / "precious").exists() and (tmp_path / "s").exists()
    finally:
        process.kill()
        process.wait()


def test_working_directories_behind_a_link_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "theirs/4194999").mkdir(parents=True)
    (tmp_path / "home").mkdir()
    (tmp_path / "home/work").symlink_to(tmp_path / "theirs")
    assert cleanup_stale(tmp_path / "home") == []
    assert (tmp_path / "theirs/4194999").exists()


def test_nothing_is_removed_by_a_path_that_leads_up(tmp_path: Path) -> None:
    (tmp_path / "precious").touch()
    (tmp_path / "s").mkdir()
    remove_paths([f"{tmp_path}/s/../precious", "precious", "/", "/tmp"])
    assert (tmp_path / "precious").exists() and Path("/tmp").exists()
