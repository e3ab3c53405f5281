"""Waiting for a quiet host before a block, as `--wait-quiet` and `--require-quiet` ask."""

import time

from dbversus.errors import RunError
from dbversus.experiment.rig.rig import Rig
from dbversus.host.others import OtherWork, look
from dbversus.results.records import Wait
from dbversus.stats.validity.disturbance import Limits
from dbversus.units import show_cores, show_duration

WINDOW_S = 1.0
SHORTEST_WINDOW_S = 0.2
"""CPU time is counted in ticks of 10 ms."""

QUIET_WINDOWS = 2
"""So many in a row, once there was other work: one alone may be a pause in it."""


class NotQuiet(RunError):
    """Other work goes on, and the experiment is to be measured on a quiet host only; `resume` goes on with it."""


def wait_for_quiet(rig: Rig, block: int) -> None:
    """Waits until other work has ended, as long as was asked for at most, and journals that.

    Raises NotQuiet when it has not ended and a quiet host is required.
    """
    if not (rig.spec.wait_quiet_s or rig.spec.require_quiet):
        return
    began_s = time.monotonic()
    work = look(WINDOW_S, rig.cpus.foreground_cpus)
    if not (said := too_much(work, rig.limits)):
        return
    end_s, quiet_windows = began_s + (rig.spec.wait_quiet_s or 0), 0
    while quiet_windows < QUIET_WINDOWS and (left_s := end_s - time.monotonic()) >= SHORTEST_WINDOW_S:
        rig.display.doing(f"waiting for a quiet host: {said}, {show_duration(left_s)} left")
        work = look(min(WINDOW_S, left_s), rig.cpus.foreground_cpus)
        words = too_much(work, rig.limits)
        said, quiet_windows = words or said, 0 if words else quiet_windows + 1
    _conclude(rig, block, time.monotonic() - began_s, work)


def _conclude(rig: Rig, block: int, waited_s: float, work: OtherWork) -> None:
    """`work`: what went on at last."""
    words = too_much(work, rig.limits)
    rig.note(Wait(block, waited_s, not words, work.foreign_cores, work.stolen_cores))
    if not words:
        return
    waited = f" after {show_duration(rig.spec.wait_quiet_s)}" if rig.spec.wait_quiet_s else ""
    busy = f"the host is not quiet{waited}: {words}"
    if rig.spec.require_quiet:
        raise NotQuiet(f"Block {block + 1} was not begun, since {busy}.")
    rig.display.say(f"block {block + 1} begins though {busy}")


def too_much(work: OtherWork, limits: Limits) -> str:
    """What disturbs, and how much of it; empty: nothing."""
    if work.foreign_cores > limits.foreign_cpu:
        return f"other processes use {show_cores(work.foreign_cores)}"
    if work.stolen_cores > limits.steal:
        return f"the hypervisor takes {show_cores(work.stolen_cores)}"
    return ""
