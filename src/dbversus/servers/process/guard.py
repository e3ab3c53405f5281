"""A small process that outlives us and ends our servers when we are gone, frozen ones too (docs/engine-protocol.md)."""

import contextlib
import json
import os
import subprocess
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from dbversus.host.claims.registry import Entry


class Guard:
    """A watcher of servers (`host.registry.Watcher`). Without a binary, or when it died, it does nothing, as `note` says.

    It ends the servers it knows of as soon as the pipe to it closes, which the kernel does when we die.
    """

    def __init__(self, engine_binary: Path | None):
        self.note = ""
        self._known: set[int] = set()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        if engine_binary is None:
            self.note = "there is no guard: a frozen server of a killed run is ended at the next start only"
            return
        try:
            self._process = subprocess.Popen(
                [str(engine_binary), "guard"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                start_new_session=True,  # Ctrl-C is not for it
            )
        except OSError as error:
            self.note = f"the guard cannot be started: {error.strerror}"

    def add(self, entry: Entry) -> None:
        with self._lock:
            lines: list[dict[str, Any]] = [{"release": entry.root_pid}] if entry.root_pid in self._known else []
            lines.append({"cgroup_dirs": entry.cgroup_dirs, "root_pid": entry.root_pid, "paths": entry.paths})
            self._known.add(entry.root_pid)
            self._send(lines)

    def announce(self) -> None:
        """In the child, which holds the pipe open until it is the server: the guard learns of it, whenever we die."""
        if self._process and self._process.stdin:
            with contextlib.suppress(OSError):
                os.write(self._process.stdin.fileno(), json.dumps({"root_pid": os.getpid()}).encode() + b"\n")

    def forget(self, root_pid: int) -> None:
        with self._lock:
            if root_pid in self._known:
                self._known.discard(root_pid)
                self._send([{"release": root_pid}])

    def _send(self, lines: list[dict[str, Any]]) -> None:
        if self._process is None or self._process.stdin is None:
            return
        try:
            self._process.stdin.write(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
            self._process.stdin.flush()
        except OSError:
            self.note = f"the guard (pid {self._process.pid}) has ended"
            self._process.wait()
            self._process = None

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def close(self) -> None:
        """Lets the guard go; what it still knows of, it ends."""
        if self._process is None:
            return
        if self._process.stdin:
            self._process.stdin.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
