"""Removes what is kept in the home: whole, and never what is in use."""

import contextlib
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from dbversus.builds.install import PARTIAL
from dbversus.builds.lock import locked_if_free
from dbversus.dbms.known import find_dbms
from dbversus.errors import RunError, UsageError
from dbversus.host.claims import in_use, registry
from dbversus.names import did_you_mean
from dbversus.storage.listing import Kept, Kind, plural

_UNITS_S = {"h": 3600, "d": 86400, "w": 7 * 86400}


def parse_age(text: str) -> float:
    """Seconds of `30d`, `12h` or `2w`."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([hdw])", text.strip().lower())
    if match is None:
        raise UsageError(f"--unused is '{text}'; write hours, days or weeks, such as 12h, 30d or 2w.")
    return float(match[1]) * _UNITS_S[match[2]]


def choose(kept: Sequence[Kept], names: Sequence[str], own: dict[str, Path]) -> list[Kept]:
    """What the names mean: of a build, a snapshot, or a kind (`builds`). UsageError before anything is done.

    `own`: users' own installations, which are not removed.
    """
    chosen = {one.path: one for name in names for one in _named(kept, name, own)}
    return list(chosen.values())


def unused(kept: Sequence[Kept], age_s: float) -> list[Kept]:
    """What was not used for so long and can be had again; leftovers are never used again, whatever their age."""
    return [one for one in kept if one.kind is Kind.LEFTOVER or (one.unused_s() >= age_s and not one.added)]


def remove(one: Kept) -> str:
    """Removes it; returns why it was not, "" when it is gone. RunError where we may not."""
    if one.kind is Kind.LEFTOVER and one.path.parent.name in ("run", "work"):
        return _remove_stale(one.path)
    with contextlib.ExitStack() as stack:
        user = _lock(one, stack) or one.user
        if user:
            return f"in use by {user}"
        _remove_path(one.path)
    return ""


def _named(kept: Sequence[Kept], name: str, own: dict[str, Path]) -> list[Kept]:
    if name in map(plural, Kind):
        return [one for one in kept if plural(one.kind) == name and not one.added]
    canonical = _canonical(name)
    if canonical in own:
        raise UsageError(f"{canonical} is your own installation in {own[canonical]}; clean leaves it alone.")
    found = [one for one in kept if canonical == one.name] or [one for one in kept if _is_meant(one, canonical)]
    if len(found) > 1:
        raise UsageError(f"'{name}' is several: {', '.join(one.name for one in found)}; name one of them.")
    if not found:
        known = [*(one.name for one in kept), *map(plural, Kind)]
        raise UsageError(f"Nothing called '{name}' is kept.{did_you_mean(name, known)} List it all: dbversus clean")
    return found


def _is_meant(one: Kept, name: str) -> bool:
    if one.kind is Kind.SNAPSHOT:
        return len(name) >= 4 and one.aliases[0].startswith(name)
    return name in one.aliases


def _canonical(name: str) -> str:
    """With the DBMS's own name: `pg:17.2` is `postgres:17.2`."""
    dbms, colon, rest = name.partition(":")
    with contextlib.suppress(UsageError):
        return f"{find_dbms(dbms).name}:{rest}" if colon else name
    return name


def _lock(one: Kept, stack: contextlib.ExitStack) -> str:
    """Keeps others from it until the stack is closed; returns who has it already."""
    if one.kind in (Kind.BUILD, Kind.SNAPSHOT, Kind.LIBRARY, Kind.DATA):
        user = stack.enter_context(in_use.removing(one.path))
        if user:
            return user
    is_free = stack.enter_context(locked_if_free(_lock_file(one)))
    return "" if is_free else "another process"


def _lock_file(one: Kept) -> Path:
    """The lock of those who make it."""
    if one.path.parent.name == "snapshots":
        return one.path.with_suffix(".lock")
    if one.kind is Kind.DOWNLOAD:
        return one.path.with_name(f"{one.path.name}.lock")
    return one.path.with_name(f".{one.path.name.removeprefix(PARTIAL)}.lock")


def _remove_stale(path: Path) -> str:
    """What a dead controller left: its servers are ended first."""
    registry.cleanup_stale(path.parent.parent)
    return "could not be removed" if path.exists() else ""


def _remove_path(path: Path) -> None:
    """Out of the way first, so that nobody takes what is half removed for whole."""
    gone = path if path.name.startswith(PARTIAL) or path.suffix == ".partial" else _partial(path)
    with _telling(path):
        if gone != path:
            if gone.exists():
                shutil.rmtree(gone)
            path.rename(gone)
        shutil.rmtree(gone)


def _partial(path: Path) -> Path:
    """The name under which others remove it, should we be killed."""
    if path.parent.name == "snapshots":
        return path.with_suffix(".partial")
    return path.with_name(f"{PARTIAL}{path.name}")


@contextlib.contextmanager
def _telling(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RunError(f"{path} cannot be removed: {error.strerror or error}.") from error
