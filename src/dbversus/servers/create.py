"""The server for a build."""

from collections.abc import Sequence
from pathlib import Path

from dbversus.builds.model import Build
from dbversus.dbms.flavour import MYSQL_FAMILY
from dbversus.errors import UsageError
from dbversus.host.claims.registry import Watcher
from dbversus.servers.base import Server, ServerConfig
from dbversus.servers.mysql.server import MysqlServer
from dbversus.servers.null import NullServer
from dbversus.servers.postgres.server import PostgresServer
from dbversus.servers.sqlite.server import SqliteServer

DBMS = ("postgres", *MYSQL_FAMILY, "sqlite", "null")


def create_server(build: Build, config: ServerConfig, work_dir: Path, watchers: Sequence[Watcher] = ()) -> Server:
    """A server object on `work_dir` (its data in `work_dir/data`); nothing is started or written yet.

    Raises UsageError for a DBMS that cannot be run.
    """
    match build.dbms:
        case "postgres":
            return PostgresServer(build, config, work_dir, watchers)
        case "mysql" | "mariadb" | "myrocks":
            return MysqlServer(build, config, work_dir, watchers)
        case "sqlite":
            return SqliteServer(build, config, work_dir)
        case "null":
            return NullServer(build, config, work_dir)
    raise UsageError(f"DBMS '{build.dbms}' cannot be run; accepted: {', '.join(DBMS)}.")
