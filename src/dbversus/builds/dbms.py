"""The DBMSs dbversus knows, and how their installations are recognised."""

from dataclasses import dataclass

from dbversus.errors import UsageError


@dataclass(frozen=True)
class Dbms:
    """A DBMS by name. `binaries`: places of the server below a prefix, the first found is it; none: a library.

    `version_pattern` finds the version (group 1) in what `binary --version` prints.
    """

    name: str
    title: str
    aliases: tuple[str, ...] = ()
    binaries: tuple[str, ...] = ()
    version_pattern: str = ""


KNOWN = (
    Dbms(
        "postgres",
        "PostgreSQL",
        ("pg", "postgresql"),
        ("bin/postgres",),
        r"\(PostgreSQL\) (\d+(?:\.\d+)*(?:devel|(?:alpha|beta|rc)\d*)?)",
    ),
    Dbms("sqlite", "SQLite", ("sqlite3",)),
    Dbms("null", "null (the engine's floor)"),
)

_BY_NAME = {name: dbms for dbms in KNOWN for name in (dbms.name, *dbms.aliases)}


def find_dbms(name: str) -> Dbms:
    """The DBMS of that name or alias; UsageError lists those known."""
    dbms = _BY_NAME.get(name.lower())
    if dbms is None:
        known = ", ".join(each.name for each in KNOWN)
        raise UsageError(f"unknown DBMS {name!r}; known are {known}")
    return dbms


def server_dbms() -> tuple[Dbms, ...]:
    """Those that are programs of their own, recognised by a binary."""
    return tuple(dbms for dbms in KNOWN if dbms.binaries)
