"""The files under the paths that were named."""

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from dbversus.errors import UsageError
from dbversus.importing.model import Source


def find_sources(paths: Sequence[Path], column_clients: Sequence[int], out: Path) -> Iterator[Source]:
    """Files in the order of `paths`, within a folder by name; no hidden ones, links to folders, or what is in `out`.

    Raises UsageError for a path that is not there.
    """
    clients = tuple(column_clients)
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path} does not exist; name files or folders with results of a benchmark.")
        if path.is_dir():
            yield from _in_folder(str(path), path.resolve().name, clients, str(out.resolve()))
        elif path.is_file():
            yield Source(str(path), str(path), path.name, path.resolve().parent.name, path.stat().st_size, clients)
        else:
            raise UsageError(f"{path} is neither a file nor a folder.")


def _in_folder(folder: str, name: str, clients: tuple[int, ...], out: str) -> Iterator[Source]:
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            if os.path.realpath(entry.path) != out:
                yield from _in_folder(entry.path, entry.name, clients, out)
        elif (size := _size_bytes(entry)) is not None:
            yield Source(entry.path, entry.path, entry.name, name, size, clients)


def _size_bytes(entry: os.DirEntry[str]) -> int | None:
    """Of a file, also through a link; None: no file. A pipe would never end."""
    try:
        facts = entry.stat()
    except OSError:
        return None
    return facts.st_size if stat.S_ISREG(facts.st_mode) else None
