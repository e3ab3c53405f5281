"""Paying the background work that a server of the MySQL family owes; what that is, its storage engine knows."""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from dbversus.dbms.flavour import Flavour, reset_binlog_statement
from dbversus.servers.mysql.query import Connection, identifier, rows, variables
from dbversus.servers.process.timing import timed

SETTLE_LIMIT_S = 600.0
_POLL_S = 0.1
# Servers dirty a page now and then on their own: one look that finds nothing could be luck.
_LOOKS_IN_A_ROW = 3


@dataclass(frozen=True)
class StorageEngine:
    """`name` as in CREATE TABLE. `debt`: unpaid work by name; `paying`: everything is done to pay it while it is open."""

    name: str
    debt: Callable[[Connection], dict[str, int]]
    paying: Callable[[Connection], AbstractContextManager[None]]


def settle(
    connection: Connection,
    flavour: Flavour,
    engine: StorageEngine,
    tables: Sequence[str],
    limit_s: float = SETTLE_LIMIT_S,
) -> dict[str, float]:
    """Removes binary logs, analyzes the tables, and waits until nothing is owed, or `limit_s` is over.

    Returns seconds by step, and what `remains.<name>`, if anything does.
    """
    spent = {"binlog_s": timed(lambda: _reset_binlog(connection, flavour))}
    spent["analyze_s"] = timed(lambda: _analyze(connection, tables))
    began = time.monotonic()
    owed = pay(connection, engine, limit_s)
    spent["pay_s"] = time.monotonic() - began
    return spent | {f"remains.{name}": float(count) for name, count in owed.items() if count}


def pay(connection: Connection, engine: StorageEngine, limit_s: float) -> dict[str, int]:
    """Waits until nothing is owed, or `limit_s` is over, while the server does all it can; returns what is owed then."""
    deadline = time.monotonic() + limit_s
    with engine.paying(connection):
        return _await_zero(lambda: engine.debt(connection), deadline)


def _analyze(connection: Connection, tables: Sequence[str]) -> None:
    for table in tables:
        rows(connection, f"ANALYZE NO_WRITE_TO_BINLOG TABLE {identifier(table)}")


def _reset_binlog(connection: Connection, flavour: Flavour) -> None:
    """Before each read phase, as in the reference method: old logs fill the disk, and writing them back disturbs."""
    if variables(connection, "log_bin").get("log_bin") == "ON":
        rows(connection, reset_binlog_statement(flavour))


def _await_zero(look: Callable[[], dict[str, int]], deadline: float) -> dict[str, int]:
    in_a_row = 0
    while True:
        owed = look()
        in_a_row = 0 if any(owed.values()) else in_a_row + 1
        if in_a_row == _LOOKS_IN_A_ROW or time.monotonic() > deadline:
            return owed
        time.sleep(_POLL_S)


@contextlib.contextmanager
def changed_settings(connection: Connection, wanted: Mapping[str, str]) -> Iterator[None]:
    """Global settings for a while, in the order given, and taken back in the opposite one; unknown ones are left out."""
    known = variables(connection)
    before = {name: known[name] for name in wanted if name in known}
    try:
        for name in before:
            rows(connection, f"SET GLOBAL {name} = {wanted[name]}")
        yield
    finally:
        for name in reversed(before):
            rows(connection, f"SET GLOBAL {name} = {before[name]}")
