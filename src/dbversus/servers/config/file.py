"""Reads files of server settings, `configs/<dbms>/<name>.conf` (syntax: docs/configs.md)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dbversus.dbms.versions import in_range
from dbversus.errors import UsageError, reason

Section = Literal["settings", "environment", "init", "ddl"]

_VERSION = r"\d+(?:\.\d+)*"
_HEADER = re.compile(
    rf"(?:(settings|environment|init|ddl)\b\s*)?(?:since\s+({_VERSION})\s*)?(?:until\s+({_VERSION})\s*)?", re.ASCII
)
_NAME = r"[A-Za-z_][A-Za-z0-9_.-]*"
_ASSIGNMENT = re.compile(rf"({_NAME})\s*=\s*(.*)", re.ASCII)
_FLAG = re.compile(_NAME, re.ASCII)
WITHOUT_BASE = "without base"


@dataclass(frozen=True)
class Item:
    """One `name = value` line. It holds for versions from `since` to `until`, both included; "" is no bound."""

    section: Section
    name: str
    value: str
    since: str
    until: str
    where: str

    def applies(self, version: str) -> bool:
        return in_range(version, self.since, self.until)

    @property
    def range(self) -> str:
        """` since 16 until 17`, or nothing."""
        since = f" since {self.since}" if self.since else ""
        return since + (f" until {self.until}" if self.until else "")


@dataclass(frozen=True)
class ConfigFile:
    """`description` is the comment at its top. `without_base`: the base config is not to be read before it."""

    path: Path
    description: str
    items: tuple[Item, ...]
    without_base: bool

    @property
    def name(self) -> str:
        return self.path.stem

    def applies(self, version: str) -> bool:
        """Whether it says anything for this version (an empty file says: nothing is to be changed)."""
        return not self.items or any(item.applies(version) for item in self.items)


def read_config(path: Path, *, flags: bool = False) -> ConfigFile:
    """Raises UsageError with file and line for the first mistake. `flags`: a name may stand alone (`skip_name_resolve`)."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path.absolute()} cannot be read: {reason(error)}.") from error
    headers = [line.strip() for line in lines if line.strip().startswith("[")]
    return ConfigFile(path, _description(lines), tuple(_items(path, lines, flags)), f"[{WITHOUT_BASE}]" in headers)


def _description(lines: list[str]) -> str:
    top: list[str] = []
    for line in lines:
        if not line.startswith("#"):
            break
        top.append(line.lstrip("# ").rstrip())
    return " ".join(top).strip()


def _items(path: Path, lines: list[str], flags: bool) -> Iterator[Item]:
    section, since, until = "settings", "", ""
    for number, raw in enumerate(lines, 1):
        where = f"{path.absolute()}:{number}"
        line = strip_comment(raw).strip()
        if not line or line == f"[{WITHOUT_BASE}]":
            continue
        if line.startswith("["):
            section, since, until = _header(line, where)
            continue
        if flags and section in ("settings", "init") and _FLAG.fullmatch(line):
            line += " ="
        match = _ASSIGNMENT.fullmatch(line)
        if match is None:
            raise UsageError(f"{where}: '{line}' is not understood; accepted are `name = value` and a [section].")
        yield Item(section, match[1], unquote(match[2]), since, until, where)  # type: ignore[arg-type]


def _header(line: str, where: str) -> tuple[str, str, str]:
    match = _HEADER.fullmatch(line.removeprefix("[").removesuffix("]").strip())
    if match is None or not line.endswith("]"):
        raise UsageError(
            f"{where}: '{line}' is not a section; accepted are [settings], [environment], [init], [ddl], each with "
            f"`since VERSION` and `until VERSION` if wanted, such as [since 16] or [init until 9.6], "
            f"and [{WITHOUT_BASE}]."
        )
    return match[1] or "settings", match[2] or "", match[3] or ""


def strip_comment(line: str) -> str:
    """The line up to a `#` that is not inside single quotes."""
    quoted = False
    for position, letter in enumerate(line):
        if letter == "'":
            quoted = not quoted
        elif letter == "#" and not quoted:
            return line[:position]
    return line


def unquote(value: str) -> str:
    value = value.strip()
    if len(value) >= 2 and value[0] == value[-1] == "'":
        return value[1:-1].replace("''", "'")
    return value
