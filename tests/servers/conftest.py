"""Real PostgreSQL servers for the tests, from DBVERSUS_TEST_POSTGRES (a prefix) or Debian's packages."""

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from dbversus.builds.model import Build
from dbversus.dbms.versions import numbers
from dbversus.servers.base import Placement, ServerConfig
from dbversus.servers.config.load import load_config
from dbversus.servers.config.sizing import Sizing
from dbversus.servers.data.snapshot import copy_tree
from dbversus.servers.postgres.server import PostgresServer

from ..left_out import POSTGRES_AT_HAND, no_build
from ..tables import sbtest

# in memory where that can be had: copying data directories is most of what these tests do
PLACE = "/dev/shm" if os.access("/dev/shm", os.W_OK) else "/tmp"
SIZING = Sizing(memory_bytes=512 * 2**20, targets=2, cpus=2)


def _prefixes() -> list[Path]:
    named = os.environ.get("DBVERSUS_TEST_POSTGRES")
    return [Path(named)] if named else sorted(Path("/usr/lib/postgresql").glob("*"), reverse=True)


@pytest.fixture(scope="session")
def postgres_build() -> Build:
    for prefix in _prefixes():
        if (prefix / "bin/initdb").exists():
            said = subprocess.run(
                [prefix / "bin/postgres", "--version"], capture_output=True, text=True, check=True
            ).stdout
            version = re.search(r"\d+(\.\d+)?\w*", said)
            return Build("postgres", version[0] if version else "0", "path", prefix, "test")
    return no_build(f"there is no PostgreSQL; {POSTGRES_AT_HAND}")


@pytest.fixture(scope="session")
def postgres_config(postgres_build: Build) -> ServerConfig:
    small_logs = ["init.wal_segsize=1"] if numbers(postgres_build.version) >= (11,) else []
    return load_config("postgres", postgres_build.version, ["fsync_off", *small_logs], SIZING)


@contextlib.contextmanager
def _public_dir() -> Iterator[Path]:
    """A directory with a short name that any user can enter, unlike pytest's own."""
    path = Path(tempfile.mkdtemp(prefix="dbv-test-", dir=PLACE))
    path.chmod(0o755)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def work_dir() -> Iterator[Path]:
    with _public_dir() as path:
        yield path


@pytest.fixture(scope="session")
def loading_dir() -> Iterator[Path]:
    """For data that is loaded once."""
    with _public_dir() as path:
        yield path


@pytest.fixture(scope="session")
def loaded_data(postgres_build: Build, postgres_config: ServerConfig, loading_dir: Path) -> Iterator[Path]:
    """The data directory of a stopped server with 2000 rows in sbtest1, not vacuumed."""
    server = PostgresServer(postgres_build, postgres_config, loading_dir / "postgres")
    server.work_dir.mkdir()
    try:
        server.initialise()
        server.start(Placement())
        create, after = server.table_sql(sbtest())
        with server.connect() as connection:
            for statement in create:
                connection.execute(statement)
            rows = "SELECT i, i % 100, 'c', 'pad' FROM generate_series(1, 2000) i"
            connection.execute(f"INSERT INTO sbtest1 (id, k, c, pad) {rows}")
            for statement in after:
                connection.execute(statement)
        server.stop()
        yield server.data_dir
    finally:
        server.kill()


@pytest.fixture
def server(
    postgres_build: Build, postgres_config: ServerConfig, loaded_data: Path, work_dir: Path
) -> Iterator[PostgresServer]:
    """A stopped server on a copy of the loaded data."""
    copy_tree(loaded_data, work_dir / "data")
    made = PostgresServer(postgres_build, postgres_config, work_dir)
    yield made
    made.kill()
