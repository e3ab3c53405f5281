"""DBMS versions: order, prefix match, neighbours."""

import re
from bisect import bisect
from collections.abc import Sequence
from functools import cache

_NUMBERS = r"\d+(?:\.\d+)*"
_VERSION = re.compile(r"(\d+(?:\.\d+)*)(?:(devel|alpha|beta|rc)(\d*))?")
_STAGES = ("devel", "alpha", "beta", "rc", None)

VersionKey = tuple[tuple[int, ...], int, int]


def is_version(text: str) -> bool:
    """True for `17`, `9.6.24`, `19rc1`."""
    return _VERSION.fullmatch(text) is not None


@cache
def version_key(text: str) -> VersionKey:
    """Sort key; a pre-release comes before its release. ValueError when `text` is no version."""
    match = _VERSION.fullmatch(text)
    if match is None:
        raise ValueError(f"not a version: {text!r}")
    numerals, stage, number = match.groups()
    return tuple(int(part) for part in numerals.split(".")), _STAGES.index(stage), int(number or 0)


def numbers(text: str) -> tuple[int, ...]:
    """`17.2` → (17, 2), `19rc1` → (19,): a release candidate counts as its release. Empty for what is no version."""
    match = re.match(_NUMBERS, text)
    return tuple(int(part) for part in match[0].split(".")) if match else ()


def in_range(version: str, since: str, until: str) -> bool:
    """From `since` to `until`, both with all that lies below them: 8.0.33 is until 8.0. "" is no bound."""
    found, first, last = numbers(version), numbers(since), numbers(until)
    return (not since or found[: len(first)] >= first) and (not until or found[: len(last)] <= last)


def version_matches(version: str, wanted: str) -> bool:
    """Does `version` lie below `wanted`: 17.11 and 17rc1 below 17, 9.6.24 below 9.6, but not 17.11 below 17.1."""
    if version == wanted:
        return True
    series, stage, _ = version_key(wanted)
    return stage == _STAGES.index(None) and version_key(version)[0][: len(series)] == series


def nearest(wanted: str, versions: Sequence[str]) -> list[str]:
    """The neighbours of `wanted` among `versions`: one below, one above, where there are such."""
    ordered = sorted(set(versions), key=version_key)
    position = bisect([version_key(version) for version in ordered], version_key(wanted))
    return ordered[max(0, position - 1) : position + 1]
