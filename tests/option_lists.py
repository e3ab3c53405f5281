"""Writes what settings each installed server knows: `python -m tests.option_lists [postgres:17 mysql:8.0 …]`.

The lists, `src/dbversus/servers/config/options/<dbms>-<version>.txt`, are what the version ranges in configs/ are tested
against, and what tells of a refused setting which versions know it. Builds that are named are fetched where they are missing;
without names all that are installed are asked.
"""

import re
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path

from dbversus.builds.model import Build
from dbversus.builds.store import list_installed, obtain
from dbversus.builds.target import parse_target
from dbversus.dbms.known import names_of
from dbversus.dbms.model import Family
from dbversus.host.program import run
from dbversus.host.user import server_user
from dbversus.servers.base import ServerConfig
from dbversus.servers.config.option_lists import FOLDER
from dbversus.servers.mysql import files as mysql_files
from dbversus.servers.mysql.adjusted_settings import values_said
from dbversus.servers.postgres import files as postgres_files


def main() -> None:
    for build in [obtain(parse_target(text)) for text in sys.argv[1:]] or _installed():
        names = set(_postgres(build) if build.dbms == "postgres" else _mysql(build))
        if not names:  # MariaDB 10.1.8 crashes when it is asked
            print(f"{build.name} does not say", file=sys.stderr)
            continue
        FOLDER.mkdir(parents=True, exist_ok=True)
        path = FOLDER / f"{build.dbms}-{build.version}.txt"
        path.write_text("".join(f"{name}\n" for name in sorted(names)))
        print(f"{path}: {len(names)}")


def _installed() -> list[Build]:
    return [build for dbms in ("postgres", *names_of(Family.MYSQL)) for build in list_installed(dbms)]


def _postgres(build: Build) -> Collection[str]:
    environment = postgres_files.server_environment(build, ServerConfig("", {}))
    done = run([postgres_files.program(build, "postgres"), "--describe-config"], server_user(), environment)
    return {line.partition("\t")[0] for line in done.stdout.splitlines()}


def _mysql(build: Build) -> Collection[str]:
    place = mysql_files.Installation(build, server_user(), mysql_files.server_environment(build, ServerConfig("", {})))
    own = place.base_settings()
    if build.dbms == "myrocks":
        own |= mysql_files.rocksdb_settings(place, mysql_files.flavour_of(place))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "my.cnf"
        file.parent.chmod(0o755)
        mysql_files.write_config(file, mysql_files.render(own))
        done = run([place.program, f"--defaults-file={file}", "--verbose", "--help"], place.user, place.environment)
    usage = re.findall(
        r"^ +(?:-\w, )?--([a-z][a-z0-9-]+)", done.stdout, re.MULTILINE
    )  # some have no value in the table
    values = values_said(done.stdout)
    return {name.replace("-", "_") for name in [*values, *usage]} if values else set()


if __name__ == "__main__":
    main()
