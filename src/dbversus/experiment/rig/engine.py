"""Talks to the engine: JSON lines to its standard input, JSON lines from its standard output (docs/engine-protocol.md)."""

import contextlib
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from dbversus.errors import RunError
from dbversus.home import home_dir
from dbversus.host.user import ServerUser
from dbversus.servers.process.engine import engine_binary, engine_command, engine_environment

Reply = dict[str, Any]

PROTOCOL = 1


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


class Engine:
    """One running engine. Use as a context manager; every method raises EngineGone when the process has ended.

    `user`: whose rights it has, and no others, where those are not ours (None: it has ours). `data`: the folder with staged
    data files; that of the home unless one is named.
    """

    def __init__(
        self,
        cpus: tuple[int, ...] = (),
        log: Path | None = None,
        user: ServerUser | None = None,
        data: Path | None = None,
    ):
        self.user = user if user and user.switch else None
        self.data = data or home_dir() / "data"
        stderr = log.open("ab") if log else subprocess.DEVNULL
        try:
            # its own rig: Ctrl-C is the controller's to handle, in order
            self._process = subprocess.Popen(
                engine_command(self.user),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                start_new_session=True,
                cwd="/",
                env=engine_environment(self.data),
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
