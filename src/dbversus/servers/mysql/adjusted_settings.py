"""What a server of the MySQL family makes of the values that it was given: it adjusts some of them in silence."""

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass

from dbversus.dbms.settings import plain_name, setting_key
from dbversus.dbms.sizes import size_bytes

_NEGATED = re.compile(r"^(?:skip|disable)_")
_TRUTHS = {"on": 1.0, "true": 1.0, "yes": 1.0, "off": 0.0, "false": 0.0, "no": 0.0}
# MariaDB's redo log: where the file system lets it be mapped into memory, it needs no buffer, and shows the log's size instead
_OF_FILE_SYSTEM = frozenset({"innodb_log_buffer_size", "innodb_log_file_buffering"})
# lowered to what the host's limit of open files leaves room for
_OF_OPEN_FILES = frozenset({"open_files_limit", "table_open_cache", "max_connections"})
_LEAST_ROUNDED = 1024
_HEAD = re.compile(r"^Variables .*?^-{3,}[ -]+$", re.MULTILINE | re.DOTALL)
_LINE = re.compile(r"^([a-z][a-z0-9-]*)[ \t]+(\S.*?)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Change:
    """A setting whose value is another one in the server. `rounded`: to a multiple of what the server deals in.

    `by_host`: lowered, as the host lets a process open no more files.
    """

    name: str
    asked: str
    taken: str
    rounded: bool
    by_host: bool = False


def values_said(help_text: str) -> dict[str, str]:
    """The table at the end of `mysqld --verbose --help`: values by name after all options were read."""
    head = _HEAD.search(help_text)
    return dict(_LINE.findall(help_text[head.end() :])) if head else {}


def changes(asked: Mapping[str, str], said: Mapping[str, str]) -> Iterator[Change]:
    """Settings that the server has with another number or switch. `said`: its values, spelled in any way.

    Words are not compared: a server has several for the same (character sets, modes, numbers of an enumeration), and refuses
    those that it does not know.
    """
    by_name = {plain_name("mysql", name): value for name, value in said.items()}
    for name, value in asked.items():
        plain = plain_name("mysql", name).removeprefix("loose_")
        is_known = plain in by_name  # skip_name_resolve is the name of an option, skip_log_bin is not
        taken = by_name.get(plain if is_known else setting_key("mysql", plain))
        if taken is None:
            continue
        wanted, found = _number(value or "on") if is_known else _negated(plain, value), _number(taken)
        if wanted is not None and found is not None and wanted != found:
            by_host = plain in _OF_OPEN_FILES and found < wanted
            yield Change(name, value or "on", taken, _is_rounded(wanted, found), by_host)


def judge(asked: Mapping[str, str], said: Mapping[str, str], chosen: Container[str]) -> tuple[str, list[str]]:
    """What refuses a server that has started, if anything, and notes on what it adjusted.

    A change of what the target itself chose is refused; sizes of the base config are fitted to the host anyway.
    """
    notes = []
    for change in changes(asked, said):
        words = f"{change.name} = {change.asked} was asked for, and the server runs with {change.taken}"
        is_chosen = change.name in chosen
        if is_chosen and not change.rounded and not change.by_host and change.name not in _OF_FILE_SYSTEM:
            return words, []
        if is_chosen or not change.rounded:
            notes.append(words)
    return "", notes


def _negated(name: str, value: str) -> float | None:
    """`skip_log_bin` asks for log_bin = off."""
    number = _number(value or "on")
    return number if number is None or not _NEGATED.match(name) else float(not number)


def _number(text: str) -> float | None:
    plain = text.strip().lower()
    return _TRUTHS[plain] if plain in _TRUTHS else size_bytes(plain)


def _is_rounded(wanted: float, found: float) -> bool:
    """Whether `found` is `wanted` brought to a multiple of a power of two: pages, chunks of the buffer pool."""
    if min(wanted, found) < _LEAST_ROUNDED or not wanted / 2 <= found <= wanted * 2:
        return False
    step = int(found) & -int(found)
    return abs(wanted - found) < step
