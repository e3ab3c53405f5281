"""Real packages from real registries, started once as an unprivileged user."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from dbversus.builds.model import Build
from dbversus.builds.store import list_installed, obtain
from dbversus.builds.target import parse_target

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]


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


def query(build: Build, home: Path, sql: str) -> str:
    """Answer of the server in single-user mode, which needs no client."""
    data = home / "data"
    data.mkdir()
    user: list[str] = []
    if os.geteuid() == 0:
        os.chown(data, 65534, 65534)
        user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    server = [*user, str(build.prefix / "bin/postgres"), "--single", "-D", str(data), "postgres"]
    initdb = [*user, str(build.prefix / "bin/initdb"), "--no-sync", "--auth=trust", "-D", str(data)]
    subprocess.run(initdb, check=True, capture_output=True, cwd="/")
    output = subprocess.run(server, input=f"{sql}\n", check=True, capture_output=True, text=True, cwd="/").stdout
    return output.split('= "')[1].split('"')[0]
