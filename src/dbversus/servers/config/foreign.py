"""Turns a DBA's own my.cnf or postgresql.conf into a config file of dbversus (`dbversus configs from`)."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dbversus.dbms.known import find_dbms, names_of
from dbversus.dbms.model import Family
from dbversus.dbms.settings import plain_name, setting_key, why_own
from dbversus.errors import UsageError
from dbversus.private import holds_secret
from dbversus.servers.config import my_cnf, postgresql_conf
from dbversus.servers.config.file import WITHOUT_BASE
from dbversus.servers.config.foreign_line import Line
from dbversus.servers.config.includes import Reading, is_there, read_text, read_whole
from dbversus.servers.config.option_lists import full_name

CONVERTIBLE = names_of(Family.POSTGRES) + names_of(Family.MYSQL)

_ALONE = "servers are measured alone, without replicas"
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
    """`text` of a config file; how many settings it has, and how many were left out, with comments that say why.

    `notes`: what was not read. `files`: all that were, the first one first.
    """

    dbms: str
    text: str
    kept: int
    left_out: int
    notes: Sequence[str]
    files: Sequence[Path]


@dataclass(frozen=True)
class Setting:
    """A line to be written. `versions`: `since 8.0 until 8.0`, empty for all. `value`: None for a name alone.

    `why`: why it is left out; empty for one that is kept. `remark` stands behind it.
    """

    name: str
    value: str | None
    versions: str
    place: str
    why: str = ""
    remark: str = ""

    def text(self, dbms: str) -> str:
        """The line as a config file has it, or a comment that says why it is left out."""
        if self.why:
            return f"# left out: {self.name} ({self.place}): {self.why}"
        line = self.name if self.value is None else f"{self.name} = {_quoted(self.value, dbms)}"
        return f"{line:<55} # {self.remark}" if self.remark else line


Limit = Callable[[str, Sequence[Setting]], Sequence[Setting]]
"""Says of settings of a DBMS for which versions they hold."""


def convert(path: Path, dbms: str | None = None, limit: Limit | None = None) -> Converted:
    """Raises UsageError, naming file and line, for what cannot be understood."""
    if dbms is not None and dbms not in CONVERTIBLE:
        raise UsageError(f"Configs of {dbms} cannot be made from a file; accepted: {', '.join(CONVERTIBLE)}.")
    is_my_cnf = find_dbms(dbms).family is Family.MYSQL if dbms else my_cnf.is_one(read_text(path))
    reader = my_cnf if is_my_cnf else postgresql_conf
    reading = read_whole(path, reader.parse, reader.IN_FOLDER)
    if not is_my_cnf:
        _read_what_the_server_wrote(reading)
    dbms = dbms or (my_cnf.guess_dbms(reading.sections, reading.lines) if is_my_cnf else "postgres")
    settings = [setting for line in reading.lines if (setting := _setting(dbms, line))]
    if not settings:
        words = [f"{reading.path} has no settings of a {dbms} server", reader.WHERE_SETTINGS_STAND, *reading.notes]
        raise UsageError(f"{'; '.join(words)}.")
    if limit:
        settings = [*limit(dbms, settings)]
    left_out = sum(bool(setting.why) for setting in settings)
    text = "\n".join([*_head(reading), *_in_sections(dbms, settings)]) + "\n"
    return Converted(dbms, text, len(settings) - left_out, left_out, reading.notes, reading.files)


def _read_what_the_server_wrote(reading: Reading) -> None:
    """Reads last what ALTER SYSTEM has set, beside the file or in the data directory that it names."""
    said = [line.value for line in reading.lines if line.name.lower() == "data_directory" and line.value]
    for folder in (reading.path.parent, *map(Path, said[-1:])):
        path = folder / postgresql_conf.WRITTEN_BY_SERVER
        if is_there(path) and path not in reading.files:
            reading.read(path, (reading.path,))
            return


def _head(reading: Reading) -> Iterator[str]:
    others = len(reading.files) - 1
    yield f"# As in {reading.path.name}{f' and {others} more' if others else ''} (dbversus configs from)."
    yield f"[{WITHOUT_BASE}]"
    yield ""
    if others:
        yield f"# read: {', '.join(str(reading.short(path)) for path in reading.files)}"
    for note in reading.notes:
        yield f"# note: {note}"


def _in_sections(dbms: str, settings: Sequence[Setting]) -> Iterator[str]:
    versions = ""
    for setting in settings:
        if setting.versions != versions:
            versions = setting.versions
            yield f"\n[{versions or 'settings'}]"
        yield setting.text(dbms)


def _setting(dbms: str, line: Line) -> Setting | None:
    """None for a line that is not for this DBMS."""
    versions = my_cnf.versions_of(line.section, dbms) if line.section else ""
    if versions is None:
        return None
    written = plain_name(dbms, line.name)
    name = full_name(dbms, written)
    key = setting_key(dbms, name)
    value = line.value
    if key in _NAMED_LOGS and value:
        value = Path(value).name
    why = _why_not_kept(dbms, name, key, value)
    if value is not None:
        value = value.replace("{", "{{").replace("}", "}}")
    return Setting(name, value, versions, line.place, why, f"{written} ({line.place})" if name != written else "")


def _why_not_kept(dbms: str, name: str, key: str, value: str | None) -> str:
    if why := why_own(dbms, name):
        return why
    for pattern, why in _NOT_KEPT[find_dbms(dbms).family]:
        if pattern.fullmatch(key):
            return why
    if holds_secret(key, value):
        return "it may hold a password or a key"
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
