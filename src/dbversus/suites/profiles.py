"""Profiles: how much is measured. Named sets of the choices that an experiment otherwise makes one by one."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from dbversus.errors import UsageError
from dbversus.names import near
from dbversus.suites.file.generators import Shape
from dbversus.suites.file.reading import check_shape
from dbversus.suites.file.source import Place, read_source
from dbversus.suites.load import load_suite

_FILE = Path(__file__).with_name("profiles.toml")
DEFAULT = "standard"

Count = Annotated[int, Field(ge=1)]
Milliseconds = Annotated[float, Field(gt=0)]


@dataclass(frozen=True)
class Profile:
    """The choices of one profile.

    Times are in the unit of the name; `seconds` is the time for one test in one block, all targets together. `rows`:
    rows of slots per block at most. `looks`: numbers of blocks after which tests are judged. `tests`: globs and
    selections for `Suite.select`, None for all. With several `clients`, every test runs with each. `margins`: shares by
    metric, of those that are not the usual ones.
    """

    name: str
    title: str
    suite: str
    tests: str | None
    order: str
    table_size: int
    tables: int
    clients: tuple[int, ...]
    slot_ms: float
    write_slot_ms: float
    settle_ms: float
    rows: int
    seconds: float
    looks: tuple[int, ...]
    margins: Mapping[str, float]


class _ProfileShape(Shape):
    """One table of profiles.toml."""

    title: str
    suite: str
    tests: str | None = None
    order: Literal["interleaved", "sequential"]
    table_size: Count
    tables: Count
    clients: Annotated[list[Count], Field(min_length=1)]
    slot_ms: Milliseconds
    write_slot_ms: Milliseconds
    settle_ms: Annotated[float, Field(ge=0)]
    rows: Count
    seconds: Annotated[float, Field(gt=0)]
    looks: Annotated[list[Count], Field(min_length=1)]
    margins: dict[str, Annotated[float, Field(gt=0, lt=1)]] = Field(default_factory=dict)


def list_profiles() -> dict[str, str]:
    """Titles of all profiles by name."""
    return {name: profile.title for name, profile in _profiles().items()}


def load_profile(name: str) -> Profile:
    """The profile of that name; raises UsageError with those that there are."""
    profiles = _profiles()
    if name not in profiles:
        raise UsageError(f"Unknown profile '{name}'.{near(name, profiles)} Accepted: {', '.join(profiles)}.")
    return profiles[name]


def profile_choices(name: str) -> dict[str, Any]:
    """The choices of a profile as an experiment file has them, without those left open. Raises as `load_profile`."""
    choices = asdict(load_profile(name)).items()
    plain = {
        key: list(value) if isinstance(value, tuple) else value for key, value in choices if value not in (None, {})
    }
    return {key: value for key, value in plain.items() if key not in ("name", "title")}


def profile_defaults(given: Mapping[str, Any]) -> dict[str, Any]:
    """The choices of the profile that `given` names, `standard` without one, for the suite that `given` names.

    A profile picks tests from its own suite. Of any other suite all tests are run, unless it has selections of those names.
    Raises as `load_profile`.
    """
    choices = profile_choices(given.get("profile", DEFAULT))
    suite = given.get("suite", choices["suite"])
    if suite != choices["suite"] and "tests" in choices and not _has_selections(suite, choices["tests"]):
        del choices["tests"]
    return choices


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
    return Profile(name=name, **choices | {"clients": tuple(choices["clients"]), "looks": tuple(choices["looks"])})
