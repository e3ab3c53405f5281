"""What a script is made of in each dialect: quotes, comments, commands of the client, data between statements."""

import re
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from dbversus.dbms.model import Family

_ALL = re.DOTALL | re.IGNORECASE


@dataclass(frozen=True)
class Dialect:
    """`blank`: what may stand before a statement. `quoted`: what holds no end of a statement; `opened`: a quote or comment
    that nothing closes. `command`: a line for the client, where a statement could begin; `harmless`: those that may be passed
    over; `anywhere`: what begins such a command in the midst of a statement too. `refused`: statements that
    lead out of the database that is loaded, with the reason. `is_whole`: whether a statement ends at this `;`.
    """

    blank: re.Pattern[bytes]
    quoted: bytes
    opened: bytes
    command: re.Pattern[bytes]
    harmless: re.Pattern[bytes]
    refused: Mapping[re.Pattern[bytes], str]
    is_whole: Callable[[bytes], bool]
    anywhere: bytes = rb"(?!)"
    delimiter: re.Pattern[bytes] | None = None
    copy: re.Pattern[bytes] | None = None
    deeper: tuple[bytes, bytes] = (rb"(?!)", rb"(?!)")
    clients: str = ""
    own_tokens: dict[bytes, re.Pattern[bytes]] = field(default_factory=dict)

    def tokens(self, delimiter: bytes) -> re.Pattern[bytes]:
        """Matches up to what ends a statement, or has to be looked at: its last group says what that is.

        All that hides no end is passed in one go, and never looked at twice: dumps are large.
        """
        if delimiter not in self.own_tokens:
            end = re.escape(delimiter)
            opening, closing = self.deeper
            passed = rb"(?:%s|(?!%s)\w++|[^\w%s%s]++)*+" % (self.quoted, end, _SPECIAL, re.escape(delimiter[:1]))
            kinds = {
                b"end": end,
                b"opened": self.opened,
                b"command": self.anywhere,
                b"deeper": opening,
                b"higher": closing,
            }
            parts = [rb"(?P<%s>%s)" % (kind, pattern) for kind, pattern in (*kinds.items(), (b"other", b"."))]
            self.own_tokens[delimiter] = re.compile(passed + b"(?:" + b"|".join(parts) + b")", re.DOTALL)
        return self.own_tokens[delimiter]


# all that begins a quote, a comment or a command in any dialect, in a class of characters
_SPECIAL = rb"'\"`\[#$()/\\\-"

_ROUTINE = re.compile(rb"CREATE\s+(OR\s+REPLACE\s+)?(FUNCTION|PROCEDURE)\b.*\bBEGIN\s+ATOMIC\b", _ALL)
_BLOCK = re.compile(rb"\b(?:(BEGIN|CASE)|END)\b", re.IGNORECASE)
_TRIGGER = re.compile(rb"CREATE\s+(TEMP\w*\s+)?TRIGGER\b", re.IGNORECASE)


def _whole_postgres(statement: bytes) -> bool:
    """A body BEGIN ATOMIC … END has statements in it."""
    if not _ROUTINE.match(statement):
        return True
    return sum(1 if found[1] else -1 for found in _BLOCK.finditer(statement)) <= 0


def _whole_sqlite(statement: bytes) -> bool:
    """As does a trigger, whose end SQLite itself knows."""
    return not _TRIGGER.match(statement) or sqlite3.complete_statement(statement.decode(errors="replace") + ";")


def _word(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern, re.IGNORECASE)


_OTHER_DATABASE = "all goes into a database of dbversus's own; make the dump without {}"

_POSTGRES = Dialect(
    blank=re.compile(rb"(?:\s+|--[^\n]*|/\*.*?\*/)+", re.DOTALL),
    quoted=rb"(?<!\w)[eE]'[^'\\]*+(?:(?:\\.|'')[^'\\]*+)*+'|'[^']*'|\"[^\"]*\"|--[^\n]*"
    rb"|/\*.*?\*/|\$(?P<tag>(?:[A-Za-z_\x80-\xff][\w\x80-\xff]*)?)\$.*?\$(?P=tag)\$",
    opened=rb"['\"]|/\*",
    command=re.compile(rb"\\[^\n]*"),
    harmless=_word(rb"\\(restrict|unrestrict|echo|qecho|warn|timing|pset|x|set\s+ON_ERROR_STOP)\b"),
    refused={
        _word(rb"(CREATE|DROP)\s+DATABASE\b"): _OTHER_DATABASE.format("--create (-C)"),
        _word(rb"\\c(onnect)?\b"): _OTHER_DATABASE.format("--create (-C)"),
    },
    is_whole=_whole_postgres,
    anywhere=rb"\\",
    copy=re.compile(rb"COPY\b.*\bFROM\s+STDIN\b", _ALL),
    deeper=(rb"\(", rb"\)"),
    clients="psql",
)

_MYSQL = Dialect(
    # what stands in /*!40101 … */ is a statement, and /*M!999999\- enables a mode of MariaDB's client
    blank=re.compile(rb"(?:\s+|--(?=\s|$)[^\n]*|#[^\n]*|/\*M!999999\\-[^\n]*|/\*(?!M?!).*?\*/)+", re.DOTALL),
    quoted=rb"'[^'\\]*+(?:\\.[^'\\]*+)*+'|\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\"|`[^`]*`|--(?=\s)[^\n]*|#[^\n]*|/\*(?!M?!).*?\*/",
    opened=rb"['\"`]|/\*(?!M?!)",
    command=re.compile(rb"(?:\\|(?:source|system|tee|notee|pager|nopager)\b)[^\n]*", re.IGNORECASE),
    harmless=_word(rb"(?!)"),
    refused={
        _word(rb"(?:/\*!\d*\s*)?(CREATE|DROP)\s+(DATABASE|SCHEMA)\b"): _OTHER_DATABASE.format("--databases (-B)"),
        _word(rb"USE\b"): _OTHER_DATABASE.format("--databases (-B)"),
    },
    is_whole=lambda _: True,
    anywhere=rb"\\",
    delimiter=_word(rb"DELIMITER[ \t]+(\S+)[^\n]*"),
    clients="mysql",
)

_SQLITE = Dialect(
    blank=re.compile(rb"(?:[\s;]+|--[^\n]*|/\*.*?\*/)+", re.DOTALL),
    quoted=rb"'[^']*'|\"[^\"]*\"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?\*/",
    opened=rb"['\"`]|/\*",
    command=re.compile(rb"\.[^\n]*"),
    harmless=_word(rb"\.(echo|headers?|mode|bail|print|timer|changes)\b"),
    refused={_word(rb"(ATTACH|DETACH)\b"): "all goes into one database; attached ones have no place in it"},
    is_whole=_whole_sqlite,
    clients="sqlite3",
)

DIALECTS = {Family.POSTGRES: _POSTGRES, Family.MYSQL: _MYSQL, Family.SQLITE: _SQLITE}
