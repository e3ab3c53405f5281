"""Dropping the page cache of real files."""

import os
from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.host import page_cache

SIZE = 8 * 2**20


def _dirty_file(folder: Path) -> Path:
    """Written just now, so that the page cache holds it and nothing else does."""
    (folder / "data").mkdir()
    path = folder / "data/table"
    path.write_bytes(os.urandom(SIZE))
    return path


def _on_disk(folder: Path) -> Path:
    try:
        page_cache.check(folder)
    except UsageError:
        pytest.skip(f"{folder} is in memory")
    return folder


@pytest.mark.alone  # root drops the page cache of the whole host
def test_dropped_files_are_not_in_memory_and_have_their_content(tmp_path: Path) -> None:
    path = _dirty_file(_on_disk(tmp_path))
    content = path.read_bytes()
    assert page_cache.resident_bytes(path) == SIZE
    assert page_cache.drop([path.parent]) in ("drop_caches", "posix_fadvise")
    assert page_cache.resident_bytes(path) < SIZE // 8
    assert path.read_bytes() == content
    assert page_cache.resident_bytes(path) == SIZE


def test_without_the_rights_of_root_it_is_done_file_by_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_cache, "DROP_CACHES", tmp_path / "no/such/switch")
    path = _dirty_file(_on_disk(tmp_path))
    other = tmp_path / "other"
    other.write_bytes(os.urandom(SIZE))
    assert page_cache.drop([path.parent]) == "posix_fadvise"
    assert page_cache.resident_bytes(path) < SIZE // 8
    assert page_cache.resident_bytes(other) == SIZE


def test_files_that_cannot_be_dropped_are_told_before_anything_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = Path("/dev/shm") / f"dbv-test-{os.getpid()}"
    try:
        memory.mkdir()
    except OSError:
        pytest.skip("this host has no /dev/shm")
    monkeypatch.setattr(page_cache, "DROP_CACHES", memory / "no/such/switch")
    try:
        with pytest.raises(UsageError, match=f"{memory} cannot be dropped.*accepted: cache 'warm'"):
            page_cache.check(memory)
        assert list(memory.iterdir()) == []
    finally:
        memory.rmdir()


def test_an_empty_file_is_in_no_cache(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert page_cache.resident_bytes(tmp_path / "empty") == 0
