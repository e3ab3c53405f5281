"""What counters and settings mean as causes, and what versions plan otherwise: counters.toml, settings.toml, plans.toml."""

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import Field

from dbversus.dbms.known import family_name
from dbversus.dbms.versions import in_range
from dbversus.explain.operators import Difference
from dbversus.suites.file.generators import Shape
from dbversus.suites.file.reading import read_shape
from dbversus.suites.file.source import read_source

STANDS_STILL = 1e-3
"""Of a counter, the part of what it is on the other side that is next to nothing."""


class CounterMeaning(Shape):
    """One of `[[causes]]` in counters.toml."""

    names: list[str]
    means: str
    us_each: float
    source: str
    bytes_each: float = 0.0
    rows: bool = False
    writes: bool = False
    telling: bool = False
    good: bool = False
    trial: str = ""


class ByTheClock(Shape):
    names: list[str]
    reads: bool = False


class Named(Shape):
    names: list[str]


class NamedOf(Named):
    dbms: list[str]


class ChangedMeaning(NamedOf):
    source: str


class Needed(Shape):
    names: list[str]
    of: list[str]
    at_least: float


class _Counters(Shape):
    causes: list[CounterMeaning]
    clock: list[ByTheClock]
    changed: list[ChangedMeaning]
    restated: list[Named]
    engines: list[Named]
    needs: list[Needed]


class SettingMeaning(Shape):
    """One of settings.toml."""

    dbms: str
    names: list[str]
    means: str
    source: str
    operators: list[str] = Field(default_factory=list)
    counters: list[str] = Field(default_factory=list)
    tests: Literal["", "writes", "reads", "connects", "all"] = ""
    answers: str = ""
    back: str = ""
    has: str = ""


class _SinceVersion(Shape):
    dbms: list[str]
    since: str
    means: str
    source: str

    def has_it(self, version: str) -> bool:
        return in_range(version, self.since, "")

    def tells_apart(self, base: str, mine: str) -> bool:
        """Whether just one of two versions does it."""
        return self.has_it(base) != self.has_it(mine)


class PlannedOtherwise(_SinceVersion):
    """One of `[[plans]]` in plans.toml."""

    gone: str = ""
    new: str = ""


class ExecutedOtherwise(_SinceVersion):
    """One of `[[executed]]` in plans.toml."""

    name: str
    has: str
    better: bool | None = None


class _Plans(Shape):
    plans: list[PlannedOtherwise]
    executed: list[ExecutedOtherwise]


class _Settings(Shape):
    settings: list[SettingMeaning]
    engines: list[NamedOf]


@cache
def _counters() -> _Counters:
    return read_shape(_Counters, read_source(Path(__file__).with_name("counters.toml")))


@cache
def _settings() -> _Settings:
    return read_shape(_Settings, read_source(Path(__file__).with_name("settings.toml")))


@cache
def _plans() -> _Plans:
    return read_shape(_Plans, read_source(Path(__file__).with_name("plans.toml")))


def planned_otherwise(dbms: str, versions: tuple[str, str], found: Difference) -> PlannedOtherwise | None:
    """What the newer of two versions, of the base and of the target, does otherwise that shows in their plans."""
    for one in _plans().plans:
        if dbms in one.dbms and one.tells_apart(*versions):
            is_newer = one.has_it(versions[1])
            older, newer = (found.gone, found.new) if is_newer else (found.new, found.gone)
            sides = ((one.gone, older), (one.new, newer))
            if all(not wanted or any(re.search(wanted, each) for each in side) for wanted, side in sides):
                return one
    return None


def executed_otherwise(dbms: str, versions: tuple[str, str], plans: Iterable[str]) -> list[ExecutedOtherwise]:
    """What just one of two versions does otherwise by the same plan, of what `plans` show."""
    texts = list(plans)
    told = [one for one in _plans().executed if dbms in one.dbms and one.tells_apart(*versions)]
    return [one for one in told if any(re.search(one.has, text) for text in texts)]


@cache
def meaning_of(counter: str) -> CounterMeaning | None:
    return next((one for one in _counters().causes if is_named(counter, one.names)), None)


def settings_named(name: str, dbms: str) -> list[SettingMeaning]:
    """What is known of it, most special first; nothing where it is of a storage engine that keeps no tables of that DBMS."""
    if is_of_idle_engine(name, dbms):
        return []
    family = family_name(dbms)
    return [one for one in _settings().settings if one.dbms == family and is_named(name, one.names)]


def is_of_idle_engine(setting: str, dbms: str) -> bool:
    """Whether it is a setting of a storage engine that keeps no tables of that DBMS."""
    return any(dbms in one.dbms and is_named(setting, one.names) for one in _settings().engines)


def is_by_the_clock(counter: str, writes: bool) -> bool:
    """Whether a server does it however many operations there are; `writes`: in a test that changes data."""
    return any(is_named(counter, one.names) for one in _counters().clock if not (one.reads and writes))


def is_restated(counter: str) -> bool:
    """Whether it says again what a judged metric says."""
    return any(is_named(counter, one.names) for one in _counters().restated)


def is_of_engine(counter: str) -> bool:
    """Whether a storage engine counts it, so that a server whose tables are in another one has nothing of it."""
    return any(is_named(counter, one.names) for one in _counters().engines)


def counts_otherwise(counter: str, dbms: str) -> bool:
    """Whether versions of that DBMS count different things under this name."""
    return any(dbms in one.dbms and is_named(counter, one.names) for one in _counters().changed)


def is_broken(counter: str, sides: Sequence[Mapping[str, float]]) -> bool:
    """Whether it stands still on one side, though what cannot be without it moves there. `sides`: counter → per operation."""
    most = max(side.get(counter, 0.0) for side in sides)
    for rule in _counters().needs:
        if is_named(counter, rule.names):
            for side in sides:
                value = side.get(counter, 0.0)
                parts = max((amount for name, amount in side.items() if is_named(name, rule.of)), default=0.0)
                if value < STANDS_STILL * most and value < rule.at_least * parts and parts >= 1:
                    return True
    return False


def is_named(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
