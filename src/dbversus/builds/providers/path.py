"""Builds that are already on this host: an installation prefix, a library, the host's own SQLite, the bundled one."""

from collections.abc import Callable, Mapping
from pathlib import Path

from dbversus.builds.model import Build
from dbversus.builds.packages.inspect import Inspection, inspect_build, normal_prefix
from dbversus.dbms.null import NULL
from dbversus.dbms.sqlite import SQLITE

# The engine's own words for the SQLite compiled into it (docs/engine-protocol.md).
BUNDLED = "bundled"
_HOST_LIBRARY = "libsqlite3.so.0"


def build_at(path: Path, dbms: str) -> Build:
    """The build at an absolute path, inspected anew each time: it may have been rebuilt."""
    prefix = normal_prefix(path)
    return _build(inspect_build(prefix, dbms), "path", prefix)


def build_always_here(dbms: str, selector: str) -> Build:
    """One that needs no installation (`Dbms.always_here`)."""
    return _ALWAYS_HERE[dbms, selector]()


def host_sqlite() -> Build:
    """The SQLite library that programs of this host use."""
    found = inspect_build(Path(_HOST_LIBRARY), SQLITE.name)
    return _build(found, "host", found.binary)


def _bundled_sqlite() -> Build:
    """The SQLite inside the engine. Its version is the engine's to tell (`hello`): here it is `bundled`."""
    return Build(SQLITE.name, BUNDLED, BUNDLED, Path(BUNDLED), checksum="")


def _null_build() -> Build:
    """The engine's echo server."""
    return Build(NULL.name, "floor", "engine", Path(BUNDLED), checksum="")


_ALWAYS_HERE: Mapping[tuple[str, str], Callable[[], Build]] = {
    (SQLITE.name, BUNDLED): _bundled_sqlite,
    (SQLITE.name, "host"): host_sqlite,
    (NULL.name, ""): _null_build,
}


def _build(found: Inspection, provider: str, prefix: Path) -> Build:
    return Build(found.dbms, found.version, provider, prefix, found.checksum, found.compiled)
