"""A gzipped script unpacks to as much as is plausible, in the home, and a disk that is full is told as such."""

import gzip
import random
import re
from pathlib import Path

import pytest

from dbversus import packed
from dbversus.dbms.model import Family
from dbversus.errors import RunError, UsageError
from dbversus.suites.scripts import included, read_script, unpacked
from dbversus.suites.scripts.text import opened

from ...soak.disk import SmallDisk, can_mount

LITTLE = 1 << 20


@pytest.fixture(autouse=True)
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """What may come out of any file, instead of 1 GiB."""
    monkeypatch.setattr(packed, "PLAIN_BYTES", LITTLE)


def script(folder: Path, text: bytes, level: int = 9) -> Path:
    path = folder / "dump.sql.gz"
    path.write_bytes(gzip.compress(text, level))
    return path


def noise(size: int) -> bytes:
    return b"SELECT '" + random.Random(1).randbytes(size // 2).hex().encode() + b"';\n"


@pytest.mark.parametrize("level", [1, 9])
@pytest.mark.parametrize("text", [bytes(1 << 24), b"SELECT 1;\n" * (1 << 21), b"/*" + b" " * (1 << 24)])
def test_what_unpacks_to_too_much_is_refused(tmp_path: Path, text: bytes, level: int) -> None:
    path = script(tmp_path, text, level)
    words = (
        rf"^{re.escape(str(path))} unpacks to more than [\d.]+ GB and is refused: .* unpack it yourself and name what"
    )
    with pytest.raises(UsageError, match=words):
        read_script(path, Family.POSTGRES)
    assert included(path, tmp_path) == []
    with pytest.raises(UsageError, match=words), unpacked(path, tmp_path):
        pass
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("text", [b"SELECT 1;\n" * (LITTLE // 10), noise(8 * LITTLE)], ids=["little", "plausible"])
def test_what_is_plausible_is_read(tmp_path: Path, text: bytes) -> None:
    path = script(tmp_path, text)
    with opened(path) as found:
        assert found[:] == text
    with unpacked(path, tmp_path) as plain:
        assert plain.read_bytes() == text


def test_a_plain_script_may_be_of_any_size(tmp_path: Path) -> None:
    (tmp_path / "dump.sql").write_bytes(noise(4 * LITTLE))
    assert len(read_script(tmp_path / "dump.sql", Family.POSTGRES).pieces) == 1


@pytest.mark.parametrize("has_home", [True, False])
def test_a_full_disk_is_that_of_the_home_and_is_told_as_such(
    tmp_path: Path, has_home: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not can_mount():
        pytest.skip("needs the right to mount a file system")
    path = script(tmp_path, noise(LITTLE))
    with SmallDisk(tmp_path / "disk", 1 << 16) as disk:
        home = disk.folder if has_home else disk.folder / "new/home"
        monkeypatch.setenv("DBVERSUS_HOME", str(home))
        words = rf"^{path} cannot be unpacked in {disk.folder}: No space left on device\.$"
        with pytest.raises(RunError, match=words), opened(path):
            pass
        with pytest.raises(RunError, match=words), unpacked(path, disk.folder):
            pass
        assert list(disk.folder.iterdir()) == []


@pytest.mark.parametrize("cut", [20, 2000])
def test_a_damaged_script_is_told(tmp_path: Path, cut: int) -> None:
    path = script(tmp_path, noise(LITTLE // 2))
    path.write_bytes(path.read_bytes()[:-cut])
    for reading in (opened(path), unpacked(path, tmp_path)):
        with pytest.raises(UsageError, match=r"cannot be read: .*ended before"), reading:
            pass
