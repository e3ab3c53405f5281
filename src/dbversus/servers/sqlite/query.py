"""Runs administrators' statements on a SQLite database file with a given shared library, or with Python's own."""

import ctypes
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from dbversus.errors import RunError
from dbversus.servers.base import Query

Rows = list[list[str | None]]

_OPEN_FLAGS = 0x2 | 0x4  # SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
_OK, _ROW, _DONE = 0, 100, 101
# as in engine/src/wire/sqlite/authorizer.rs, which has the reasons
_FUNCTIONS = (
    "load_extension",
    "writefile",
    "readfile",
    "edit",
    "fsdir",
    "lsmode",
    "fts3_tokenizer",
    "sqlite3_sqlar_extract",
)
_MODULES = ("csv", "fsdir", "zipfile", "vsv")
_PRAGMAS = ("temp_store_directory", "data_store_directory")


def _authorize(action: int, first: str | None, second: str | None, *_: object) -> int:
    """An authorizer of SQLite: SQL stays within its own database, whoever wrote it."""
    refused = {
        sqlite3.SQLITE_ATTACH: first not in ("", ":memory:"),
        sqlite3.SQLITE_FUNCTION: (second or "").lower() in _FUNCTIONS,
        sqlite3.SQLITE_CREATE_VTABLE: (second or "").lower() in _MODULES,
        sqlite3.SQLITE_PRAGMA: (first or "").lower() in _PRAGMAS,
        sqlite3.SQLITE_READ: (first or "").lower() in _MODULES,
    }
    return sqlite3.SQLITE_DENY if refused.get(action) else sqlite3.SQLITE_OK


def _authorize_raw(_: object, action: int, first: bytes | None, second: bytes | None, *__: object) -> int:
    return _authorize(action, *(None if one is None else one.decode(errors="replace") for one in (first, second)))


_AUTHORIZER = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, *[ctypes.c_char_p] * 4)(_authorize_raw)


def library_query(library: Path, database: Path, session_sql: Sequence[str]) -> Query:
    """Each call opens the database with `library`, runs `session_sql` and one statement, and closes it again."""

    def query(statement: str) -> Rows:
        try:
            functions = ctypes.CDLL(str(library))
        except OSError as error:
            raise RunError(f"{library} cannot be loaded: {error}.") from error
        functions.sqlite3_errmsg.restype = functions.sqlite3_column_text.restype = ctypes.c_char_p
        handle = ctypes.c_void_p()
        status = functions.sqlite3_open_v2(str(database).encode(), ctypes.byref(handle), _OPEN_FLAGS, None)
        try:
            if status != _OK:
                raise _refused(functions, handle, str(database))
            functions.sqlite3_set_authorizer(handle, _AUTHORIZER, None)
            for text in session_sql:
                _execute(functions, handle, text)
            return _execute(functions, handle, statement)
        finally:
            functions.sqlite3_close(handle)

    return query


def _execute(functions: ctypes.CDLL, handle: ctypes.c_void_p, text: str) -> Rows:
    statement = ctypes.c_void_p()
    if functions.sqlite3_prepare_v2(handle, text.encode(), -1, ctypes.byref(statement), None) != _OK:
        raise _refused(functions, handle, text)
    rows: Rows = []
    try:
        width = functions.sqlite3_column_count(statement)
        while (status := functions.sqlite3_step(statement)) == _ROW:
            values = [functions.sqlite3_column_text(statement, column) for column in range(width)]
            rows.append([None if value is None else value.decode(errors="replace") for value in values])
        if status != _DONE:
            raise _refused(functions, handle, text)
    finally:
        functions.sqlite3_finalize(statement)
    return rows


def _refused(functions: ctypes.CDLL, handle: ctypes.c_void_p, text: str) -> RunError:
    return RunError(f"SQLite: {functions.sqlite3_errmsg(handle).decode(errors='replace')} ({text}).")


def own_query(database: Path, session_sql: Sequence[str]) -> Query:
    """As `library_query`, with the library that Python was built with."""

    def query(statement: str) -> Rows:
        try:
            connection = sqlite3.connect(database, isolation_level=None)
            try:
                connection.set_authorizer(_authorize)
                for text in session_sql:
                    connection.execute(text).fetchall()
                rows = connection.execute(statement).fetchall()
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise RunError(f"SQLite: {error} ({statement}).") from error
        return [[None if value is None else str(value) for value in row] for row in rows]

    return query
