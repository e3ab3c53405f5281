"""The server for a build."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from dbversus.builds.model import Build
from dbversus.dbms.known import find_dbms
from dbversus.dbms.model import Family
from dbversus.errors import UsageError
from dbversus.host.claims.registry import Watcher
from dbversus.servers.base import Server, ServerConfig
from dbversus.servers.config.load import Complete, load_config
from dbversus.servers.config.refused import Refused, SettingsRefusedError, meant
from dbversus.servers.config.sizing import Sizing
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


def refused_of(build: Build, text: str) -> Sequence[Refused]:
    """What a build refuses of a config file, all at once; nothing is started."""
    with tempfile.TemporaryDirectory(prefix="dbversus-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # the servers' user reads it
        file = folder / build.dbms / "theirs.conf"
        file.parent.mkdir()
        file.write_text(f"[without base]\n{text}", encoding="utf-8")
        sizing = Sizing(memory_bytes=2**60)  # whether this host has so much is asked when it is used
        config = load_config(build.dbms, build.version, ["theirs"], sizing, Complete(folder))
        try:
            create_server(build, config, folder).check()
        except SettingsRefusedError as error:
            return error.refused
        except UsageError as error:
            return [Refused(meant(str(error), {**config.settings, **config.init_options}), str(error).rstrip("."))]
    return []
