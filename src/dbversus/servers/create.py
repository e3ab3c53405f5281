"""The server for a build."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from dbversus.builds.model import Build
from dbversus.dbms.known import find_dbms
from dbversus.dbms.model import Family
from dbversus.host.claims.registry import Watcher
from dbversus.servers.base import Server, ServerConfig
from dbversus.servers.mysql.server import MysqlServer
from dbversus.servers.null import NullServer
from dbversus.servers.postgres.server import PostgresServer
from dbversus.servers.sqlite.server import SqliteServer

_SERVERS: Mapping[Family, Callable[[Build, ServerConfig, Path, Sequence[Watcher]], Server]] = {
    Family.POSTGRES: PostgresServer,
    Family.MYSQL: MysqlServer,
    Family.SQLITE: lambda build, config, work_dir, _: SqliteServer(build, config, work_dir),
    Family.NULL: lambda build, config, work_dir, _: NullServer(build, config, work_dir),
}


def create_server(build: Build, config: ServerConfig, work_dir: Path, watchers: Sequence[Watcher] = ()) -> Server:
    """A server object on `work_dir` (its data in `work_dir/data`); nothing is started or written yet."""
    return _SERVERS[find_dbms(build.dbms).family](build, config, work_dir, watchers)
