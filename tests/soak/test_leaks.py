"""Every kind of thing that can be left behind is found, and is not found once it is gone."""

import ctypes
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from dbversus.host import cgroups
from dbversus.host.claims.registry import remove_shared_memory

from .disk import SmallDisk, can_mount
from .leaks import LOOSE_BYTES_AT_MOST, Baseline, in_home, on_host, processes_of

_SLEEP = [sys.executable, "-c", "import time; print(flush=True); time.sleep(600)"]


@pytest.fixture
def before() -> Baseline:
    return Baseline.take()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in ("work", "run", "snapshots/abc", "cache"):
        (tmp_path / "home" / name).mkdir(parents=True)
    (tmp_path / "home/snapshots/abc/key.json").write_text("{}")
    (tmp_path / "home/snapshots/abc.lock").touch()
    return tmp_path / "home"


@pytest.mark.parametrize("way", ["directory", "words", "environment"])
def test_a_process_is_found_in_each_way(tmp_path: Path, way: str) -> None:
    cwd = tmp_path if way == "directory" else Path("/")
    more = [str(tmp_path / "file")] if way == "words" else []
    env = os.environ | ({"DBVERSUS_HOME": str(tmp_path / "home")} if way == "environment" else {})
    with subprocess.Popen([*_SLEEP, *more], cwd=cwd, env=env, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        assert [found.split()[0] for found in processes_of(tmp_path)] == [str(process.pid)]
        process.kill()
    assert processes_of(tmp_path) == []


@pytest.mark.alone
def test_a_directory_of_sockets_is_found(before: Baseline, tmp_path: Path) -> None:
    directory = tempfile.mkdtemp(prefix="dbversus-")
    assert on_host(before, tmp_path, []) == [f"directory {directory}"]
    Path(directory).rmdir()
    assert on_host(before, tmp_path, []) == []


@pytest.fixture
def segment() -> Iterator[int]:
    number = ctypes.CDLL(None).shmget(0, 4096, 0o1600)
    assert number >= 0
    yield number
    remove_shared_memory([number])


@pytest.mark.alone
def test_shared_memory_is_found(before: Baseline, tmp_path: Path, segment: int) -> None:
    assert on_host(before, tmp_path, []) == [f"System V shared memory segment {segment}"]
    remove_shared_memory([segment])
    with tempfile.NamedTemporaryFile(dir="/dev/shm", prefix="PostgreSQL.") as file:
        assert on_host(before, tmp_path, []) == [f"{file.name} in shared memory"]
    assert on_host(before, tmp_path, []) == []


@pytest.mark.alone
def test_a_control_group_is_found(before: Baseline, tmp_path: Path) -> None:
    group, note = cgroups.create_cgroup(f"{os.getpid()}-soak")
    if group is None:
        pytest.skip(note)
    assert on_host(before, tmp_path, [os.getpid()]) == sorted(f"control group {path}" for path in group.directories())
    assert on_host(before, tmp_path, []) == []
    group.remove()
    assert on_host(before, tmp_path, [os.getpid()]) == []


def test_a_home_in_which_nothing_is_left_passes(home: Path) -> None:
    assert in_home(home, 1) == []


@pytest.mark.parametrize("path", ["work/123/t0/data", "run/123.json", "snapshots/def"])
def test_what_is_left_in_a_home_is_found(home: Path, path: str) -> None:
    (home / path).mkdir(parents=True)
    assert len(in_home(home, 2)) == 1


def test_growth_of_a_home_is_found(home: Path) -> None:
    assert "1 snapshots of 0 targets" in in_home(home, 0)[0]
    (home / "cache/file").write_bytes(bytes(LOOSE_BYTES_AT_MOST + 1))
    assert "beyond builds and snapshots" in in_home(home, 1)[0]


@pytest.mark.alone
def test_a_full_disk_takes_nothing_until_it_is_freed(before: Baseline, tmp_path: Path) -> None:
    if not can_mount():
        pytest.skip("needs the right to mount a file system")
    with SmallDisk(tmp_path / "disk", 2**22) as disk:
        (disk.folder / "there").write_bytes(bytes(2**20))
        disk.fill()
        with pytest.raises(OSError, match="No space left"):
            (disk.folder / "more").write_bytes(bytes(2**16))
        disk.free()
        (disk.folder / "more").write_bytes(bytes(2**16))
        assert on_host(before, tmp_path, []) == [f"mount {disk.folder}"]
    assert not disk.was_busy and on_host(before, tmp_path, []) == []
