"""Profiles: how much is measured. Named sets of the choices that an experiment otherwise makes one by one."""

import math
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from dbversus.dbms.sizes import BYTES_PER_ROW
from dbversus.errors import UsageError
from dbversus.names import did_you_mean
from dbversus.suites.file.generators import Shape
from dbversus.suites.file.reading import check_shape
from dbversus.suites.file.source import Place, read_source
from dbversus.suites.load import list_variants, load_suite
from dbversus.units import parse_count, parse_memory

_FILE = Path(__file__).with_name("profiles.toml")
DEFAULT = "standard"
_SAMPLE_ROWS = 1_000_000

Count = Annotated[int, Field(ge=1)]
Milliseconds = Annotated[float, Field(gt=0)]


@dataclass(frozen=True)
class Profile:
    """The choices of one profile.

    Times are in the unit of the name; `seconds` is the time for one test in one block, all targets together, `test_seconds`
    by glob that of tests which have another. `lead_in_s`: how long the slowest target is driven before the rows of a test
    that changes data. `rows`: rows of slots per block at most. `looks`: numbers of blocks after which tests are judged.
    `tests`: globs and selections for `Suite.select`, None for all. With several `clients`, every test runs with each.
    `margins`: shares by metric, of those that are not the usual ones. `memory`: bytes of each server (None: no limit);
    `data_to_memory`: how many times as large data is, in place of a `table_size`.
    """

    name: str
    title: str
    suite: str
    tests: str | None
    order: str
    table_size: int | None
    memory: int | None
    data_to_memory: float | None
    tables: int
    clients: tuple[int, ...]
    slot_ms: float
    write_slot_ms: float
    warm_up_ms: float
    rows: int
    seconds: float
    test_seconds: Mapping[str, float]
    lead_in_s: float
    looks: tuple[int, ...]
    margins: Mapping[str, float]


class _ProfileShape(Shape):
    """One table of profiles.toml."""

    title: str
    suite: str
    tests: str | None = None
    order: Literal["interleaved", "sequential"]
    table_size: Count | None = None
    memory: str | None = None
    data_to_memory: Annotated[float, Field(gt=1)] | None = None
    tables: Count
    clients: Annotated[list[Count], Field(min_length=1)]
    slot_ms: Milliseconds
    write_slot_ms: Milliseconds
    warm_up_ms: Annotated[float, Field(ge=0)]
    rows: Count
    seconds: Annotated[float, Field(gt=0)]
    test_seconds: dict[str, Annotated[float, Field(gt=0)]] = Field(default_factory=dict)
    lead_in_s: Annotated[float, Field(ge=0)] = 0
    looks: Annotated[list[Count], Field(min_length=1)]
    margins: dict[str, Annotated[float, Field(gt=0, lt=1)]] = Field(default_factory=dict)


def list_profiles() -> dict[str, str]:
    """Titles of all profiles by name."""
    return {name: profile.title for name, profile in _profiles().items()}


def load_profile(name: str) -> Profile:
    """The profile of that name; raises UsageError with those that there are."""
    profiles = _profiles()
    if name not in profiles:
        raise UsageError(f"Unknown profile '{name}'.{did_you_mean(name, profiles)} Accepted: {', '.join(profiles)}.")
    return profiles[name]


def profile_choices(name: str) -> dict[str, Any]:
    """The choices of a profile as an experiment file has them, without those left open. Raises as `load_profile`.

    A table size that follows from memory is one of them, for the profile's own suite and memory.
    """
    return _choices(name, {})


def _choices(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    choices = asdict(load_profile(name)).items()
    plain: dict[str, Any] = {
        key: list(value) if isinstance(value, tuple) else value for key, value in choices if value not in (None, {})
    }
    times = plain.pop("data_to_memory", None)
    if times and "table_size" not in given:
        plain["table_size"] = _larger_than_memory(times, {**plain, **given})
    return {key: value for key, value in plain.items() if key not in ("name", "title")}


def _larger_than_memory(times: float, choices: Mapping[str, Any]) -> int:
    """Rows of a table, in whole thousands, with which the data of one target is so many `times` what its server may have."""
    memory, tables = choices["memory"], choices["tables"]  # as texts, where an experiment file has them so
    limit_bytes = parse_memory(memory, "memory") if isinstance(memory, str) else memory
    copies = parse_count(tables, "tables") if isinstance(tables, str) else tables
    with_each = (
        load_suite(choices["suite"], choices.get("variants", ())).usual_rows(_SAMPLE_ROWS, copies)
        * BYTES_PER_ROW
        / _SAMPLE_ROWS
    )
    return 1000 * max(1, math.ceil(times * limit_bytes / with_each / 1000))


def profile_defaults(given: Mapping[str, Any]) -> dict[str, Any]:
    """The choices of the profile that `given` names, `standard` without one, for the suite that `given` names.

    A profile picks tests from its own suite. Of any other suite all tests are run, unless it has selections of those names.
    A suite that has a variant of the profile's name is run in that form, unless `given` names variants. Raises as `load_profile`.
    """
    profile = given.get("profile", DEFAULT)
    choices = _choices(profile, given)
    suite = given.get("suite", choices["suite"])
    if profile in _variants_of(suite):
        choices["variants"] = [profile]
    if suite != choices["suite"] and "tests" in choices and not _has_selections(suite, choices["tests"]):
        del choices["tests"]
    return choices


def _variants_of(suite: str) -> Collection[str]:
    try:
        return list_variants(suite)
    except UsageError:  # told by whoever needs the suite itself
        return ()


def _has_selections(suite: str, tests: str) -> bool:
    try:
        known = load_suite(suite).selections
    except UsageError:  # told by whoever needs the suite itself
        return False
    return all(item.strip() in known for item in tests.split(","))


@cache
def _profiles() -> dict[str, Profile]:
    root = Place(read_source(_FILE))
    return {name: _profile(name, table, root.at(name)) for name, table in root.source.document.items()}


def _profile(name: str, table: Any, place: Place) -> Profile:
    choices = check_shape(_ProfileShape, table, place).model_dump()
    if (choices["table_size"] is None) == (choices["data_to_memory"] is None or choices["memory"] is None):
        raise place.at("table_size").mistake("there is a table size, or there are memory and data_to_memory.")
    if choices["memory"]:
        choices["memory"] = parse_memory(choices["memory"], "memory")
    return Profile(name=name, **choices | {"clients": tuple(choices["clients"]), "looks": tuple(choices["looks"])})
