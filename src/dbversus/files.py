"""The one way to write a file that users keep: whole or not at all, or line by line; in its folder and nowhere that a link leads.

What is written lies beside its place until it is on the disk: a full disk, a kill or a mistake leaves what was there before. In a
folder, which may be a stranger's, no link is followed below what the user named (docs/safety.md).
"""

import contextlib
import errno
import fcntl
import os
import re
import stat
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from dbversus.errors import RunError, UsageError
from dbversus.printable import printable

_PARTIAL = b".partial"
_MOST_NAME_BYTES = 255
_NO_LINK = os.O_NOFOLLOW | os.O_CLOEXEC
_MODE, _FOLDER_MODE = 0o666, 0o777
_PRIVATE_MODE, _PRIVATE_FOLDER_MODE = 0o600, 0o700


def write_text(path: Path, text: str, within: Path | None = None) -> None:
    """Text for people: nothing in it steers a terminal. Raises as `whole_file`."""
    write_whole(path, printable(text), within)


def write_whole(path: Path, content: str | bytes, within: Path | None = None, *, private: bool = False) -> None:
    """Raises as `whole_file`. Halves of characters, which no UTF-8 has, are written as escapes."""
    with whole_file(path, within, private=private) as file:
        file.write(content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content)


def write_new(path: Path, text: str) -> None:
    """Raises UsageError where something is at `path`, or its folder cannot be written to."""
    try:
        with whole_file(path, new=True) as file:
            file.write(text.encode("utf-8", "backslashreplace"))
    except RunError as error:
        raise UsageError(str(error)) from error


@contextlib.contextmanager
def whole_file(
    path: Path, within: Path | None = None, *, new: bool = False, private: bool = False
) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` at the end, with the mode of the one before; a link there is replaced, not followed.

    `within`: the folder that the user named, else that of `path`; folders below it are made. `new`: nothing may be at `path`.
    `private`: nobody else may read it, or enter the folders that are made.

    Raises UsageError where a folder below `within` is a link or no folder, and where something is there that may not be;
    RunError, naming `path`, where the disk refuses.
    """
    with folder_within(path.parent, within or path.parent, private=private) as folder:
        name = _bytes(path.name)
        partial = name[: _MOST_NAME_BYTES - len(_PARTIAL)] + _PARTIAL
        with _telling(path):
            before = _stat(name, folder)
            if new and before:
                raise UsageError(f"{path} is there already; name a new file.")
            file = _create(partial, folder, before, _PRIVATE_MODE if private else _MODE)
        own = os.fstat(file.fileno())
        try:
            with _telling(path), file:
                yield file
                file.flush()
                os.fsync(file.fileno())
                # one who writes the same file, and began later, has taken the name: what it writes will be there
                if _is_same(own, partial, folder):
                    os.rename(partial, name, src_dir_fd=folder, dst_dir_fd=folder)
        finally:
            if _is_same(own, partial, folder):
                os.unlink(partial, dir_fd=folder)


@contextlib.contextmanager
def folder_within(path: Path, within: Path, *, private: bool = False) -> Iterator[int]:
    """The descriptor of `path`, which is `within` or below it, and is made. Raises as `whole_file`."""
    with _telling(within):
        folder = os.open(within, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        reached = within
        for name in path.relative_to(within).parts:
            reached = reached / name
            with _telling(reached):
                above, folder = (
                    folder,
                    _enter(reached, folder, within, _PRIVATE_FOLDER_MODE if private else _FOLDER_MODE),
                )
                os.close(above)
        yield folder
    finally:
        os.close(folder)


def open_to_append(path: Path) -> FileIO:
    """The file itself, made where there is none. Raises UsageError for a link or what is no file, RunError as `whole_file`."""
    if path.is_symlink():
        raise _not_through(path, path.parent)
    with folder_within(path.parent, path.parent) as folder, _telling(path):
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | _NO_LINK
        file = FileIO(os.open(_bytes(path.name), flags, _MODE, dir_fd=folder), "ab")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise UsageError(f"{path} is no file; remove it.")
    return file


class LineFile:
    """A file that grows by lines, of one process at a time; a line is on the disk when `append_line` returns. A context manager.

    Raises as `open_to_append`, and RunError where another process writes it.
    """

    def __init__(self, path: Path):
        self._path = path
        self._file = open_to_append(path)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            raise RunError(f"{path} is being written by another dbversus; wait for it or stop it.") from None

    def set_aside(self, good_bytes: int) -> str:
        """Moves what follows these bytes to `NAME.torn`; says so, or nothing where nothing follows."""
        path = self._path
        if good_bytes == path.stat().st_size:
            return ""
        torn_path = path.with_name(f"{path.name}.torn")
        with path.open("rb") as file, open_to_append(torn_path) as torn:
            file.seek(good_bytes)
            torn.write(file.read() + b"\n")
        self._file.truncate(good_bytes)
        os.fdatasync(self._file.fileno())
        return f"{path}: the last line was cut off; it was set aside in {torn_path.name}."

    def append_line(self, line: bytes) -> None:
        """`line` ends with a newline. RunError where the disk refuses it; the file is as before then."""
        # one write per line: a kill leaves at most one line cut off, at the end; so does a full disk
        good_bytes = os.fstat(self._file.fileno()).st_size
        try:
            written = self._file.write(line)
            os.fdatasync(self._file.fileno())
            why = "" if written == len(line) else os.strerror(errno.ENOSPC)
        except OSError as error:
            why = error.strerror or str(error)
        if why:
            with contextlib.suppress(OSError):
                self._file.truncate(good_bytes)
            raise RunError(f"{self._file.name} cannot be written: {why}.")

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _enter(path: Path, above: int, within: Path, mode: int) -> int:
    name = _bytes(path.name)
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, mode, dir_fd=above)
    try:
        return os.open(name, os.O_PATH | os.O_DIRECTORY | _NO_LINK, dir_fd=above)
    except NotADirectoryError:
        raise (
            _not_through(path, within) if path.is_symlink() else UsageError(f"{path} is no folder; remove it.")
        ) from None


def _not_through(path: Path, within: Path) -> UsageError:
    return UsageError(f"{path} is a link, and nothing in {within} is written through links; remove it.")


def _create(partial: bytes, folder: int, before: os.stat_result | None, mode: int) -> BinaryIO:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(partial, dir_fd=folder)  # of a writer that was killed
    fd = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL | _NO_LINK, mode, dir_fd=folder)
    if before and stat.S_ISREG(before.st_mode):
        os.fchmod(fd, before.st_mode & mode)
    return os.fdopen(fd, "wb")


def _stat(name: bytes, folder: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _is_same(own: os.stat_result, name: bytes, folder: int) -> bool:
    found = _stat(name, folder)
    return found is not None and os.path.samestat(own, found)


def _bytes(name: str) -> bytes:
    """As it is on the disk, whatever the locale."""
    return name.encode("utf-8", "surrogateescape")


@contextlib.contextmanager
def _telling(path: Path) -> Iterator[None]:
    """A failed write names no file. What another file refused, such as one that is copied, names that already."""
    try:
        yield
    except OSError as error:
        if isinstance(error.filename, str) and error.filename != str(path):
            raise
        raise RunError(f"{path} cannot be written: {error.strerror or error}.") from error


def why_refused(error: Exception) -> str:
    """Of an error of DuckDB: the system's words where it refused, which DuckDB wraps in JSON; else the first line."""
    refused = re.search(r'"errno":"(\d+)"', str(error))
    return os.strerror(int(refused[1])) if refused else str(error).splitlines()[0]
