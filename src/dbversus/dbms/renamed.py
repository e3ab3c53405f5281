"""One name for what versions call otherwise (renamed.toml): counters, background work, settings."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

_TEXT = files("dbversus.dbms").joinpath("renamed.toml")


@cache
def _names(kind: str) -> Mapping[str, str]:
    """Of all families: no two of them call different things the same."""
    content = tomllib.loads(_TEXT.read_text(encoding="utf-8"))
    return {old: new for of_family in content.values() for old, new in of_family.get(kind, {}).items()}


def counter_name(name: str) -> str:
    return _names("counters").get(name, name)


def background_name(kind: str) -> str:
    return _names("background").get(kind, kind)


def with_one_name(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings under the names that versions share; where a server shows both names, as they are."""
    names = _names("settings")
    return {
        new if (new := names.get(name, name)) == name or new not in settings else name: value
        for name, value in settings.items()
    }
