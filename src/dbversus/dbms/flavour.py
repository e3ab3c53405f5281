"""What kind of MySQL server a build is, and which version: much of its life depends on that."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Flavour:
    """`is_mariadb`: else it is MySQL or one of its close relatives (Percona Server, Facebook's MySQL)."""

    is_mariadb: bool
    version: tuple[int, ...]

    def mysql_since(self, *version: int) -> bool:
        return not self.is_mariadb and self.version >= version

    def mysql_before(self, *version: int) -> bool:
        return not self.is_mariadb and self.version < version

    def mariadb_since(self, *version: int) -> bool:
        return self.is_mariadb and self.version >= version


def reset_binlog_statement(flavour: Flavour) -> str:
    """Removes all binary logs and begins a new one."""
    return "RESET BINARY LOGS AND GTIDS" if flavour.mysql_since(8, 4) else "RESET MASTER"


def create_user_statement(flavour: Flavour, user: str) -> str:
    """An account without password for local connections, with the plugin that all versions have where there is one."""
    with_plugin = flavour.mysql_since(5, 7, 6) and flavour.mysql_before(8, 4)
    how = " IDENTIFIED WITH mysql_native_password BY ''" if with_plugin else ""
    return f"CREATE USER '{user}'@'localhost'{how}"


NOT_EXPLAINED = "(the server does not explain this statement)"
"""Stands for the plan of one that changes rows before MySQL 5.6.3 and MariaDB 10.0.5."""


def explain_formats(flavour: Flavour) -> tuple[str, ...]:
    """Formats of EXPLAIN that tell more than the table does, the one to be preferred first."""
    if flavour.mysql_since(8, 0, 16):
        return "TREE", "JSON"
    return ("JSON",) if flavour.mysql_since(5, 6, 5) or flavour.mariadb_since(10, 1, 2) else ()


def statement_limit(flavour: Flavour, seconds: float) -> str:
    """Ends queries of the session that take longer, with MariaDB all statements; empty where the version has no limit."""
    if flavour.mariadb_since(10, 1):
        return f"SET SESSION max_statement_time = {seconds:g}"
    return f"SET SESSION max_execution_time = {round(seconds * 1000)}" if flavour.mysql_since(5, 7, 8) else ""


def private_settings(flavour: Flavour) -> dict[str, str]:
    """Settings of every start that keep a server to itself."""
    found = {"skip_networking": ""}
    if flavour.mysql_since(5, 7, 6):
        found["secure_file_priv"] = "NULL"  # Debian's builds look for a directory otherwise
    if flavour.mysql_since(8, 0, 11):
        found["loose_mysqlx"] = "OFF"  # a second protocol with a socket of its own; not every build has it
    return found
