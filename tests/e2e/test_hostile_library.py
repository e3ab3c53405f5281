"""A SQLite library that its user ought not to have trusted, in whole experiments that root runs."""

import ctypes.util
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from dbversus.host.user import server_user

from .conftest import Bench
from .test_private import ROW, private_experiment

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc here"),
]

# when it is loaded, and in the midst of a test, where the rights that threads have are what counts
SOURCE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
static void spy(const char *when) {
    FILE *log = fopen("%(log)s", "a");
    if (!log) return;
    syscall(SYS_setuid, 0);
    setuid(0);
    int file = open("%(precious)s", O_WRONLY | O_TRUNC);
    fprintf(log, "{\\"when\\": \\"%%s\\", \\"uid\\": %%d, \\"program\\": \\"%%s\\", \\"wrote\\": %%d, \\"secret\\": %%d}\\n",
            when, geteuid(), program_invocation_short_name, file >= 0, getenv("SPY_SECRET") != NULL);
    fclose(log);
}
__attribute__((constructor)) static void loaded(void) { spy("loaded"); }
int sqlite3_step(void *statement) {
    static int (*own)(void *);
    if (!own) {
        spy("step");
        own = (int (*)(void *))dlsym(dlopen("%(real)s", RTLD_NOW), "sqlite3_step");
    }
    return own(statement);
}
"""


@pytest.fixture
def library(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Path:
    """It does what the host's does, and more; what it got done is in the folder's `log`."""
    real = ctypes.util.find_library("sqlite3")
    if real is None:
        pytest.skip("this host has no libsqlite3")
    monkeypatch.setenv("SPY_SECRET", "token")
    log, precious = bench.folder / "log", bench.folder / "precious"
    log.touch()
    log.chmod(0o666)
    precious.write_text("root's own")
    precious.chmod(0o600)
    source = bench.folder / "evil.c"
    source.write_text(SOURCE % {"log": log, "precious": precious, "real": real})
    made = bench.folder / "libsqlite3.so"
    command: list[str | Path] = ["gcc", "-shared", "-fPIC", "-o", made, source, "-Wl,--no-as-needed", f"-l:{real}"]
    subprocess.run(command, check=True)
    return made


@pytest.fixture
def close_umask() -> Iterator[None]:
    """What is made by default is root's alone, and has to be opened to the servers' user."""
    before = os.umask(0o077)
    yield
    os.umask(before)


def _check(bench: Bench) -> None:
    said = [json.loads(line) for line in (bench.folder / "log").read_text().splitlines()]
    in_engine = {line["when"] for line in said if line["program"] == "dbversus-engine"}
    assert in_engine == {"loaded", "step"}
    assert {(line["uid"], line["wrote"], line["secret"]) for line in said} == {(server_user().uid, 0, 0)}
    assert (bench.folder / "precious").read_text() == "root's own"


def test_it_has_the_rights_of_the_servers_user_alone(bench: Bench, library: Path) -> None:
    targets = ["sqlite:bundled", f"sqlite:{library}"]
    bench.run("run", bench.write(targets, "point-query,update-index"), "--trust", "--out", bench.out)
    _check(bench)
    rows = bench.records("row")
    assert rows and not bench.records("failure")
    figures = [slot for row in rows for slot in row["slots"]]
    assert all(slot["server_cpu_ns"] and slot["server_read_call_bytes"] is not None for slot in figures)
    for path in (bench.home / "snapshots").rglob("*.sqlite"):
        assert path.stat().st_uid == server_user().uid


def test_beside_a_server_too_which_is_still_frozen_and_accounted(
    bench: Bench, library: Path, postgres: str, close_umask: None
) -> None:
    bench.run(
        "run", bench.write([postgres, f"sqlite:{library}"], "point-query,update-index"), "--trust", "--out", bench.out
    )
    _check(bench)
    assert bench.records("row") and not bench.records("failure")
    for row in bench.records("row"):
        for slot in row["slots"]:
            assert slot["server_cpu_ns"] and slot["server_read_call_bytes"] is not None


def test_private_data_reaches_it_and_nobody_else(bench: Bench, library: Path) -> None:
    """Its own run's: staged rows, scripts plain and packed."""
    experiment = private_experiment(bench)
    experiment.write_text(experiment.read_text().replace("sqlite:bundled@", f"sqlite:{library}@"))
    bench.run("run", experiment, "--trust", "--out", bench.out)
    _check(bench)
    grep = ["grep", "-rl", "--binary-files=text", ROW, str(bench.folder)]
    done = subprocess.run(grep, capture_output=True, text=True, user=54321, group=54321, extra_groups=[])
    assert not done.stdout
