"""Files are whole or not there, and are written nowhere that a link leads."""

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dbversus.errors import DbversusError, RunError, UsageError
from dbversus.files import open_to_append, whole_file, write_new, write_text, write_whole

from .soak.disk import SmallDisk, can_mount


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "results"
    made.mkdir()
    return made


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    made = tmp_path / "outside"
    made.mkdir()
    (made / "precious.txt").write_text("dear to me")
    return made


def content(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_a_file_and_the_folders_above_it_are_made(folder: Path) -> None:
    write_whole(folder / "a/b/c.txt", "ä\n", within=folder)
    assert (folder / "a/b/c.txt").read_bytes() == "ä\n".encode()
    assert [path.name for path in (folder / "a/b").iterdir()] == ["c.txt"]


def test_the_mode_of_a_new_file_follows_the_umask_and_that_of_another_stays(folder: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole(folder / "new", "x")
        (folder / "private").touch(0o600)
        write_whole(folder / "private", "x")
    finally:
        os.umask(before)
    assert [(folder / name).stat().st_mode & 0o777 for name in ("new", "private")] == [0o640, 0o600]


def test_a_link_in_the_place_of_a_file_is_replaced(folder: Path, outside: Path) -> None:
    for name, target in (("one", outside / "precious.txt"), ("two", outside), ("three", outside / "dangling")):
        (folder / name).symlink_to(target)
        write_whole(folder / name, "mine", within=folder)
        assert not (folder / name).is_symlink()
    assert content(folder) == dict.fromkeys(("one", "two", "three"), "mine")
    assert content(outside) == {"precious.txt": "dear to me"}


@pytest.mark.parametrize("kind", ["there", "dangling"])
@pytest.mark.parametrize("place", ["a", "a/b", "a/b/c"])
def test_a_folder_that_is_a_link_is_refused(folder: Path, outside: Path, place: str, kind: str) -> None:
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    (folder / place).symlink_to(outside if kind == "there" else outside / "new")
    with pytest.raises(
        UsageError, match=f"{folder}/{place} is a link, and nothing in {folder} is written through links"
    ):
        write_whole(folder / "a/b/c/precious.txt", "mine", within=folder)
    assert content(outside) == {"precious.txt": "dear to me"}


def test_a_link_that_the_user_named_is_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder)
    write_whole(tmp_path / "link/x", "mine")
    write_whole(tmp_path / "link/a/x", "mine", within=tmp_path / "link")
    assert (folder / "x").read_text() == (folder / "a/x").read_text() == "mine"


def test_a_file_in_the_place_of_a_folder_is_refused(folder: Path) -> None:
    (folder / "a").write_text("x")
    with pytest.raises(UsageError, match="a is no folder"):
        write_whole(folder / "a/b", "mine", within=folder)


@pytest.mark.parametrize(
    "make", [lambda path, to: path.symlink_to(to), lambda path, to: path.write_text("of a killed one")]
)
def test_what_lies_in_the_place_of_the_unfinished_file_is_replaced(
    folder: Path, outside: Path, make: Callable[[Path, Path], object]
) -> None:
    make(folder / "x.partial", outside / "precious.txt")
    write_whole(folder / "x", "mine")
    assert content(folder) == {"x": "mine"}
    assert content(outside) == {"precious.txt": "dear to me"}


def test_a_name_as_long_as_the_file_system_takes(folder: Path) -> None:
    name = "x" * 255
    write_whole(folder / name, "mine")
    assert content(folder) == {name: "mine"}
    with pytest.raises(RunError, match="cannot be written: File name too long"):
        write_whole(folder / (name + "x"), "mine")


def test_a_mistake_leaves_what_was_there(folder: Path) -> None:
    write_whole(folder / "x", "before")
    with pytest.raises(ValueError, match="why"), whole_file(folder / "x") as file:
        file.write(b"half of it")
        raise ValueError("why")
    assert content(folder) == {"x": "before"}


def test_the_later_of_two_writers_has_the_file(folder: Path) -> None:
    with whole_file(folder / "x") as first:
        first.write(b"first")
        with whole_file(folder / "x") as second:
            second.write(b"second")
            first.flush()
    assert content(folder) == {"x": "second"}


def test_a_writer_that_ends_first_does_not_rename_what_another_has_begun(folder: Path) -> None:
    first, second = whole_file(folder / "x"), whole_file(folder / "x")
    with first as file:
        file.write(b"first")
        begun = second.__enter__()
        begun.write(b"sec")
    assert not (folder / "x").exists()
    begun.write(b"ond")
    second.__exit__(None, None, None)
    assert content(folder) == {"x": "second"}


def test_a_file_too_large_for_the_system_leaves_the_one_before(folder: Path) -> None:
    write_whole(folder / "x", "before")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(RunError, match=rf"^{folder}/x cannot be written: File too large\.$"):
            write_whole(folder / "x", "y" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert content(folder) == {"x": "before"}


def test_a_full_disk_leaves_the_file_before_and_names_it(tmp_path: Path) -> None:
    if not can_mount():
        pytest.skip("needs the right to mount a file system")
    with SmallDisk(tmp_path / "disk", 1 << 16) as disk:
        path = disk.folder / "x"
        write_whole(path, "before")
        with pytest.raises(RunError, match=rf"^{path} cannot be written: No space left on device\.$"):
            write_whole(path, "y" * 200_000)
        assert content(disk.folder) == {"x": "before"}


def test_a_file_that_is_copied_is_named_where_it_cannot_be_read(folder: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"), whole_file(folder / "x"):
        (folder / "nowhere").open("rb")
    assert content(folder) == {}


def test_a_new_file_takes_no_place_of_another(folder: Path, outside: Path) -> None:
    (folder / "there").write_text("before")
    (folder / "link").symlink_to(outside / "dangling")
    for name in ("there", "link"):
        with pytest.raises(UsageError, match=f"{name} is there already"):
            write_new(folder / name, "mine")
    with pytest.raises(UsageError, match=r"missing cannot be written: No such file or directory"):
        write_new(folder / "missing/x", "mine")
    write_new(folder / "new", "mine")
    assert (folder / "new").read_text() == "mine"
    assert content(outside) == {"precious.txt": "dear to me"}


def test_what_is_appended_to_is_a_file(folder: Path, outside: Path) -> None:
    (folder / "link").symlink_to(outside / "precious.txt")
    os.mkfifo(folder / "pipe")
    for name, why in (("link", "is a link"), ("pipe", "is no file")):
        with pytest.raises(UsageError, match=f"{name} {why}"):
            open_to_append(folder / name)
    with pytest.raises(DbversusError, match="results cannot be written: Is a directory"):
        open_to_append(folder)
    for _ in range(2):
        with open_to_append(folder / "journal") as file:
            file.write(b"line\n")
    assert (folder / "journal").read_text() == "line\nline\n"


def test_text_steers_no_terminal_and_half_characters_are_escapes(folder: Path) -> None:
    write_text(folder / "x", "\x1b[31mred \udc80")
    write_whole(folder / "y", "half \udc80")
    assert content(folder) == {"x": "\ufffd[31mred \ufffd", "y": r"half \udc80"}


def test_names_and_texts_are_utf_8_in_the_c_locale(folder: Path) -> None:
    program = "import sys, pathlib, dbversus.files as f; f.write_whole(pathlib.Path(sys.argv[1]) / '\\xe4', '\\xe4')"
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    subprocess.run([sys.executable, "-c", program, str(folder)], env=environment, check=True)
    assert content(folder) == {"ä": "ä"}


def test_private_files_and_their_folders_are_nobody_elses(folder: Path) -> None:
    (folder / "a").mkdir()
    (folder / "a/x").touch(0o644)
    write_whole(folder / "a/x", "rows", folder, private=True)
    write_whole(folder / "a/b/y", "rows", folder, private=True)
    modes = {name: (folder / name).stat().st_mode & 0o777 for name in ("a/x", "a/b", "a/b/y")}
    assert modes == {"a/x": 0o600, "a/b": 0o700, "a/b/y": 0o600}
