"""Makes things go wrong in an experiment that runs."""

import os
import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

from .clock import JumpingClock
from .controller import Controller, backends
from .disk import SmallDisk
from .plan import Fault, Kind

JUMP_S = 3600


@dataclass(frozen=True)
class Injection:
    """A fault that had taken place by `at_unix_ns`. `victim`: name of the target that lost a process (t0, t1).

    `began_unix_ns`: when it had not yet. On a busy host whoever kills may be put aside before he has looked at the clock.
    """

    fault: Fault
    at_unix_ns: int
    victim: str | None = None
    began_unix_ns: int | None = None

    @property
    def kind(self) -> Kind:
        return self.fault.kind


@dataclass(frozen=True)
class Tools:
    """What faults are made with: those of an experiment that needs none are None."""

    disk: SmallDisk | None
    clock: JumpingClock | None
    chance: random.Random


def inject(fault: Fault, controller: Controller, tools: Tools) -> Injection | None:
    """Lets a fault happen, for its whole time where it lasts; None when there was nothing that it could hit."""
    at_unix_ns = time.time_ns()
    try:
        hit = _WAYS[fault.kind](fault, controller, tools)
    except ProcessLookupError:  # gone between being found and being hit
        return None
    if hit is None:
        return None
    return Injection(fault, hit.at_unix_ns or at_unix_ns, hit.victim, hit.began_unix_ns or at_unix_ns)


@dataclass(frozen=True)
class _Hit:
    """Of a kill, `at_unix_ns` is once it was sent, and `began_unix_ns` just before: on a busy host, finding whom to kill takes as
    long as several rows."""

    victim: str | None = None
    at_unix_ns: int | None = None
    began_unix_ns: int | None = None


def _kill_engine(fault: Fault, controller: Controller, tools: Tools) -> _Hit | None:
    return _kill_one(controller.engines(), tools)


def _kill_server(fault: Fault, controller: Controller, tools: Tools) -> _Hit | None:
    name, root = _any_server(controller, tools)
    return _kill_one([root], tools, name) if root else None


def _kill_backend(fault: Fault, controller: Controller, tools: Tools) -> _Hit | None:
    name, root = _any_server(controller, tools)
    return _kill_one(backends(root), tools, name) if root else None


def _any_server(controller: Controller, tools: Tools) -> tuple[str, int]:
    """Name and root process of a server that is up; 0 when there is none."""
    return tools.chance.choice(sorted(controller.servers().items()) or [("", 0)])


def _kill_one(pids: list[int], tools: Tools, victim: str | None = None) -> _Hit | None:
    if not pids:
        return None
    pid, began_unix_ns = tools.chance.choice(pids), time.time_ns()
    os.kill(pid, signal.SIGKILL)
    return _Hit(victim, time.time_ns(), began_unix_ns)


def _signal(number: signal.Signals) -> Callable[[Fault, Controller, Tools], _Hit | None]:
    def send(fault: Fault, controller: Controller, tools: Tools) -> _Hit | None:
        if not controller.is_running():
            return None
        controller.send(number)
        return _Hit()

    return send


def _stop_controller(fault: Fault, controller: Controller, tools: Tools) -> _Hit | None:
    controller.send(signal.SIGSTOP)
    time.sleep(fault.hold_s)
    stopped = controller.is_stopped()
    controller.send(signal.SIGCONT)
    return _Hit() if stopped else None


def _fill_disk(fault: Fault, controller: Controller, tools: Tools) -> _Hit | None:
    """Full until the experiment has noticed and ended, or its time is over."""
    assert tools.disk
    tools.disk.fill()
    deadline = time.monotonic() + fault.hold_s
    while controller.is_running() and time.monotonic() < deadline:
        time.sleep(0.05)
    tools.disk.free()
    return _Hit()


def _jump_clock(fault: Fault, controller: Controller, tools: Tools) -> _Hit | None:
    assert tools.clock
    tools.clock.jump(tools.chance.choice((JUMP_S, -JUMP_S)))
    return _Hit()


_WAYS: dict[Kind, Callable[[Fault, Controller, Tools], _Hit | None]] = {
    Kind.KILL_ENGINE: _kill_engine,
    Kind.KILL_SERVER: _kill_server,
    Kind.KILL_BACKEND: _kill_backend,
    Kind.KILL_CONTROLLER: _signal(signal.SIGKILL),
    Kind.INTERRUPT: _signal(signal.SIGINT),
    Kind.TERMINATE: _signal(signal.SIGTERM),
    Kind.STOP_CONTROLLER: _stop_controller,
    Kind.FULL_RESULTS: _fill_disk,
    Kind.FULL_HOME: _fill_disk,
    Kind.CLOCK_JUMP: _jump_clock,
}
