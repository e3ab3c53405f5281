"""Builds that are already on this host: an installation prefix, a library, the host's own SQLite, the bundled one."""

from pathlib import Path

from dbversus.builds.model import Build
from dbversus.builds.packages.inspect import Inspection, inspect_build, normal_prefix

# The engine's own words for the SQLite compiled into it (docs/engine-protocol.md).
BUNDLED = "bundled"
_HOST_LIBRARY = "libsqlite3.so.0"


def build_at(path: Path, dbms: str) -> Build:
    """The build at an absolute path, inspected anew each time: it may have been rebuilt."""
    prefix = normal_prefix(path)
    return _build(inspect_build(prefix, dbms), "path", prefix)


def host_sqlite() -> Build:
    """The SQLite library that programs of this host use."""
    found = inspect_build(Path(_HOST_LIBRARY), "sqlite")
    return _build(found, "host", found.binary)


def bundled_sqlite() -> Build:
    """The SQLite inside the engine. Its version is the engine's to tell (`hello`): here it is `bundled`."""
    return Build("sqlite", BUNDLED, BUNDLED, Path(BUNDLED), checksum="")


def null_build() -> Build:
    """The engine's echo server."""
    return Build("null", "floor", "engine", Path(BUNDLED), checksum="")


def _build(found: Inspection, provider: str, prefix: Path) -> Build:
    return Build(found.dbms, found.version, provider, prefix, found.checksum, found.compiled)
