"""Turns a DBA's own my.cnf or postgresql.conf into a config file of dbversus (`dbversus configs from`)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dbversus.dbms.known import find_dbms, names_of
from dbversus.dbms.model import Family
from dbversus.errors import UsageError
from dbversus.servers.config import my_cnf, postgresql_conf
from dbversus.servers.config.foreign_line import Line
from dbversus.servers.config.names import plain_name, setting_key, why_own

CONVERTIBLE = names_of(Family.POSTGRES) + names_of(Family.MYSQL)

_ALONE = "servers are measured alone, without replicas"
_HOLDS_SECRETS = re.compile(r"password|passphrase|conninfo|_auth$")
_CREATED_WITH_C = "data is created with the locale C"
_NOT_KEPT = {
    Family.POSTGRES: (
        (re.compile(r"lc_(messages|monetary|numeric|time)"), _CREATED_WITH_C),
        (re.compile(r"ssl(_.*)?"), "servers listen on a private Unix socket only"),
        (re.compile(r"synchronous_standby_names|primary_.*|recovery_.*|restore_command"), _ALONE),
        (re.compile(r"archive_.*"), "logs are not archived"),
    ),
    Family.MYSQL: (
        (re.compile(r"wsrep_.*|rpl_semi_sync_.*|report_.*"), _ALONE),
        (re.compile(r"(super_)?read_only"), "tables are loaded and changed"),
    ),
}
# logs in the data directory, whatever folder they had
_NAMED_LOGS = ("log_bin", "log_bin_index", "relay_log", "relay_log_index")


@dataclass(frozen=True)
class Converted:
    """`text` of a config file; how many settings it has, and how many were left out, with comments that say why."""

    dbms: str
    text: str
    kept: int
    left_out: int


def convert(path: Path, dbms: str | None = None) -> Converted:
    """Raises UsageError, naming file and line, for what cannot be understood, such as a file that includes others."""
    if dbms is not None and dbms not in CONVERTIBLE:
        raise UsageError(f"Configs of {dbms} cannot be made from a file; accepted: {', '.join(CONVERTIBLE)}.")
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path.absolute()} cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    dbms = dbms or _guess(text)
    reader = postgresql_conf if find_dbms(dbms).family is Family.POSTGRES else my_cnf
    lines = list(reader.read(text, path.absolute(), dbms))
    if not lines:
        raise UsageError(f"{path.absolute()} has no settings of a {dbms} server; {reader.WHERE_SETTINGS_STAND}.")
    written = [_written(dbms, line) for line in lines]
    left_out = sum(each.startswith("#") for each in written)
    head = [f"# As in {path.name} (dbversus configs from).", "[without base]", ""]
    body = "\n".join([*head, *_in_sections(lines, written)])
    return Converted(dbms, body + "\n", len(lines) - left_out, left_out)


def _guess(text: str) -> str:
    sections = my_cnf.section_names(text)
    if not sections:
        return "postgres"
    if re.search(r"^\s*(?:loose[-_])?rocksdb[-_]|ha_rocksdb", text, re.MULTILINE):
        return "myrocks"
    return "mariadb" if any(my_cnf.is_of_mariadb(name) for name in sections) else "mysql"


def _in_sections(lines: Sequence[Line], written: Sequence[str]) -> Iterator[str]:
    versions = ""
    for line, text in zip(lines, written, strict=True):
        if line.versions != versions:
            versions = line.versions
            yield f"\n[{versions or 'settings'}]"
        yield text


def _written(dbms: str, line: Line) -> str:
    """The line as a config file has it, or a comment that says why it is left out."""
    name = plain_name(dbms, line.name)
    key = setting_key(dbms, name)
    value = line.value
    if key in _NAMED_LOGS and value:
        value = Path(value).name
    if why := _why_not_kept(dbms, name, key, value):
        return f"# left out: {name} (line {line.number}): {why}"
    if value is None:
        return name
    escaped = value.replace("{", "{{").replace("}", "}}")
    return f"{name} = {_quoted(escaped, dbms)}"


def _why_not_kept(dbms: str, name: str, key: str, value: str | None) -> str:
    if why := why_own(dbms, name):
        return why
    if _HOLDS_SECRETS.search(key):
        return "it may hold a password"
    for pattern, why in _NOT_KEPT[find_dbms(dbms).family]:
        if pattern.fullmatch(key):
            return why
    if value and value.startswith(("/", "~")):
        return "a path of another installation"
    if value and "\n" in value:
        return "its value holds a line break"
    return ""


def _quoted(value: str, dbms: str) -> str:
    if not value and find_dbms(dbms).settings.flags:
        return '""'  # an empty value, unlike a name alone
    if not value or re.search(r"[\s#']", value):
        return "'" + value.replace("'", "''") + "'"
    return value
