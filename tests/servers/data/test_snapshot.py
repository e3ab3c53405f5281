import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from dbversus.errors import RunError
from dbversus.servers.base import Placement
from dbversus.servers.data import snapshot
from dbversus.servers.postgres.server import PostgresServer

PARTS = {"dbms": "postgres", "build": "abc", "seed": 1}


def content(directory: Path) -> dict[str, tuple[int, int, int, bytes]]:
    """Name → owner, mode, time of change and bytes."""
    found = {}
    for path in sorted(directory.rglob("*")):
        stat = path.lstat()
        data = path.read_bytes() if path.is_file() else b""
        found[str(path.relative_to(directory))] = (stat.st_uid, stat.st_mode, stat.st_mtime_ns, data)
    return found


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "original"
    (path / "base").mkdir(parents=True)
    (path / "base/1").write_bytes(os.urandom(300_000))
    (path / "PG_VERSION").write_text("17")
    return path


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "disk"
    path.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(path)], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"a small file system cannot be mounted: {done.stderr.strip()}")
    yield path
    subprocess.run(["umount", str(path)], check=True)


def test_what_is_kept_is_found_and_restored_as_it_was(data: Path, tmp_path: Path) -> None:
    assert snapshot.find(PARTS, tmp_path) is None
    made = snapshot.keep(data, PARTS, {"loads.json": "[1]"}, tmp_path)
    assert snapshot.find(PARTS, tmp_path) == made
    assert snapshot.find({**PARTS, "seed": 2}, tmp_path) is None
    assert snapshot.read_extra(made, "loads.json") == "[1]"
    target = tmp_path / "work/data"
    snapshot.restore(made, target)
    assert content(target) == content(data)
    (target / "PG_VERSION").write_text("changed")
    (target / "more").write_text("new")
    snapshot.restore(made, target)
    assert content(target) == content(data)


def test_a_real_data_directory_starts_again_after_a_restore(server: PostgresServer, work_dir: Path) -> None:
    made = snapshot.keep(server.data_dir, PARTS, root=work_dir / "snapshots")
    before = content(server.data_dir)
    server.start(Placement())
    with server.connect() as connection:
        connection.execute("DROP TABLE sbtest1")
    server.stop()
    snapshot.restore(made, server.data_dir)
    assert content(server.data_dir) == before
    server.start(Placement())
    assert "sbtest1" in server.plan("SELECT * FROM sbtest1")


def test_an_existing_snapshot_is_not_written_again(data: Path, tmp_path: Path) -> None:
    made = snapshot.keep(data, PARTS, root=tmp_path)
    (data / "PG_VERSION").write_text("18")
    assert snapshot.keep(data, PARTS, root=tmp_path) == made
    assert (made / "data/PG_VERSION").read_text() == "17"


def test_two_writers_make_one_snapshot(data: Path, tmp_path: Path) -> None:
    threads = [threading.Thread(target=snapshot.keep, args=(data, PARTS, None, tmp_path)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    made = snapshot.find(PARTS, tmp_path)
    assert made
    assert content(made / "data") == content(data)
    assert not list(tmp_path.glob("*.partial"))


def test_a_partial_copy_of_one_who_was_killed_is_replaced(data: Path, tmp_path: Path) -> None:
    partial = tmp_path / f"{snapshot.snapshot_key(PARTS)}.partial"
    (partial / "data").mkdir(parents=True)
    (partial / "data/rubbish").write_text("x")
    assert snapshot.find(PARTS, tmp_path) is None
    made = snapshot.keep(data, PARTS, root=tmp_path)
    assert content(made / "data") == content(data)


def test_too_little_room_is_told_with_both_numbers_before_copying(data: Path, small_disk: Path) -> None:
    needed = r"needs \d+ bytes in .* and \d+ bytes are available; \d+ more are needed"
    with pytest.raises(RunError, match=needed):
        snapshot.keep(data, PARTS, root=small_disk)
    assert [path.name for path in small_disk.iterdir() if path.suffix != ".lock"] == []


def test_a_disk_that_fills_while_copying_leaves_nothing_partial(
    data: Path, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (data / "base/2").write_bytes(os.urandom(2_000_000))
    monkeypatch.setattr(snapshot, "_check_room", lambda source, parent: None)
    with pytest.raises(RunError, match="No space left on device"):
        snapshot.keep(data, PARTS, root=small_disk)
    assert snapshot.find(PARTS, small_disk) is None
    assert [path.name for path in small_disk.iterdir() if path.suffix != ".lock"] == []


def test_a_restore_without_room_leaves_nothing_partial(data: Path, small_disk: Path, tmp_path: Path) -> None:
    made = snapshot.keep(data, PARTS, root=tmp_path)
    with pytest.raises(RunError, match="more are needed"):
        snapshot.restore(made, small_disk / "data")
    assert list(small_disk.iterdir()) == []
