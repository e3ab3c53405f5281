"""Talks to the engine: JSON lines to its standard input, JSON lines from its standard output (docs/engine-protocol.md)."""

import contextlib
import json
import os
import platform
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from dbversus.errors import RunError
from dbversus.home import home_dir

Reply = dict[str, Any]

PROTOCOL = 1
ENGINE = "dbversus-engine"


class EngineGone(RunError):
    """The engine process ended (killed, crashed); a new one can take over."""


class EngineRefused(RunError):
    """The engine answered with an error. `kind` is one of usage, connect, server, io; `target` may be None.

    `statement`: of a table's, the one that was refused.
    """

    def __init__(self, kind: str, message: str, target: str | None, statement: str | None = None):
        super().__init__(message)
        self.kind = kind
        self.target = target
        self.statement = statement


def engine_binary() -> Path:
    """Path of the engine: what DBVERSUS_ENGINE names, in the package, in the source tree, or in PATH. Raises RunError."""
    package = Path(__file__).resolve().parents[2]
    if named := os.environ.get("DBVERSUS_ENGINE"):
        if found := _executable(Path(named)):
            return found
        raise RunError(f"DBVERSUS_ENGINE is {named}; it has to name the program {ENGINE}, or the folder that holds it.")
    source = package.parents[1] / "engine"
    for place in (package / "bin", source / "target/release"):
        if found := _executable(place):
            return found
    if in_path := shutil.which(ENGINE):
        return Path(in_path)
    raise RunError(_no_engine(source))


def _executable(place: Path) -> Path | None:
    path = place / ENGINE if place.is_dir() else place
    return path if path.is_file() and os.access(path, os.X_OK) else None


def _no_engine(source: Path) -> str:
    if (source / "Cargo.toml").is_file():
        return f"The engine of {source.parent} is not built; `make engine` builds it, or DBVERSUS_ENGINE names one."
    system, machine = platform.system().lower(), platform.machine()
    libc = "-".join(platform.libc_ver()) or "another libc"
    return (
        f"This dbversus was installed without an engine for {system}-{machine} ({libc}); accepted: a dbversus wheel for Linux on "
        "x86_64 or aarch64 with glibc 2.28 or later, or an engine built from source that DBVERSUS_ENGINE names (docs/install.md)."
    )


class Engine:
    """One running engine. Use as a context manager; every method raises EngineGone when the process has ended."""

    def __init__(self, cpus: tuple[int, ...] = (), log: Path | None = None):
        stderr = log.open("ab") if log else subprocess.DEVNULL
        try:
            # its own rig: Ctrl-C is the controller's to handle, in order
            self._process = subprocess.Popen(
                [engine_binary()],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                start_new_session=True,
                env={**os.environ, "DBVERSUS_DATA": str(home_dir() / "data")},
            )
        finally:
            if log:
                stderr.close()  # type: ignore[union-attr]
        if cpus:
            os.sched_setaffinity(self._process.pid, cpus)
        self._next_id = 0
        hello = self.call("hello")
        if hello["protocol"] != PROTOCOL:
            self.close()
            raise RunError(f"{engine_binary()} speaks protocol {hello['protocol']}, this dbversus speaks {PROTOCOL}.")

    @property
    def pid(self) -> int:
        return self._process.pid

    def call(self, command: str, **fields: Any) -> Reply:
        """Sends one command and returns its last line; progress lines are passed over."""
        return list(self.stream(command, **fields))[-1]

    def stream(self, command: str, **fields: Any) -> Iterator[Reply]:
        """Sends one command and yields every line of its answer, the last one with `done`."""
        self._next_id += 1
        self._send({"cmd": command, "id": self._next_id, **fields})
        while True:
            reply = self._receive()
            if reply.get("id") != self._next_id:
                continue  # the rest of an answer whose reader went away
            if error := reply.get("error"):
                raise EngineRefused(error["kind"], error["message"], error.get("target"), error.get("statement"))
            yield reply
            if reply.get("done"):
                return

    def _send(self, command: Reply) -> None:
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps(command).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise self._gone() from error

    def _receive(self) -> Reply:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            raise self._gone()
        reply: Reply = json.loads(line)
        return reply

    def _gone(self) -> EngineGone:
        status = self._process.wait()
        how = f"was killed by signal {-status}" if status < 0 else f"left with status {status}"
        return EngineGone(f"The engine (pid {self.pid}) {how}.")

    def close(self) -> None:
        """Ends the engine, whatever it is doing, and thereby thaws its targets; kills it when it does not leave within 10 s."""
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                with contextlib.suppress(OSError):  # the engine is gone; nothing is lost
                    pipe.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
