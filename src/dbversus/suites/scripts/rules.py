r"""What statements and commands of dumps are about that is no affair of the one database that is loaded.

Psql goes on after every error, and mysql with --force. A load goes on after those that leave tables and rows as they would have
been: it tells them by the statement, and by what the server says to it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from dbversus.dbms.model import Family

_ALL = re.DOTALL | re.IGNORECASE
_NEVER = re.compile(rb"(?!)")


@dataclass(frozen=True)
class Rules:
    """Of a family. Statements by what they begin with: those that include a file, or make, drop or enter a database (with its
    `name`), and by reason those that are not run (`left_out`) or cannot be taken (`refused`). `rewritten`: a group of a
    statement that is run without it. `harmless`: a statement, what the server may say to it, and what that means.

    `servers_own`: databases that hold nothing of the user's. `of_server`: what may be run while one of these is entered.
    """

    include: re.Pattern[bytes] = _NEVER
    create: re.Pattern[bytes] = _NEVER
    drop: re.Pattern[bytes] = _NEVER
    enter: re.Pattern[bytes] = _NEVER
    set_names: re.Pattern[bytes] = _NEVER
    names_statement: str = ""
    left_out: Mapping[re.Pattern[bytes], str] = field(default_factory=dict)
    refused: Mapping[re.Pattern[bytes], str] = field(default_factory=dict)
    definer: re.Pattern[bytes] = _NEVER
    harmless: tuple[tuple[re.Pattern[bytes], re.Pattern[str], str], ...] = ()
    servers_own: frozenset[str] = frozenset()
    of_server: re.Pattern[bytes] = _NEVER
    lower_case: bool = False


def _begins(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"(?:/\*M?!\d*\s*)?" + pattern, _ALL)


def _said(*codes: str, words: str = "") -> re.Pattern[str]:
    return re.compile(rf"ERROR (?:{'|'.join(codes)})\b.*{words}", re.DOTALL | re.IGNORECASE)


_EXISTS = rb"(?:(?:/\*!\d*\s*)?IF\s+(?:NOT\s+)?EXISTS\s*(?:\*/)?\s*)?"
_PG_NAME = rb"(?P<name>\"(?:[^\"]|\"\")+\"|[\w$\x80-\xff-]+)"
_MY_NAME = rb"(?P<name>`(?:[^`]|``)+`|\"[^\"]+\"|[\w$\x80-\xff-]+)"
_ACCOUNT = rb"(?:`[^`]*`|'[^']*'|\"[^\"]*\"|[\w.%$-]+)"
_SETTINGS = "settings of the server come from a config (docs/configs.md); leave it out"

_POSTGRES = Rules(
    include=_begins(rb"\\(?P<how>ir|include_relative|i|include)\s+(?P<name>.+)"),
    create=_begins(rb"CREATE\s+DATABASE\s+" + _PG_NAME + rb"(?P<options>.*)"),
    drop=_begins(rb"(?:DROP|ALTER)\s+DATABASE\s+" + _EXISTS + _PG_NAME),
    enter=_begins(rb"\\c(?:onnect)?\b(?P<name>.*)"),
    set_names=_begins(rb"\\encoding\s+'?(?P<name>[\w-]+)"),
    names_statement="SET client_encoding = '{}'",
    left_out={
        _begins(
            rb"(?:(?:CREATE|ALTER|DROP|COMMENT\s+ON)\s+TABLESPACE|(?:GRANT|REVOKE)\b.*\bON\s+TABLESPACE)\b"
        ): "all data stays in the server's own folder",
        _begins(rb"(?:CREATE|ALTER|DROP|COMMENT\s+ON)\s+SUBSCRIPTION\b"): "rows of another server do not come in",
    },
    refused={
        _begins(rb"ALTER\s+SYSTEM\b"): _SETTINGS,
        _begins(rb"COPY\b.*\bFROM\s+'\$\$PATH\$\$"): (
            "its rows are in another member of the tar file of pg_dump -Ft; `pg_restore -f shop.sql FILE` makes one file of them"
        ),
    },
    harmless=(
        (
            _begins(rb"(?:SET|SELECT\s+(?:pg_catalog\.)?set_config)\b"),
            _said("42704", words="unrecognized configuration parameter"),
            "this version does not have the setting",
        ),
        (
            _begins(rb"SET\s+default_tablespace\b|ALTER\s.*\bSET\s+TABLESPACE\b"),
            _said("22023", "42704", "55006", words="tablespace"),
            "all data stays in the server's own folder",
        ),
        (
            _begins(rb"SET\s+default_(?:with_oids|table_access_method)\b"),
            _said("0A000", "22023", "42704"),
            "this version, or build, does not have it; tables are made as usual",
        ),
        (
            _begins(
                rb"ALTER\b.*\bOWNER\s+TO\b|GRANT\b|REVOKE\b|ALTER\s+DEFAULT\s+PRIVILEGES\b|(?:ALTER|DROP|COMMENT\s+ON)\s+(?:ROLE|USER|GROUP)\b"
                rb"|SET\s+(?:SESSION\s+AUTHORIZATION|(?:SESSION\s+|LOCAL\s+)?ROLE)\b|CREATE\s+POLICY\b|REASSIGN\b|DROP\s+OWNED\b"
            ),
            _said("42704", "22023", "42501", "42939", words="role .*(?:does not exist|reserved)"),
            "there is no such role, and everything belongs to dbversus's own",
        ),
        (_begins(rb"CREATE\s+(?:ROLE|USER|GROUP)\b"), _said("42710"), "the role is there already"),
        (_begins(rb"CREATE\s+SCHEMA\b"), _said("42P06"), "the schema is there already"),
        (
            _begins(rb"CREATE\s+(?:EXTENSION|(?:OR\s+REPLACE\s+)?(?:TRUSTED\s+)?(?:PROCEDURAL\s+)?LANGUAGE)\b"),
            _said("42710"),
            "the extension or language is there already",
        ),
        (
            _begins(rb"CREATE\s+EXTENSION\b"),
            _said("0A000", "58P01", "22023", "42704", "F0000", words="(?:extension|control file)"),
            "this build does not have the extension",
        ),
        (
            _begins(
                rb"(?:CREATE\s+(?:OR\s+REPLACE\s+)?(?:TRUSTED\s+)?(?:PROCEDURAL\s+)?|ALTER\s+(?:PROCEDURAL\s+)?)LANGUAGE\b"
            ),
            _said("58P01", "42704", "0A000"),
            "this build does not have the language",
        ),
        (
            _begins(
                rb"(?:ALTER\s+EXTENSION|COMMENT\s+ON\s+(?:EXTENSION|(?:PROCEDURAL\s+)?LANGUAGE|SCHEMA|DATABASE))\b"
            ),
            _said("42704", "42883", "3F000", "3D000", "42501"),
            "what it is about is not there",
        ),
        (
            _begins(rb"(?:GRANT|REVOKE)\b"),
            _said("3D000", "3F000", "42P01", "42883", "42704"),
            "what it is about is not there",
        ),
        (_begins(rb"SECURITY\s+LABEL\b"), _said("22023", "0A000"), "nothing here heeds labels"),
        (
            _begins(rb"DROP\b|ALTER\b.*\bDROP\b"),
            _said("42P01", "42704", "42703", "42883", "3F000", "42P17"),
            "there was nothing to drop",
        ),
        (
            _begins(rb"DROP\s+(?:SCHEMA|EXTENSION|(?:PROCEDURAL\s+)?LANGUAGE)\b"),
            _said("2BP01"),
            "it stays, since others need it",
        ),
    ),
    servers_own=frozenset({"postgres", "template0", "template1"}),
    of_server=_begins(
        rb"(?:SET|SELECT\s+(?:pg_catalog\.)?set_config|BEGIN|COMMIT|GRANT|REVOKE|UPDATE\s+(?:pg_catalog\.)?pg_\w+|COMMENT\s+ON"
        rb"|(?:CREATE|ALTER|DROP)\s+(?:ROLE|USER|GROUP|TABLESPACE|DATABASE|EXTENSION|(?:PROCEDURAL\s+)?LANGUAGE)"
        rb"|(?:ALTER|CREATE|DROP)\s+SCHEMA\s+public|ALTER\s+DEFAULT\s+PRIVILEGES)\b"
    ),
    lower_case=True,
)

_MYSQL = Rules(
    include=_begins(rb"(?:source|\\\.)\s+(?P<name>.+)"),
    create=_begins(rb"CREATE\s+(?:DATABASE|SCHEMA)\s+" + _EXISTS + _MY_NAME + rb"(?P<options>.*)"),
    drop=_begins(rb"DROP\s+(?:DATABASE|SCHEMA)\s+" + _EXISTS + _MY_NAME),
    enter=_begins(rb"(?:use|\\u)\s+" + _MY_NAME),
    set_names=_begins(rb"(?:charset|\\C)\s+(?P<name>\w+)"),
    names_statement="SET NAMES {}",
    left_out={
        _begins(
            rb"(?:(?:CREATE|ALTER|DROP|RENAME)\s+(?:USER|ROLE)|GRANT|REVOKE|SET\s+(?:PASSWORD|(?:DEFAULT\s+)?ROLE)|FLUSH\s+\S*\s*PRIVILEGES)\b"
        ): "dbversus has an account of its own",
        _begins(
            rb"(?:CHANGE\s+(?:MASTER|REPLICATION)|(?:START|STOP|RESET)\s+(?:ALL\s+)?(?:SLAVE|REPLICA|MASTER|GROUP_REPLICATION)"
            rb"|(?:PURGE|RESET)\s+BINARY\b)"
        ): "there is no replication",
        _begins(rb"SET\s+@@GLOBAL\.(?:GTID_PURGED|GTID_SLAVE_POS)\b"): "there is no replication",
        _begins(rb"SET\s+GLOBAL\s+gtid_slave_pos\b"): "there is no replication",
    },
    refused={
        _begins(rb"SET\s+(?:PERSIST(?:_ONLY)?\b|@@PERSIST)"): _SETTINGS,
        _begins(rb"LOAD\s+(?:DATA|XML)\b"): (
            "it reads a file that the server cannot see; [data] takes rows from a file of their own (docs/suites/tables.md)"
        ),
        _begins(rb"(?:SHUTDOWN|RESTART)\s*\Z"): "the server is needed; leave it out",
    },
    definer=re.compile(
        rb"(?:/\*M?!\d*\s*)?(?:CREATE|ALTER)\b[^(;]*?(?P<definer>DEFINER\s*=\s*(?!CURRENT_(?:USER|ROLE)\b|`dbversus`@`localhost`)"
        + _ACCOUNT
        + rb"(?:\s*@\s*"
        + _ACCOUNT
        + rb")?)",
        _ALL,
    ),
    harmless=(
        (_begins(rb"SET\b"), _said("1193"), "this version does not have the setting"),
        (
            _begins(rb"SET\b.*\bsql_mode\b"),
            _said("1231", words="sql_mode"),
            "this version does not have that mode, and keeps the one before",
        ),
        (
            _begins(rb"SET\b.*\b(?:collation|character_set)_\w+"),
            _said("1273", "1115"),
            "this version does not have it, and keeps the one before",
        ),
        (_begins(rb"SET\b"), _said("1840", "1841", "3546", words="GTID"), "there is no replication"),
        (
            _begins(rb"DROP\b|ALTER\b.*\bDROP\b"),
            _said("1008", "1051", "1091", "1176", "1305", "1360", "1539", "4091", "4092", "1146"),
            "there was nothing to drop",
        ),
    ),
    servers_own=frozenset({"mysql", "sys", "information_schema", "performance_schema"}),
)

_SQLITE = Rules(
    include=_begins(rb"\.read\s+(?P<name>.+)"),
    refused={_begins(rb"(?:ATTACH|DETACH)\b"): "all goes into one database; attached ones have no place in it"},
    harmless=(
        (
            _begins(rb"DROP\b"),
            re.compile(r"no such (?:table|index|view|trigger):"),
            "there was nothing to drop",
        ),
    ),
)

RULES = {Family.POSTGRES: _POSTGRES, Family.MYSQL: _MYSQL, Family.SQLITE: _SQLITE}


def why_harmless(family: Family, statement: bytes, words: str) -> str:
    """What it means that a server has refused a statement with these words, where the data is none the worse; else empty."""
    for pattern, said, why in RULES[family].harmless:
        if pattern.match(statement) and said.match(words):
            return why
    return ""
