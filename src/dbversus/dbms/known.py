"""The DBMSs that dbversus knows, by name."""

import re

from dbversus.dbms.model import Dbms, Family
from dbversus.dbms.mysql import MARIADB, MYROCKS, MYSQL
from dbversus.dbms.null import NULL
from dbversus.dbms.postgres import POSTGRES
from dbversus.dbms.sqlite import SQLITE
from dbversus.errors import UsageError
from dbversus.names import did_you_mean_inline

KNOWN = (POSTGRES, MYSQL, MARIADB, MYROCKS, SQLITE, NULL)
_BY_NAME = {name: dbms for dbms in KNOWN for name in (dbms.name, *dbms.aliases)}
_BY_PATH = "{} cannot be fetched, but an installation on this host can be named by its path"
# Parts of names that people write for relatives of these DBMSs, and what to write instead.
_RELATIVES = (
    (("percona",), f"{_BY_PATH.format('Percona Server')}: mysql:/opt/percona, or myrocks:/opt/percona for MyRocks"),
    (("timescale", "citus"), f"{_BY_PATH.format('a PostgreSQL with such an extension')}: postgres:/opt/timescaledb"),
    (
        ("greenplum", "orioledb", "edb", "postgrespro", "cloudberry", "babelfish", "ivory"),
        f"{_BY_PATH.format('a fork of PostgreSQL')}: postgres:/opt/fork",
    ),
    (("fb-mysql", "fbmysql", "facebook", "webscale"), f"{_BY_PATH.format('such a server')}: myrocks:/opt/fb-mysql"),
    (("psql",), "PostgreSQL is called postgres"),
    (("innodb",), "InnoDB is the storage engine of mysql and mariadb"),
    (
        ("aurora", "rds", "alloydb", "cloudsql", "azure", "neon", "supabase", "heatwave"),
        "a managed service cannot be started on this host; name what it is made from, such as mysql:8.0 or postgres:16",
    ),
)


def find_dbms(name: str) -> Dbms:
    """The DBMS of that name or alias; UsageError lists those known, and says what works for a relative of theirs."""
    dbms = _BY_NAME.get(name.lower())
    if dbms is None:
        known = ", ".join(each.name for each in KNOWN)
        raise UsageError(f"unknown DBMS {name!r}{_hint(name.lower())}; known are {known}")
    return dbms


def _hint(name: str) -> str:
    """What may have been meant by an unknown name, for the middle of a sentence; empty where nothing is near."""
    for parts, words in _RELATIVES:
        if any(part in name for part in parts):
            return f"; {words}"
    plain = name.rpartition("/")[2]  # images of containers have an owner
    with_version = re.fullmatch(r"([a-z]+?)[-_]?(\d[\d.]*)", plain)
    if with_version and with_version[1] in _BY_NAME:
        return f" (did you mean '{with_version[1]}:{with_version[2]}'?)"
    if plain[:1].isdigit():
        return "; a target begins with its DBMS, such as postgres:17"
    return did_you_mean_inline(plain, _BY_NAME)


def is_known(name: str) -> bool:
    """Whether that is a DBMS's name or alias."""
    return name.lower() in _BY_NAME


def names_of(family: Family) -> tuple[str, ...]:
    return tuple(dbms.name for dbms in KNOWN if dbms.family is family)


def databases() -> tuple[Dbms, ...]:
    """Those that keep data."""
    return tuple(dbms for dbms in KNOWN if dbms.is_database)


def server_dbms() -> tuple[Dbms, ...]:
    """Those that are programs of their own, recognised by a binary."""
    return tuple(dbms for dbms in KNOWN if dbms.binaries and not dbms.plugin)


def family_name(name: str) -> str:
    """Of a DBMS as results name it, which may be one that this version does not know."""
    known = _BY_NAME.get(name.lower())
    return str(known.family) if known else name
