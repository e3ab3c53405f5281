"""A results folder may be a stranger's: nothing is written through its links, and a full disk loses nothing."""

from pathlib import Path

import pytest

from dbversus.errors import RunError, UsageError
from dbversus.results.read import open_results
from dbversus.results.schema import JOURNAL, LATENCY, SLOTS
from dbversus.results.write import Journal, seal, write_slots

from ..journals import HOST, DictJournal
from ..soak.disk import SmallDisk, can_mount
from .samples import histogram, write_journal

HDR = {"type": "latency", "block": 0, "test": "point-query", "hdr": {"t0": histogram([5000]), "t1": histogram([7000])}}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    folder.mkdir()
    write_measured(folder)
    return folder


def write_measured(folder: Path) -> None:
    write_journal(folder, rows=3)
    with DictJournal(folder) as journal:
        journal.append(HDR)


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    path = tmp_path / "outside/precious.txt"
    path.parent.mkdir()
    path.write_text("dear to me")
    return path


@pytest.mark.parametrize("file", [SLOTS, f"{LATENCY}/point-query@t0.hlog"])
@pytest.mark.parametrize("end", ["", ".partial"])
def test_sealing_replaces_links_to_files(directory: Path, precious: Path, file: str, end: str) -> None:
    link = directory / f"{file}{end}"
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(precious)
    seal(directory)
    assert precious.read_text() == "dear to me"
    assert (directory / file).is_file()
    assert not [path for path in directory.rglob("*") if path.is_symlink()]


@pytest.mark.parametrize("target", ["", "new"])
def test_sealing_enters_no_folder_that_is_a_link(directory: Path, precious: Path, target: str) -> None:
    (directory / LATENCY).symlink_to(precious.parent / target)
    with pytest.raises(UsageError, match=r"latency is a link, and nothing in .* is written through links; remove it"):
        seal(directory)
    assert list(precious.parent.iterdir()) == [precious]


def test_a_journal_that_is_a_link_is_not_gone_on_with(directory: Path, precious: Path) -> None:
    (directory / JOURNAL).rename(precious.parent / JOURNAL)
    (directory / JOURNAL).symlink_to(precious.parent / JOURNAL)
    with pytest.raises(UsageError, match=r"journal\.jsonl is a link"):
        Journal(directory, HOST)


def test_a_torn_line_is_set_aside_through_no_link(directory: Path, precious: Path) -> None:
    with (directory / JOURNAL).open("ab") as file:
        file.write(b'{"type":"row","ta')
    (directory / f"{JOURNAL}.torn").symlink_to(precious)
    before = (directory / JOURNAL).read_bytes()
    with pytest.raises(UsageError, match=r"journal\.jsonl\.torn is a link"):
        Journal(directory, HOST)
    assert precious.read_text() == "dear to me"
    assert (directory / JOURNAL).read_bytes() == before
    (directory / f"{JOURNAL}.torn").unlink()
    Journal(directory, HOST).close()  # the first one did not keep it


def test_a_full_disk_leaves_what_was_sealed(tmp_path: Path) -> None:
    if not can_mount():
        pytest.skip("needs the right to mount a file system")
    with SmallDisk(tmp_path / "disk", 1 << 22) as disk:
        write_measured(disk.folder)
        seal(disk.folder)
        before = {path: path.read_bytes() for path in disk.folder.rglob("*") if path.is_file()}
        disk.fill()
        with pytest.raises(RunError, match=r"\.(hlog|parquet) cannot be written: No space left on device\.$"):
            seal(disk.folder)
        assert {path: path.read_bytes() for path in disk.folder.rglob("*") if path.is_file()} == before
        disk.free()
        seal(disk.folder)
        assert len(open_results(disk.folder).slots["ops"]) == 6


def test_a_full_disk_names_the_parquet_file(tmp_path: Path) -> None:
    if not can_mount():
        pytest.skip("needs the right to mount a file system")
    with SmallDisk(tmp_path / "disk", 1 << 22) as disk:
        (disk.folder / "other").write_bytes(bytes(1 << 16))
        disk.fill()
        with pytest.raises(RunError, match=rf"^{disk.folder}/{SLOTS} cannot be written: No space left on device\.$"):
            write_slots(disk.folder / SLOTS, [], {})
        assert [path.name for path in disk.folder.iterdir()] == ["other"]
