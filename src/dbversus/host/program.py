"""Programs of builds: executed as the servers' user in a small environment, and only where that is allowed."""

import contextlib
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path

from dbversus.errors import RunError
from dbversus.host.user import ServerUser

Command = Sequence[str | Path]
Done = subprocess.CompletedProcess[str]

_FORBIDDEN: ContextVar[bool] = ContextVar("nothing of builds is executed", default=False)


class NotExecuted(RunError):
    """A program or library of a build that would have been executed where nobody has allowed that."""


@contextlib.contextmanager
def nothing_executed() -> Iterator[None]:
    """Whatever would execute a program or library of a build meanwhile raises NotExecuted instead."""
    token = _FORBIDDEN.set(True)
    try:
        yield
    finally:
        _FORBIDDEN.reset(token)


def check_allowed(command: Command) -> None:
    if _FORBIDDEN.get():
        raise NotExecuted(f"{command[0]} is not executed before you have allowed that (--trust).")


def environment(*parts: Mapping[str, str]) -> dict[str, str]:
    """A small, fixed environment, so that a server does not depend on who starts it; later parts win."""
    fixed = {"PATH": os.environ.get("PATH", os.defpath), "LANG": "C", "LC_ALL": "C", "TZ": "UTC", "HOME": "/"}
    for part in parts:
        fixed |= part
    return fixed


def run(command: Command, user: ServerUser, env: Mapping[str, str], limit_s: float = 120) -> Done:
    """Runs a program of the build to its end, as the server user.

    Raises RunError when it cannot be executed at all, or does not end within the limit.
    """
    check_allowed(command)
    try:
        return subprocess.run(
            [str(word) for word in command],
            env=dict(env),
            cwd="/",  # one that the server user can enter
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=limit_s,
            preexec_fn=user.become,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise cannot_execute(command[0], error) from error


def cannot_execute(program: str | Path, error: Exception) -> RunError:
    return RunError(
        f"{program} cannot be executed: {getattr(error, 'strerror', None) or error}{_architecture(Path(program))}."
    )


_MACHINES = {
    0x03: "i386",
    0x28: "arm",
    0x3E: "x86_64",
    0xB7: "aarch64",
    0x15: "ppc64le",
    0x16: "s390x",
    0xF3: "riscv64",
}


def _architecture(program: Path) -> str:
    """` (built for aarch64, this host is x86_64)` when the program is for another machine, from its ELF header."""
    try:
        with program.open("rb") as file:
            head = file.read(20)
    except OSError:
        return ""
    if head[:4] != b"\x7fELF" or len(head) < 20:
        return ""
    built = _MACHINES.get(int.from_bytes(head[18:20], "little" if head[5] == 1 else "big"), "another machine")
    here = os.uname().machine
    return "" if built == here else f" (built for {built}, this host is {here})"
