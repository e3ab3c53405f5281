"""A build: an installed set of DBMS binaries. A target: a build plus a config, as the user writes them."""

from dataclasses import dataclass, field
from pathlib import Path

UNSEEN = "999"
"""The version of a build that may not be executed to ask for it (host/program.py): configs are those of the newest."""


@dataclass(frozen=True)
class TargetSpec:
    """A target as written: `postgres:17.2@fpw_off,work_mem=64MB`, `/opt/pg17@x`, `sqlite:bundled`.

    `selector` is a version ("17", "17.2"), "provider/version" ("npm/17.10") or an absolute path.
    `configs` are names of config files and inline `setting=value` items, in the order written.
    `name` is what it is called, where one was given: `before=/opt/pg17` is `before`.
    """

    text: str
    dbms: str
    selector: str
    configs: tuple[str, ...] = ()
    name: str = ""


@dataclass(frozen=True)
class Build:
    """An installed build. `prefix` holds bin/, lib/, share/ (sqlite: the shared library itself, or `bundled`)."""

    dbms: str
    version: str
    provider: str
    prefix: Path
    checksum: str
    compiled: str = ""
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Short name shown to the user, e.g. `postgres:17.11`."""
        return f"{self.dbms}:{self.version}"
