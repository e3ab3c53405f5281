"""What tells one DBMS from another, as data: the rest of dbversus asks a descriptor, and never which DBMS it has."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Family(StrEnum):
    """DBMSs whose servers are run, asked and configured alike."""

    POSTGRES = "postgres"
    MYSQL = "mysql"
    SQLITE = "sqlite"
    NULL = "null"


@dataclass(frozen=True)
class Stored:
    """A data directory that is still to be: what of a target decides its size."""

    version: str
    settings: Mapping[str, str]
    init_options: Mapping[str, str]


@dataclass(frozen=True)
class Disk:
    """Estimates in bytes: of a row of the sysbench table with its indexes, and of the logs that are there when a block ends.

    `log_bytes` takes the bytes of the data as well.
    """

    row_bytes: Callable[[Stored], float]
    log_bytes: Callable[[Stored, float], float]


@dataclass(frozen=True)
class Settings:
    """How settings are written, and what some of them mean.

    `flags`: a name may stand alone, hyphens are underscores, and prefixes negate (`skip-name-resolve`). `own`: those that
    dbversus itself sets, each with the reason. `at_creation`: those that act only when a data directory is created.
    `adds_up`: those whose values add up over configs, item by item: `mrr=off,icp=off` or `default={a=1;b=2}`.
    `caches`: those that size the server's caches; `cache_bytes` reads their values (None: it is no size). `show_bytes`: a
    size as the server takes it.
    """

    flags: bool = False
    own: Mapping[str, str] = field(default_factory=dict)
    at_creation: tuple[str, ...] = ()
    adds_up: tuple[str, ...] = ()
    caches: tuple[str, ...] = ()
    cache_bytes: Callable[[str], float | None] = lambda _: None
    show_bytes: Callable[[int], str] = str


@dataclass(frozen=True)
class Dbms:
    """A DBMS by name. `binaries`: places of the server below a prefix, the first found is it; none: `library`, or neither.

    `version_pattern` finds the version (group 1) in what `binary *version_options` prints, and nothing in the words of
    a relative that has a server of the same name. `plugin`: the library of a storage engine that makes a relative's
    server this DBMS, and `built_in` a text in a server that needs no such library; such a DBMS is never detected, only
    asked for by name. `always_here`: builds that need no installation, as targets name them ("": the DBMS alone).

    `embedded`: its client is its server. `sql_of`: whose SQL it takes where a suite has none for it. `cache_dumps`: files with
    the list of pages in memory, which it would read again when it starts. `deferred_work_s`: by a clock of its own, it takes up
    what it has put off after so many seconds at most. `compacts`: what it has written it reads back and merges, past its caches.
    """

    name: str
    title: str
    family: Family
    settings: Settings
    disk: Disk
    aliases: tuple[str, ...] = ()
    binaries: tuple[str, ...] = ()
    library: str = ""
    version_pattern: str = ""
    version_options: tuple[str, ...] = ("--version",)
    plugin: str = ""
    built_in: str = ""
    always_here: tuple[str, ...] = ()
    embedded: bool = False
    sql_of: str = ""
    cache_dumps: tuple[str, ...] = ()
    deferred_work_s: float = 0.0
    compacts: bool = False

    @property
    def is_database(self) -> bool:
        """Whether it keeps data; the engine's own echo server does not."""
        return self.family is not Family.NULL

    @property
    def has_versions(self) -> bool:
        return "" not in self.always_here
