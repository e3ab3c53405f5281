"""Which settings servers know, as some of each series said themselves (options/, written by tests/option_lists.py)."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dbversus.dbms.known import find_dbms
from dbversus.dbms.settings import plain_name, setting_key, split_prefix
from dbversus.dbms.versions import numbers, version_key

FOLDER = Path(__file__).with_name("options")


@dataclass(frozen=True)
class Renamed:
    """A newer name of a setting (renamed.toml). `how`: what becomes of the value, where it is not the same."""

    dbms: str
    new: str
    how: str = ""


@cache
def option_lists(dbms: str) -> Mapping[str, frozenset[str]]:
    """Version → the settings that it knows, with underscores, the oldest version first."""
    paths = {path.stem.partition("-")[2]: path for path in FOLDER.glob(f"{dbms}-*.txt")}
    return {
        version: frozenset(paths[version].read_text(encoding="utf-8").split())
        for version in sorted(paths, key=version_key)
    }


def full_name(dbms: str, name: str) -> str:
    """What a server takes a shortened name for (`key_buffer`): the only setting that begins so, in all versions that have one.

    Any other name as it is.
    """
    if not find_dbms(dbms).settings.flags:
        return name
    loose, switch, plain = split_prefix(plain_name(dbms, name))
    meant = set()
    for known in option_lists(dbms).values():
        if plain in known or switch + plain in known:
            return name
        begun = [full for full in known if full.startswith(plain)]
        meant.update(begun if len(begun) == 1 else [plain] if begun else [])
    return loose + switch + meant.pop() if len(meant) == 1 else name


def where_known(dbms: str, name: str) -> list[str]:
    """The versions that know a setting, as sections of a config say it: `since 5.6 until 5.7`; none where all do, or none."""
    key = setting_key(dbms, name)
    has = {version: key in known for version, known in _keys(dbms).items()}
    return [] if all(has.values()) else list(ranges(dbms, has))


@cache
def _keys(dbms: str) -> Mapping[str, frozenset[str]]:
    return {
        version: frozenset(setting_key(dbms, name) for name in names) for version, names in option_lists(dbms).items()
    }


@cache
def renames() -> Mapping[str, Renamed]:
    """By the old name."""
    said = tomllib.loads(FOLDER.with_name("renamed.toml").read_text(encoding="utf-8"))
    return {old: Renamed(**entry) for old, entry in said.items()}


def renamed(dbms: str, name: str) -> Renamed | None:
    """What a setting is called in newer versions, if it is known to have another name there."""
    found = renames().get(split_prefix(plain_name(dbms, name))[2])
    return found if found and found.dbms in (dbms, find_dbms(dbms).family) else None


def ranges(dbms: str, has: Mapping[str, bool]) -> Iterator[str]:
    """The stretches of versions for which `has` is true, `since 5.6 until 5.7`: as few numbers as tell them from the others.

    `has`: the oldest version first. Nothing is claimed for what lies between two versions that differ.
    """
    versions = list(has)
    start = 0
    for at, version in enumerate(versions):
        if not has[version]:
            start = at + 1
        elif at + 1 == len(versions) or not has[versions[at + 1]]:
            since = f"since {_border(dbms, versions[start], versions[start - 1])}" if start else ""
            until = f"until {_border(dbms, version, versions[at + 1])}" if at + 1 < len(versions) else ""
            yield f"{since} {until}".strip()


def _border(dbms: str, version: str, other: str) -> str:
    """The series of a version, or all of it where the other one is of the same."""
    series = series_of(dbms, version)
    return version if series == series_of(dbms, other) else series


def series_of(dbms: str, version: str) -> str:
    """`17` of PostgreSQL 17.2, `9.6` of 9.6.24, `8.0` of MySQL 8.0.33."""
    parts = numbers(version)
    length = 1 if dbms == "postgres" and parts[0] >= 10 else 2
    return ".".join(map(str, parts[:length]))
