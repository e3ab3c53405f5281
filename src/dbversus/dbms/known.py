"""The DBMSs that dbversus knows, by name."""

from dbversus.dbms.model import Dbms, Family
from dbversus.dbms.mysql import MARIADB, MYROCKS, MYSQL
from dbversus.dbms.null import NULL
from dbversus.dbms.postgres import POSTGRES
from dbversus.dbms.sqlite import SQLITE
from dbversus.errors import UsageError

KNOWN = (POSTGRES, MYSQL, MARIADB, MYROCKS, SQLITE, NULL)
_BY_NAME = {name: dbms for dbms in KNOWN for name in (dbms.name, *dbms.aliases)}


def find_dbms(name: str) -> Dbms:
    """The DBMS of that name or alias; UsageError lists those known."""
    dbms = _BY_NAME.get(name.lower())
    if dbms is None:
        known = ", ".join(each.name for each in KNOWN)
        raise UsageError(f"unknown DBMS {name!r}; known are {known}")
    return dbms


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
