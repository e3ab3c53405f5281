"""A home with one of everything that is kept in it."""

import json
import os
import subprocess
import time
from functools import cache
from pathlib import Path

from dbversus.builds import store
from dbversus.builds.manifest import manifest_of, write_manifest
from dbversus.builds.packages.inspect import inspect_build
from dbversus.servers.data import snapshot

DAY_S = 86400
KEY = {
    "dbms": "postgres",
    "build": "?",
    "tables": [{"name": "sbtest1", "rows": 1000}, {"name": "sbtest2", "rows": 1000}],
}


@cache
def dead_pid() -> int:
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def fill_home(folder: Path) -> Path:
    """Builds (fetched, unpacked, the user's own), a snapshot, a library, downloads, results, and what killed processes left."""
    home = folder / "home"
    _fetched(home / "builds/postgres/shelf-17.2")
    store.add(server(folder / "mine", "16.1"), "mine")
    _unpacked(folder)
    _snapshot(folder)
    for name, text in {
        "cache/maven/org/x.jar": "x",
        "cache/maven.lock": "",
        "libraries/libshelf2/libshelf.so.2": "x",
        "libraries/.libshelf2.lock": "",
        "calibrations/host/one.json": "{}",
        f"work/{dead_pid()}/t0/data": "x",
        f"run/{dead_pid()}.json": _record(),
        "snapshots/0123.partial/data/base": "x",
        "builds/postgres/.partial-shelf-17.3/root/x": "x",
    }.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    return home


def aged(path: Path, days: float) -> None:
    """Makes it as if `path` had been used last so many days ago."""
    then = time.time() - days * DAY_S
    for one in (path, path.with_name(f".{path.name}.used")):
        if one.exists():
            os.utime(one, (then, then))


def server(prefix: Path, version: str = "17.2") -> Path:
    """An installation whose `postgres` only knows its version."""
    binary = prefix / "bin/postgres"
    binary.parent.mkdir(parents=True)
    binary.write_text(f'#!/bin/sh\necho "postgres (PostgreSQL) {version}"\n')
    binary.chmod(0o755)
    return prefix


def _fetched(folder: Path) -> None:
    prefix = server(folder / "root")
    write_manifest(folder, manifest_of(inspect_build(prefix, "postgres"), prefix, "shelf", "17.2"))


def _unpacked(folder: Path) -> None:
    server(folder / "packed/pg", "16.3")
    archive = folder / "pg.tar.gz"
    subprocess.run(["tar", "-czf", archive, "-C", folder / "packed", "pg"], check=True)
    store.add(archive, "archived", progress=lambda _: None)


def _snapshot(folder: Path) -> None:
    KEY["build"] = store.list_installed("postgres")[-1].checksum
    data = folder / "data"
    data.mkdir()
    (data / "base").write_bytes(os.urandom(1_000_000))
    snapshot.keep(data, KEY)


def _record() -> str:
    """Of a controller that is dead, and had no server left."""
    return json.dumps({"boot": "?", "controller_pid": dead_pid(), "controller_ticks": 1, "entries": []})
