"""Runs a command with a real PostgreSQL server at hand: `python tests/with_postgres.py cargo test`.

The build is DBVERSUS_TEST_POSTGRES (a target or a prefix), else that of Debian's packages, else one that `pip` brings. The
command finds it in DBVERSUS_TEST_POSTGRES (prefix) and DBVERSUS_TEST_PG_{BIN,SOCKET_DIR,PORT,USER,DATABASE}.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from dbversus.builds.store import obtain
from dbversus.builds.target import parse_target
from dbversus.errors import DbversusError
from dbversus.host.claims.registry import Registry
from dbversus.servers.base import Placement
from dbversus.servers.config.load import load_config
from dbversus.servers.config.sizing import Sizing
from dbversus.servers.postgres.server import PostgresServer

FROM_PIP = "postgres:pip/16.14"


def _target() -> str:
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)
    return os.environ.get("DBVERSUS_TEST_POSTGRES") or (str(installed[0].parents[1]) if installed else FROM_PIP)


def main() -> int:
    build = obtain(parse_target(_target()))
    folder = Path(tempfile.mkdtemp(prefix="dbv-test-"))
    folder.chmod(0o755)
    config = load_config("postgres", build.version, ["fsync_off"], Sizing(512 * 2**20, 2, 2))
    server = PostgresServer(build, config, folder, [Registry()])
    try:
        server.initialise()
        server.start(Placement())
        address = server.engine_target("test", Placement())["address"]
        own = {f"DBVERSUS_TEST_PG_{name.upper()}": str(value) for name, value in address.items()}
        own |= {"DBVERSUS_TEST_POSTGRES": str(build.prefix), "DBVERSUS_TEST_PG_BIN": str(build.prefix / "bin")}
        return subprocess.run(sys.argv[1:], env=os.environ | own).returncode
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except DbversusError as error:
        sys.exit(
            f"No server to test with: {error}\nName a target or a prefix in DBVERSUS_TEST_POSTGRES, or see docs/builds.md."
        )
