"""Bugs, and settings that look like them, that are known of versions in single tests (known_bugs.toml)."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from pydantic import Field

from dbversus.dbms.versions import in_range, numbers
from dbversus.suites.file.generators import Shape
from dbversus.suites.file.reading import read_shape
from dbversus.suites.file.source import read_source

_FILE = Path(__file__).with_name("known_bugs.toml")


class KnownBug(Shape):
    """One of known_bugs.toml, which says what its keys mean."""

    name: str
    dbms: list[str]
    effect: str
    source: str
    measured: str
    tests: list[str]
    since: str = ""
    before: str = ""
    configs: list[str] = Field(default_factory=list)
    reads: bool = False
    is_bug: bool = True

    def concerns(self, test: str, dbms: str, version: str, configs: Sequence[str]) -> bool:
        """Whether a target of that DBMS, version and configs has it in that test."""
        if dbms not in self.dbms or not any(fnmatchcase(test, glob) for glob in self.tests):
            return False
        if self.configs and not set(self.configs) & set(configs):
            return False
        return in_range(version, self.since, "") and (not self.before or numbers(version) < numbers(self.before))


class _File(Shape):
    bugs: list[KnownBug]


@cache
def known_bugs() -> Sequence[KnownBug]:
    return read_shape(_File, read_source(_FILE)).bugs
