"""Reads what a my.cnf says for the server: sections by version, quotes, escapes, names alone."""

import re
from collections.abc import Iterator
from pathlib import Path

from dbversus.errors import UsageError
from dbversus.names import nearest
from dbversus.servers.config.foreign_line import Line

WHERE_SETTINGS_STAND = "they stand in [mysqld], [server], [mysqld-8.0], [mariadb] and the like"

_SERVER = re.compile(r"(mysqld|server|mariadbd?|client-server|galera)(?:-(\d+(?:\.\d+)*))?")
_OF_MARIADB = ("mariadb", "mariadbd", "client-server", "galera")
# of clients and tools: passed over
_OTHERS = re.compile(
    r"(client|mysql|mariadb-client|mysqldump|mysqlpump|mysqladmin|mysqlbinlog|mysqlcheck|mysqlimport|mysqlshow|mysqlslap|mysqlsh|"
    r"mysql_upgrade|mysqld_safe|mysqld_multi|mariadbd-safe|safe_mysqld|mysqlhotcopy|myisamchk|isamchk|myisampack|myisam_ftdump|"
    r"mysql\.server|instance-manager|manager|embedded|mysql_cluster|ndbd|ndb_mgmd|xtrabackup|mariabackup|mariadb-backup|mariadb-dump|"
    r"sst|mysqltest|mytop|odbc|perl|mysqld\d+)(-.*)?"
)
_HEADER = re.compile(r"\s*\[([^\]]*)\]\s*(?:#.*)?")
_INCLUDE = re.compile(r"\s*!\s*(include(?:dir)?)\b\s*(.*)")
_OPTION = re.compile(r"([A-Za-z][\w.:-]*)\s*(?:(=)\s*(.*))?", re.DOTALL)
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "r": "\r", "s": " "}


def section_names(text: str) -> list[str]:
    return [match[1].strip() for line in text.splitlines() if (match := _HEADER.fullmatch(line))]


def is_of_mariadb(section: str) -> bool:
    match = _SERVER.fullmatch(section)
    return bool(match and match[1] in _OF_MARIADB)


def read(text: str, path: Path, dbms: str) -> Iterator[Line]:
    """Settings of the server in the order written. Raises UsageError with file and line for what is not understood."""
    versions: str | None = None
    seen_section = False
    for number, raw in enumerate(text.splitlines(), 1):
        where = f"{path}:{number}"
        if include := _INCLUDE.fullmatch(raw):
            raise UsageError(
                f"{where}: '!{include[1]} {include[2].strip()}' includes other files, whose settings would be missing; "
                "put all of them into one file, in the order in which the server reads them."
            )
        line = _strip_comment(raw)
        if not line:
            continue
        if line.startswith("["):
            versions, seen_section = _versions(line, where, dbms), True
        elif not seen_section:
            raise UsageError(f"{where}: '{line}' stands before any section; accepted are sections such as [mysqld].")
        elif versions is not None:
            yield _line(line, number, where, versions)


def _versions(header: str, where: str, dbms: str) -> str | None:
    """For which versions the lines of a section hold; None when they are not for this server."""
    name = header.removeprefix("[").removesuffix("]").strip()
    match = _SERVER.fullmatch(name)
    if match and header.endswith("]"):
        if match[1] in _OF_MARIADB and dbms == "mysql":
            return None
        if match[2]:
            return f"since {match[2]} until {match[2]}"
        return "since 10" if match[1] in _OF_MARIADB and dbms == "myrocks" else ""
    if header.endswith("]") and _OTHERS.fullmatch(name):
        return None
    hint = nearest(name, ("mysqld", "server", "mariadb", "mariadbd", "client", "mysqldump", "mysqld_safe"))
    raise UsageError(
        f"{where}: '{header}' is no section that a server, client or tool is known to read{hint}; "
        "correct its name, or remove it with its lines."
    )


def _line(line: str, number: int, where: str, versions: str) -> Line:
    match = _OPTION.fullmatch(line)
    if match is None:
        raise UsageError(f"{where}: '{line}' is not understood; accepted are `name = value` and a name alone.")
    return Line(number, match[1], _plain(match[3]) if match[2] else None, versions)


def _strip_comment(raw: str) -> str:
    """Without a comment: `#` or `;` at the start, `#` behind a value, unless it is in quotes."""
    line = raw.strip()
    if line.startswith((";", "#")):
        return ""
    quote = ""
    for position, letter in enumerate(line):
        if quote:
            quote = "" if letter == quote and line[position - 1] != "\\" else quote
        elif letter in "'\"":
            quote = letter
        elif letter == "#":
            return line[:position].rstrip()
    return line


def _plain(value: str) -> str:
    """Without its quotes, and with its escapes replaced."""
    value = value.strip()
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
        value = value[1:-1]
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1] if match[1] in "\\'\"" else match[0]), value)
