"""Whole experiments through the command line, in a home and a directory of their own."""

import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import dbversus
from dbversus.builds.store import list_installed
from dbversus.host.user import ServerUser
from dbversus.servers.process.engine import engine_binary

from ..left_out import POSTGRES_AT_HAND, build_at_hand, no_build
from ..small_host import new_folder, write_base_configs

DBVERSUS = [sys.executable, "-c", "from dbversus.cli.main import main; main()"]

EXPERIMENT = """
targets = {targets}
tests = "{tests}"
table_size = 2000
slot_ms = 10
write_slot_ms = 10
warm_up_ms = 1
rows = 6
seconds = 1
looks = {looks}
"""
# unless the experiment says otherwise
DRAIN = "drain_s = 0.3\ndrain_idle_s = 0.1\n"


def _heed_interrupts() -> None:
    """A shell starts what runs in its background with SIGINT ignored, which children inherit."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def wait_for(what: Callable[[], bool], process: subprocess.Popen[str] | None = None) -> None:
    """Where a process has to bring it about and ends before, the test fails with its words."""
    deadline = time.monotonic() + 600
    while not what():
        assert process is None or process.poll() is None or what(), (process.returncode, *process.communicate())
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


@dataclass
class Bench:
    """A place where experiments run. `home` is DBVERSUS_HOME. `dbversus`: how it is started; `user`: who we are for it."""

    folder: Path
    home: Path
    dbversus: list[str] = field(default_factory=lambda: DBVERSUS)
    user: dict[str, str] = field(default_factory=dict)
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def out(self) -> Path:
        return self.folder / "out"

    def write(self, targets: list[str], tests: str, more: str = "", looks: tuple[int, ...] = (2, 3)) -> Path:
        path = self.folder / "experiment.toml"
        choices = EXPERIMENT.format(targets=json.dumps(targets), tests=tests, looks=list(looks))
        path.write_text(choices + ("" if "drain_s" in more else DRAIN) + more)
        return path

    def command(self, *words: str | Path) -> list[str]:
        return [*self.dbversus, *map(str, words)]

    def run(self, *words: str | Path, status: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(self.command(*words), capture_output=True, text=True, env=self.env, cwd=self.folder)
        assert done.returncode == status, f"status {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def start(self, *words: str | Path) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            self.command(*words),
            stdout=pipe,
            stderr=pipe,
            text=True,
            env=self.env,
            cwd=self.folder,
            preexec_fn=_heed_interrupts,
        )
        self.started.append(process)
        return process

    def end_all(self) -> None:
        """Also those that a failed test has left, running or stopped."""
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.wait()

    @property
    def env(self) -> dict[str, str]:
        return os.environ | self.places | self.user | {"COLUMNS": "160"}

    @property
    def places(self) -> dict[str, str]:
        """With a lock of its own too: several run at a time, and what they measure does not matter."""
        return {"DBVERSUS_HOME": str(self.home), "DBVERSUS_HOST_LOCK": str(self.home / "host.lock")}

    def records(self, kind: str) -> list[dict[str, Any]]:
        lines = (self.out / "journal.jsonl").read_text().splitlines()
        return [record for record in map(json.loads, lines) if record["type"] == kind]

    def survivors(self) -> list[str]:
        """Processes that work in our home: servers of experiments that should be gone."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                where = os.readlink(process / "cwd")  # noqa: PTH115
                if where.startswith(str(self.home)):
                    found.append((process / "cmdline").read_text().replace("\0", " "))
            except OSError:
                continue
        return found


@pytest.fixture
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    """In memory, except for tests marked `on_disk`."""
    engine_binary()
    folder = new_folder("dbv-e2e-", on_disk=request.node.get_closest_marker("on_disk") is not None)
    (folder / "home").mkdir(mode=0o755)
    write_base_configs(folder)
    bench = Bench(folder, folder / "home")
    yield bench
    bench.end_all()
    shutil.rmtree(folder, ignore_errors=True)


def give_to(bench: Bench, name: str) -> None:
    """From here on, this user runs dbversus there, without any of root's rights. Skips where that user has no Python."""
    found = pwd.getpwnam(name)
    user = ServerUser(name, found.pw_uid, found.pw_gid, switch=True)
    places = [Path(sys.executable).resolve(), *(Path(folder, "python3") for folder in os.defpath.split(":"))]
    python = next((path for path in places if path.is_file() and user.may_reach(path) and _is_like_ours(path)), None)
    if python is None:
        pytest.skip(f"user {name} can reach no Python {sys.version_info.major}.{sys.version_info.minor}")
    if not user.may_reach(Path(dbversus.__file__)):
        pytest.skip(f"user {name} cannot reach this clone, {Path(dbversus.__file__).parent}")
    rights = [f"--reuid={user.uid}", f"--regid={user.gid}", "--clear-groups", "--no-new-privs", "--inh-caps=-all"]
    bench.dbversus = ["setpriv", *rights, str(python), *DBVERSUS[1:]]
    bench.user = {"HOME": str(bench.folder), "PYTHONPATH": ":".join(filter(None, sys.path))}
    for path in (bench.folder, bench.home):
        user.give(path)


def _is_like_ours(python: Path) -> bool:
    """Whether it takes our packages, compiled ones too."""
    said = subprocess.run([python, "-c", "import sys; print(sys.version_info[:2])"], capture_output=True, text=True)
    return said.stdout.strip() == str(sys.version_info[:2])


@pytest.fixture(scope="session")
def postgres() -> str:
    """A target with real PostgreSQL binaries."""
    named = os.environ.get("DBVERSUS_TEST_POSTGRES")
    prefixes = [Path(named)] if named else sorted(Path("/usr/lib/postgresql").glob("*"), reverse=True)
    for prefix in prefixes:
        if (prefix / "bin/initdb").exists():
            return f"postgres:{prefix}"
    return no_build(f"there is no PostgreSQL; {POSTGRES_AT_HAND}")


@pytest.fixture(scope="session")
def of_mysqls_family() -> list[str]:
    """MariaDB, which a package brings, and MySQL where it is installed."""
    there = [build.version for build in list_installed("mysql") if build.version.startswith(("8.", "9."))]
    wanted = ["mariadb:10.11", *(f"mysql:{version}" for version in there[:1])]
    for target in wanted:
        build_at_hand(target)
    return wanted
