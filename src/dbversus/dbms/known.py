"""The DBMSs dbversus knows, and how their installations are recognised."""

from dataclasses import dataclass

from dbversus.errors import UsageError


@dataclass(frozen=True)
class Dbms:
    """A DBMS by name. `binaries`: places of the server below a prefix, the first found is it; none: a library.

    `version_pattern` finds the version (group 1) in what `binary *version_options` prints, and nothing in the words of
    a relative that has a server of the same name. `plugin`: the library of a storage engine that makes a relative's
    server this DBMS, and `built_in` a text in a server that needs no such library; such a DBMS is never detected, only
    asked for by name.
    """

    name: str
    title: str
    aliases: tuple[str, ...] = ()
    binaries: tuple[str, ...] = ()
    version_pattern: str = ""
    version_options: tuple[str, ...] = ("--version",)
    plugin: str = ""
    built_in: str = ""


# Tarballs (bin), Debian and packages of the makers (sbin), Red Hat (libexec).
_MYSQL_BINARIES = ("bin/mariadbd", "bin/mysqld", "sbin/mariadbd", "sbin/mysqld", "libexec/mariadbd", "libexec/mysqld")
# Without the first, an option file of the host could keep a server from telling its version.
_MYSQL_OPTIONS = ("--no-defaults", "--version")
_MYSQL_VERSION = r"(?:Ver|from) (?:5\.5\.5-)?(\d+\.\d+\.\d+)"

KNOWN = (
    Dbms(
        "postgres",
        "PostgreSQL",
        ("pg", "postgresql"),
        ("bin/postgres",),
        r"\(PostgreSQL\) (\d+(?:\.\d+)*(?:devel|(?:alpha|beta|rc)\d*)?)",
    ),
    Dbms("mysql", "MySQL", (), _MYSQL_BINARIES, _MYSQL_VERSION + r"(?!\S*MariaDB)", _MYSQL_OPTIONS),
    Dbms("mariadb", "MariaDB", ("maria",), _MYSQL_BINARIES, _MYSQL_VERSION + r"(?=\S*MariaDB)", _MYSQL_OPTIONS),
    Dbms(
        "myrocks",
        "MyRocks",
        (),
        _MYSQL_BINARIES,
        _MYSQL_VERSION,
        _MYSQL_OPTIONS,
        plugin="ha_rocksdb.so",
        # The name of one of its settings.
        built_in="default_cf_options",
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
    return tuple(dbms for dbms in KNOWN if dbms.binaries and not dbms.plugin)
