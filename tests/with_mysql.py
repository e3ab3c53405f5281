"""Runs a command with a real MySQL, MariaDB or MyRocks server at hand: `python tests/with_mysql.py cargo test mysql`.

The build is DBVERSUS_TEST_MYSQL (a target or a prefix), else Debian's MariaDB. The command finds the server in
DBVERSUS_TEST_MYSQL_{SOCKET,USER,DATABASE} and its prefix in DBVERSUS_TEST_MYSQL.
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
from dbversus.servers import create_server
from dbversus.servers.base import Placement
from dbversus.servers.config.load import load_config
from dbversus.servers.config.sizing import Sizing

DEFAULT = "mariadb:10.11"


def main() -> int:
    spec = parse_target(os.environ.get("DBVERSUS_TEST_MYSQL") or DEFAULT)
    build = obtain(spec)
    folder = Path(tempfile.mkdtemp(prefix="dbv-test-"))
    folder.chmod(0o755)
    config = load_config(build.dbms, build.version, [*spec.configs], Sizing(512 * 2**20, 2, 2))
    server = create_server(build, config, folder, [Registry()])
    try:
        server.initialise()
        server.start(Placement())
        address = server.engine_target("test", Placement())["address"]
        own = {f"DBVERSUS_TEST_MYSQL_{name.upper()}": str(value) for name, value in address.items()}
        own |= {"DBVERSUS_TEST_MYSQL": str(build.prefix)}
        return subprocess.run(sys.argv[1:], env=os.environ | own).returncode
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except DbversusError as error:
        sys.exit(
            f"No server to test with: {error}\nName a target or a prefix in DBVERSUS_TEST_MYSQL, or see docs/builds.md."
        )
