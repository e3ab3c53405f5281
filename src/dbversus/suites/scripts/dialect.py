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
    that nothing closes. `command`: a line for the client, where a statement could begin: `harmless` ones are passed over,
    `meant` ones say something about the load (rules.py), `quit` ends the script, all others are refused, with their
    `ways_out`. `anywhere`: what begins such a command in the midst of a statement too; `sends`: those that end it.
    `is_whole`: whether a statement ends at this `;`.
    """

    blank: re.Pattern[bytes]
    quoted: bytes
    opened: bytes
    command: re.Pattern[bytes]
    harmless: re.Pattern[bytes]
    meant: re.Pattern[bytes]
    quit: re.Pattern[bytes]
    ways_out: Mapping[re.Pattern[bytes], str]
    is_whole: Callable[[bytes], bool]
    anywhere: bytes = rb"(?!)"
    sends: re.Pattern[bytes] = re.compile(rb"(?!)")
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


_PROGRAM = "programs are not run; leave it out"
_ROWS_OF_A_FILE = "[data] takes rows from a file of their own (docs/suites/tables.md)"

_POSTGRES = Dialect(
    blank=re.compile(rb"(?:\s+|\xef\xbb\xbf|--[^\n]*|/\*.*?\*/)+", re.DOTALL),
    quoted=rb"(?<!\w)[eE]'[^'\\]*+(?:(?:\\.|'')[^'\\]*+)*+'|'[^']*'|\"[^\"]*\"|--[^\n]*"
    rb"|/\*.*?\*/|\$(?P<tag>(?:[A-Za-z_\x80-\xff][\w\x80-\xff]*)?)\$.*?\$(?P=tag)\$",
    opened=rb"['\"]|/\*",
    command=re.compile(rb"\\[^\n]*"),
    harmless=re.compile(
        rb"\\(restrict|unrestrict|echo|qecho|warn|timing|pset|x|a|t|f|H|C|T|o|out|errverbose|conninfo|copyright|h|help|\?|p|print"
        rb"|r|reset|s|z|l|d\w*\+?|sf|sv|setenv|unset"
        rb"|set\s+(ON_ERROR_STOP|ON_ERROR_ROLLBACK|VERBOSITY|SHOW_CONTEXT|QUIET|ECHO\w*|PROMPT\d|HIST\w+|FETCH_COUNT|COMP_\w+"
        rb"|HIDE_\w+|IGNOREEOF|AUTOCOMMIT\s+(?i:on)))(?![\w+])[^\n]*|\\\.[ \t\r]*(?=\n|\Z)"
    ),
    meant=re.compile(rb"\\(c|connect|i|ir|include|include_relative|encoding)\b"),
    quit=re.compile(rb"\\q(uit)?\b"),
    ways_out={
        re.compile(rb"\\copy\b"): f"write COPY … FROM STDIN, and its rows below it, or {_ROWS_OF_A_FILE}",
        re.compile(rb"\\(!|cd\b|lo_import\b)"): _PROGRAM,
        re.compile(rb"\\(set|prompt|gset)\b"): "write the value itself where the variable stands",
        re.compile(rb"\\(if|elif|else|endif)\b"): "leave only what is to be run",
        re.compile(rb"\\gexec\b"): "write the statements that it makes",
    },
    is_whole=_whole_postgres,
    anywhere=rb"\\",
    sends=re.compile(rb"\\gx?[ \t\r]*(?=\n|\Z)"),
    copy=re.compile(rb"COPY\b.*\bFROM\s+STDIN\b", _ALL),
    deeper=(rb"\(", rb"\)"),
    clients="psql",
)

_MYSQL = Dialect(
    # what stands in /*!40101 … */ is a statement, and /*M!999999\- enables a mode of MariaDB's client
    blank=re.compile(
        rb"(?:\s+|\xef\xbb\xbf|--(?=\s|$)[^\n]*|#[^\n]*|/\*M!999999\\-[^\n]*|/\*(?!M?!).*?\*/)+", re.DOTALL
    ),
    quoted=rb"'[^'\\]*+(?:\\.[^'\\]*+)*+'|\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\"|`[^`]*`|--(?=\s)[^\n]*|#[^\n]*|/\*(?!M?!).*?\*/",
    opened=rb"['\"`]|/\*(?!M?!)",
    # `use x` and the like need no `;`, which may be followed by more
    command=re.compile(
        rb"(?:\\u|use)[ \t]+(?:`[^`\n]+`|[^\s;`]+)[ \t\r]*(?:;|(?=\n|\Z))"
        rb"|(?:\\|(?:source|system|charset|connect|edit|ego|go|resetconnection)\b(?=[ \t;\r\n]|\Z))[^\n]*",
        re.IGNORECASE,
    ),
    harmless=re.compile(
        rb"(?:(?i:tee|notee|pager|nopager|prompt|warnings|nowarning|rehash|print|clear|status|help)\b|\\[TtPnRWw#pcsh?](?!\w))[^\n]*"
    ),
    meant=re.compile(rb"\\u\b|\\\.|\\C\b|(?i:use|source|charset)\b"),
    quit=re.compile(rb"(?i:exit|quit)\b[ \t]*;?[ \t\r]*(?:\n|\Z)|\\q(?!\w)"),
    ways_out={
        re.compile(rb"(?i:system|edit)\b|\\!|\\e\b"): _PROGRAM,
        re.compile(rb"(?i:connect|resetconnection)\b|\\[rx]\b"): "leave it out; a script has one connection",
    },
    is_whole=lambda _: True,
    anywhere=rb"\\",
    sends=re.compile(rb"\\[gG](?!\w)[ \t]*;?"),
    delimiter=re.compile(rb"(?:(?i:DELIMITER)|\\d)[ \t]+(\S+)[^\n]*"),
    clients="mysql",
)

_SQLITE = Dialect(
    blank=re.compile(rb"(?:[\s;]+|\xef\xbb\xbf|--[^\n]*|/\*.*?\*/)+", re.DOTALL),
    quoted=rb"'[^']*'|\"[^\"]*\"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?\*/",
    opened=rb"['\"`]|/\*",
    command=re.compile(rb"\.[^\n]*"),
    harmless=_word(
        rb"\.(echo|headers?|mode|bail|print|timer|changes|width|nullvalue|separator|output|once|tables|schema|databases|indexes"
        rb"|indices|stats|eqp|explain|show|version|prompt|timeout|log|limit|lint|help|trace|progress|scanstats)\b[^\n]*"
    ),
    meant=_word(rb"\.read\b"),
    quit=_word(rb"\.(quit|exit)\b"),
    ways_out={
        _word(rb"\.(shell|system|load)\b"): _PROGRAM,
        _word(rb"\.import\b"): _ROWS_OF_A_FILE,
        _word(rb"\.(open|save|backup|restore|clone|cd)\b"): "leave it out; all goes into one database",
        _word(rb"\.param"): "write the value itself where the parameter stands",
    },
    is_whole=_whole_sqlite,
    clients="sqlite3",
)

DIALECTS = {Family.POSTGRES: _POSTGRES, Family.MYSQL: _MYSQL, Family.SQLITE: _SQLITE}
