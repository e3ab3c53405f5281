"""The files under the paths that were named, and what their names say."""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dbversus.errors import UsageError
from dbversus.importing.lines import plain_name
from dbversus.importing.model import Source


@dataclass(frozen=True)
class Named:
    """A part of paths that is a name. `option`: who asked for it; `text`: as it was written. Without a pattern, nothing is."""

    option: str
    text: str | None

    def __post_init__(self) -> None:
        """Raises UsageError for what is no regular expression."""
        try:
            re.compile(self.text or "")
        except re.error as error:
            raise UsageError(
                f"{self.option} '{self.text}' is no regular expression ({error}); write one such as 'pg(\\d+)_': what the "
                "brackets find in a path is the name."
            ) from None

    def name(self, path: str) -> str:
        """What the pattern's groups find, with dots between, or all that it finds where it has none; empty: nothing."""
        match = re.search(self.text, path) if self.text else None
        if match is None:
            return ""
        return ".".join(group for group in match.groups() if group) or match[0]


@dataclass(frozen=True)
class Wanted:
    """What is asked of all files alike: as the fields of Source say."""

    column_clients: tuple[int, ...] = ()
    encoding: str = ""
    target: Named = Named("--target-from", None)
    test: Named = Named("--test-from", None)

    def source(self, path: str, name: str, folder: str, size: int) -> Source:
        target, test = self.target.name(path) or folder, self.test.name(path)
        return Source(path, path, plain_name(name), target, size, self.column_clients, test, self.encoding)

    def not_named(self, paths: Sequence[str]) -> Iterator[str]:
        """Sentences on `paths` of runs in which a pattern was not found. Raises UsageError where it was in none."""
        for pattern in (self.target, self.test):
            missed = [path for path in paths if pattern.text and not pattern.name(path)]
            if missed and len(missed) == len(paths):
                raise UsageError(
                    f"{pattern.option} '{pattern.text}' is found in no path of a run, such as {missed[0]}; it is searched for in "
                    "the whole path."
                )
            if missed:
                yield (
                    f"{pattern.option} '{pattern.text}' is not found in {len(missed):,} of {len(paths):,} paths, such as "
                    f"{missed[0]}: these have their usual names."
                )


def find_sources(paths: Sequence[Path], wanted: Wanted, out: Path) -> Iterator[Source]:
    """Files in the order of `paths`, within a folder by name; no hidden ones, links to folders, or what is in `out`.

    Each file once, however often it is named. Raises UsageError for a path that is not there.
    """
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path} does not exist; name files or folders with results of a benchmark.")
    resolved = [path.resolve() for path in paths]
    for place, path in enumerate(paths):
        if resolved[place] in resolved[:place] or any(one in resolved[place].parents for one in resolved):
            continue
        if path.is_dir():
            yield from _in_folder(str(path), path.resolve().name, wanted, str(out.resolve()))
        elif path.is_file():
            yield wanted.source(str(path), path.name, path.resolve().parent.name, path.stat().st_size)
        else:
            raise UsageError(f"{path} is neither a file nor a folder.")


def _in_folder(folder: str, name: str, wanted: Wanted, out: str) -> Iterator[Source]:
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            if os.path.realpath(entry.path) != out:
                yield from _in_folder(entry.path, entry.name, wanted, out)
        elif (size := _size_bytes(entry)) is not None:
            yield wanted.source(entry.path, entry.name, name, size)


def _size_bytes(entry: os.DirEntry[str]) -> int | None:
    """Of a file, also through a link; None: no file. A pipe would never end."""
    try:
        facts = entry.stat()
    except OSError:
        return None
    return facts.st_size if stat.S_ISREG(facts.st_mode) else None
