"""Starts servers: unprivileged, in place, and gone when we are gone."""

import os
import resource
import signal
import subprocess
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from dbversus.host.processes import end_with_parent
from dbversus.host.program import Command, cannot_execute, check_allowed
from dbversus.host.user import ServerUser
from dbversus.servers.base import Placement

# MySQL gives up much of its table cache where it may open few files, and sizes arrays by a limit that is huge
_OPEN_FILES = 65_536

# The parent death signal comes when the *thread* that started the child ends: one that lasts as long as we do starts all.
_STARTER = ThreadPoolExecutor(max_workers=1, thread_name_prefix="server-starter")


def begin(
    command: Command, user: ServerUser, env: Mapping[str, str], announce: Callable[[], None]
) -> "subprocess.Popen[str]":
    """Starts a program of the build as the server user, its streams piped to us. Raises RunError when it cannot be executed.

    It outlives us, unlike a server: one that dies before those it started would leave them to nobody. Watchers end them all.
    `announce` is called in its process before it is executed.
    """
    check_allowed(command)
    try:
        return subprocess.Popen(
            [str(word) for word in command],
            env=dict(env),
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,  # Ctrl-C is for us, who then end it
            preexec_fn=partial(_become, user, announce),
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise cannot_execute(command[0], error) from error


def start(
    command: Command,
    user: ServerUser,
    env: Mapping[str, str],
    log: Path,
    placement: Placement,
    announce: Callable[[], None],
) -> "subprocess.Popen[bytes]":
    """Starts a server as our child, its output appended to `log`, in a session of its own, in its cgroup, on its CPUs.

    When we die, however we do, the kernel sends it SIGQUIT. `announce` is called in its process before it is
    executed. Raises RunError when it cannot be.
    """
    check_allowed(command)
    try:
        with log.open("ab") as output:
            return _STARTER.submit(
                subprocess.Popen,
                [str(word) for word in command],
                env=dict(env),
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                preexec_fn=_preparation(user, placement, os.getpid(), announce),
            ).result()
    except (OSError, subprocess.SubprocessError) as error:
        raise cannot_execute(command[0], error) from error


def _become(user: ServerUser, announce: Callable[[], None]) -> None:
    user.become()
    announce()  # only now: whose it is tells whose shared memory is its own


def _preparation(
    user: ServerUser, placement: Placement, controller: int, announce: Callable[[], None]
) -> Callable[[], None]:
    """What the child does before it executes the server."""

    def prepare() -> None:
        try:
            if placement.cgroup:
                placement.cgroup.add(os.getpid())
            if placement.cpus:
                os.sched_setaffinity(0, placement.cpus)
            _limit_open_files()
            _become(user, announce)
            # only now: the kernel clears it when the user changes
            end_with_parent(signal.SIGQUIT, controller)
        except OSError as error:
            os.write(2, f"cannot place the server: {error}\n".encode())
            os._exit(127)

    return prepare


def _limit_open_files() -> None:
    """The same limit for every server, whoever starts us: that of the host up to _OPEN_FILES."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    most = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
