"""Reads what a my.cnf says for the server: sections by version, quotes, escapes, names alone."""

import re
from collections.abc import Iterator
from pathlib import Path

from dbversus.errors import UsageError
from dbversus.names import did_you_mean_inline
from dbversus.servers.config.foreign_line import Include, Line, Part, PassedOver, Section

WHERE_SETTINGS_STAND = "they stand in [mysqld], [server], [mysqld-8.0], [mariadb] and the like"
IN_FOLDER = r".*\.cnf"

# as servers list them in `mysqld --verbose --help`
_SERVER = re.compile(r"(mysqld|mariadbd?)(?:-(\d+\.\d+))?|(server|client-server|galera)")
_NAMES = ("mysqld", "server", "mariadb", "mariadbd", "mysqld-8.0", "client-server", "galera")
_OF_MARIADB = ("mariadb", "mariadbd", "client-server", "galera")
# of clients and tools: passed over
_OTHERS = re.compile(
    r"(client|mysql|mariadb-client|mysqldump|mysqlpump|mysqladmin|mysqlbinlog|mysqlcheck|mysqlimport|mysqlshow|mysqlslap|mysqlsh|"
    r"mysql_upgrade|mysqld_safe|mysqld_multi|mariadbd-safe|safe_mysqld|mysqlhotcopy|myisamchk|isamchk|myisampack|myisam_ftdump|"
    r"mysql\.server|instance-manager|manager|embedded|mysql_cluster|ndbd|ndb_mgmd|xtrabackup|mariabackup|mariadb-backup|mariadb-dump|"
    r"sst|mysqltest|mytop|odbc|perl|mysqld\d+)(-.*)?"
)
_HEADER = re.compile(r"\s*\[([^\]]*)\]")
_DIRECTIVE = re.compile(r"!\s*(?:(include|includedir)\s+(\S.*?)\s*(?:#.*)?|.*)")
_OPTION = re.compile(r"([A-Za-z][\w.:-]*)\s*(?:(=)\s*(.*))?", re.DOTALL)
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "r": "\r", "s": " "}


def is_one(text: str) -> bool:
    """Whether a file is a my.cnf, with sections or lines that include others, rather than a postgresql.conf."""
    return re.search(r"^\s*(?:\[[^\]=]+\]|!\s*include)", text, re.MULTILINE) is not None


def guess_dbms(sections: list[str], lines: list[Line]) -> str:
    if any(re.search(r"^(?:loose[-_])?rocksdb[-_]|ha_rocksdb", f"{line.name}={line.value}") for line in lines):
        return "myrocks"
    return (
        "mariadb"
        if any(name.partition("-")[0] in ("mariadb", "mariadbd") or name in _OF_MARIADB for name in sections)
        else "mysql"
    )


def versions_of(section: str, dbms: str) -> str | None:
    """For which versions the lines of a section hold, `since 8.0 until 8.0`; None when they are not for this server."""
    match = _SERVER.fullmatch(section)
    assert match, section
    is_of_mariadb = (match[1] or match[3]) in _OF_MARIADB
    if is_of_mariadb and dbms == "mysql":
        return None
    if match[2]:
        return f"since {match[2]} until {match[2]}"
    return "since 10" if is_of_mariadb and dbms == "myrocks" else ""


def parse(text: str, path: Path) -> Iterator[Part]:
    """All that is for a server, in the order written. Raises UsageError with file and line for what is not understood."""
    section: str | None = None  # "": one that no server reads
    for number, raw in enumerate(text.split("\n"), 1):
        where = f"{path}:{number}"
        if raw.strip().startswith("!"):
            yield _directive(raw.strip(), number)
            continue
        line = _strip_comment(raw)
        if not line:
            continue
        if line.startswith("["):
            section = _section(line, where)
            if section:
                yield Section(section)
            elif not _OTHERS.fullmatch(_name(line)):
                yield PassedOver(number, f"{line} is passed over: no server reads such a section")
        elif section is None:
            raise UsageError(f"{where}: '{line}' stands before any section; accepted are sections such as [mysqld].")
        elif section:
            yield _line(line, number, where, section)


def _directive(line: str, number: int) -> Part:
    match = _DIRECTIVE.fullmatch(line)
    assert match, line
    if not match[1]:
        return PassedOver(number, f"'{line}' is passed over: accepted are !include FILE and !includedir FOLDER")
    of_folder = match[1] == "includedir"
    return Include(number, match[2], "folder" if of_folder else "file", optional=not of_folder)


def _section(header: str, where: str) -> str:
    """Its name; empty for one of clients or tools."""
    if not _HEADER.match(header):
        raise UsageError(f"{where}: '{header}' is not understood; accepted is a section such as [mysqld].")
    name = _name(header)
    if _SERVER.fullmatch(name):
        return name
    if not _OTHERS.fullmatch(name) and (hint := did_you_mean_inline(name, _NAMES)):
        raise UsageError(
            f"{where}: '{header}' is no section that a server, client or tool is known to read{hint}; "
            "correct its name, or remove it with its lines."
        )
    return ""


def _name(header: str) -> str:
    """What stands in the brackets: servers read no further, and a space before the name is part of it."""
    return header[1:].partition("]")[0].rstrip()


def _line(line: str, number: int, where: str, section: str) -> Line:
    match = _OPTION.fullmatch(line)
    if match is None:
        raise UsageError(f"{where}: '{line}' is not understood; accepted are `name = value` and a name alone.")
    return Line(number, match[1], _plain(match[3]) if match[2] else None, section)


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
