"""The text of a script: a file as it is or gzipped, which may be larger than memory."""

import contextlib
import gzip
import mmap
import os
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO, cast

from dbversus.errors import RunError, UsageError
from dbversus.home import home_dir
from dbversus.packed import Allowance, counted

Text = bytes | mmap.mmap

_GZIP = b"\x1f\x8b"
_COPIED_BYTES = 1 << 20
# what is no text, by its first bytes
_OTHERS = {
    b"PGDMP": "is a dump in pg_dump's own format (-Fc); `pg_restore -f shop.sql FILE` makes a plain one of it",
    b"toc.dat": "is a tar file of pg_dump (-Ft); `pg_restore -f shop.sql FILE` makes a plain dump of it",
    b"SQLite format 3\0": "is a SQLite database; `sqlite3 FILE .dump` writes it as SQL",
    b"BZh": "is packed by bzip2; plain and gzipped files are accepted",
    b"\xfd7zXZ": "is packed by xz; plain and gzipped files are accepted",
    b"(\xb5/\xfd": "is packed by zstd; plain and gzipped files are accepted",
    b"PK\x03\x04": "is a zip file; plain and gzipped files are accepted",
}


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Text]:
    """Raises UsageError for what cannot be read, is no SQL, or unpacks to more than an `Allowance`; RunError for a full disk."""
    with contextlib.ExitStack() as stack:
        with _readable(path):
            if _is_packed(path):
                folder = _large_folder()
                with _room_in(folder, path):
                    file: IO[bytes] = stack.enter_context(tempfile.TemporaryFile(dir=folder))
                _unpack(path, file, folder)
            else:
                file = stack.enter_context(path.open("rb"))
            if not file.seek(0, os.SEEK_END):
                yield b""
                return
            text = stack.enter_context(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        _check(path, text)
        yield text


def _large_folder() -> Path:
    """The home, or the folder that it would be made in: the place for temporary files is often in memory."""
    home = home_dir()
    there = next(folder for folder in (home, *home.parents) if folder.is_dir())
    return there if os.access(there, os.W_OK | os.X_OK) else Path(tempfile.gettempdir())


def _unpack(path: Path, into: IO[bytes], folder: Path) -> None:
    with gzip.open(path) as packed:
        unpacking = counted(cast(BinaryIO, packed), Allowance(path))
        while content := unpacking.read(_COPIED_BYTES):
            with _room_in(folder, path):
                into.write(content)
    with _room_in(folder, path):
        into.flush()


@contextlib.contextmanager
def _room_in(folder: Path, path: Path) -> Iterator[None]:
    """What the disk refuses is said of the disk, and not of the script."""
    try:
        yield
    except OSError as error:
        raise RunError(f"{path} cannot be unpacked in {folder}: {error.strerror or error}.") from error


@contextlib.contextmanager
def unpacked(path: Path, folder: Path) -> Iterator[Path]:
    """A file with the text of the script: the script itself, or one in `folder` that is gone afterwards. Raises as `opened`."""
    if not _is_packed(path):
        yield path
        return
    with _room_in(folder, path):
        file = tempfile.NamedTemporaryFile(dir=folder)  # noqa: SIM115
    with file:
        with _readable(path):
            _unpack(path, file, folder)
        yield Path(file.name)


@contextlib.contextmanager
def _readable(path: Path) -> Iterator[None]:
    if path.is_dir():
        raise UsageError(f"{path} is a folder (a dump by pg_dump -Fd?); a plain file of SQL is accepted (pg_dump -Fp).")
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        words = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{path} cannot be read: {words}; a file of SQL is accepted.") from error


def _is_packed(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_GZIP)) == _GZIP


def _check(path: Path, text: Text) -> None:
    if text[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise UsageError(f"{path}:1: this is UTF-16; `iconv -f UTF-16 -t UTF-8 FILE` writes it as servers take it.")
    if words := why_no_text(text):
        raise UsageError(f"{path}:1: this {words}.")


def why_no_text(head: Text) -> str:
    """What a file is instead, by its first bytes; "" where it may be text."""
    return next((words for begin, words in _OTHERS.items() if head[: len(begin)] == begin), "")
