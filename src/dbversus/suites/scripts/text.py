"""The text of a script: a file as it is or gzipped, which may be larger than memory."""

import contextlib
import gzip
import mmap
import os
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from dbversus.errors import UsageError

Text = bytes | mmap.mmap

_GZIP = b"\x1f\x8b"
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
    """Raises UsageError for what cannot be read, or is no SQL."""
    with contextlib.ExitStack() as stack:
        with _readable(path):
            if _is_packed(path):
                file: IO[bytes] = stack.enter_context(tempfile.TemporaryFile())
                _unpack(path, file)
            else:
                file = stack.enter_context(path.open("rb"))
            if not file.seek(0, os.SEEK_END):
                yield b""
                return
        text = stack.enter_context(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        _check(path, text)
        yield text


def _unpack(path: Path, into: IO[bytes]) -> None:
    with gzip.open(path) as packed:
        shutil.copyfileobj(packed, into)


@contextlib.contextmanager
def unpacked(path: Path, folder: Path) -> Iterator[Path]:
    """A file with the text of the script: the script itself, or one in `folder` that is gone afterwards."""
    if not _is_packed(path):
        yield path
        return
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        _unpack(path, file)
        file.flush()
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
