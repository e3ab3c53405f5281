"""Real packages from real registries, started once as an unprivileged user."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from dbversus.builds.model import Build
from dbversus.builds.store import list_installed, obtain
from dbversus.builds.target import parse_target

pytestmark = pytest.mark.e2e


def needs(client: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(client) is None, reason=f"{client} is not here: nothing fetched through it")


@pytest.mark.parametrize(
    ("target", "version"),
    [
        pytest.param("postgres:13.1", "13.1", marks=needs("mvn")),
        pytest.param("postgres:17", "17.", marks=needs("mvn")),
        pytest.param("postgres:npm/17.10", "17.10", marks=needs("npm")),
    ],
)
def test_fetch_and_start(home: Path, target: str, version: str) -> None:
    said: list[str] = []
    build = obtain(parse_target(target), said.append)
    assert build.version.startswith(version)
    assert "gcc" in build.compiled
    assert said
    assert list_installed() == [build]
    assert query(build, home, "SELECT 6 * 7") == "42"
    assert obtain(parse_target(target)) == build


def as_nobody(data: Path) -> list[str]:
    """What to put before a command so that it runs unprivileged, which some servers insist on, and owns `data`."""
    if os.geteuid() != 0:
        return []
    os.chown(data, 65534, 65534)
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def query(build: Build, home: Path, sql: str) -> str:
    """Answer of the server in single-user mode, which needs no client."""
    data = home / "data"
    data.mkdir()
    user = as_nobody(data)
    server = [*user, str(build.prefix / "bin/postgres"), "--single", "-D", str(data), "postgres"]
    initdb = [*user, str(build.prefix / "bin/initdb"), "--no-sync", "--auth=trust", "-D", str(data)]
    subprocess.run(initdb, check=True, capture_output=True, cwd="/")
    output = subprocess.run(server, input=f"{sql}\n", check=True, capture_output=True, text=True, cwd="/").stdout
    return output.split('= "')[1].split('"')[0]


@pytest.mark.parametrize(
    ("target", "version", "options"),
    [
        pytest.param("mysql:5.6", "5.6.24", ["--bootstrap"], marks=needs("npm")),
        pytest.param("mysql:5.7", "5.7.22", ["--initialize-insecure"], marks=needs("mvn")),
        pytest.param("mariadb:10.11", "10.11.", ["--bootstrap"], marks=needs("apt-get")),
    ],
)
def test_fetch_and_initialise(home: Path, target: str, version: str, options: list[str]) -> None:
    build = obtain(parse_target(target), lambda text: None)
    assert build.version.startswith(version)
    assert list_installed() == [build]
    data = home / "data"
    data.mkdir()
    binary = next(path for path in (build.prefix / "sbin/mariadbd", build.prefix / "bin/mysqld") if path.is_file())
    messages = next(build.prefix.glob("share/**/english/errmsg.sys")).parents[1]
    folders = [f"--datadir={data}", f"--lc-messages-dir={messages}"]
    subprocess.run(
        [*as_nobody(data), str(binary), "--no-defaults", *options, *folders],
        input="CREATE DATABASE made;\n",
        text=True,
        check=True,
        capture_output=True,
        cwd="/",
        env={**os.environ, **build.environment},
    )
    assert (data / "ibdata1").is_file()
    assert (data / ("mysql" if "initialize" in options[0] else "made")).is_dir()
