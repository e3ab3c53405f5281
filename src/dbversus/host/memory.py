"""How much memory a process tree holds, shared pages counted once."""

import contextlib
import re
from dataclasses import dataclass

from dbversus.host.processes import PROC, descendants

_KILOBYTE = 1024
# written to clear_refs it sets VmHWM back to what is resident now (proc(5), since Linux 4.0)
_RESET_PEAK = "5"


@dataclass(frozen=True)
class MemoryUse:
    """Bytes, over all processes of a tree.

    `pss_bytes`: resident memory, each shared page divided by the number of processes that map it (/proc/PID/smaps_rollup;
    None where the kernel does not tell us). `rss_bytes`: resident, shared pages counted in every process. `peak_rss_bytes`:
    the most that was ever resident in the one process that had most, since `reset_peak` or its start (VmHWM).
    """

    processes: int
    pss_bytes: int | None
    rss_bytes: int
    peak_rss_bytes: int


def memory_use(root_pid: int) -> MemoryUse | None:
    """Of the process and all below it; None when it is gone. Processes that end meanwhile are passed over."""
    pids = [root_pid, *descendants(root_pid)]
    statuses = {pid: text for pid in pids if (text := _read(pid, "status")) and "VmRSS:" in text}
    if root_pid not in statuses:
        return None
    shares = [_bytes(_read(pid, "smaps_rollup"), "Pss") for pid in statuses]
    known = [share for share in shares if share is not None]
    return MemoryUse(
        processes=len(statuses),
        pss_bytes=sum(known) if len(known) == len(shares) else None,
        rss_bytes=sum(_bytes(text, "VmRSS") or 0 for text in statuses.values()),
        peak_rss_bytes=max(_bytes(text, "VmHWM") or 0 for text in statuses.values()),
    )


def reset_peak(root_pid: int) -> None:
    """Sets the peaks of a tree back to what is resident now; where that is not allowed, they go on counting from the start."""
    for pid in (root_pid, *descendants(root_pid)):
        with contextlib.suppress(OSError):
            (PROC / str(pid) / "clear_refs").write_text(_RESET_PEAK, encoding="utf-8")


def _read(pid: int, name: str) -> str:
    """A file of a process; "" when it is gone or not ours to look at."""
    try:
        return (PROC / str(pid) / name).read_text(errors="replace", encoding="utf-8")
    except OSError:
        return ""


def _bytes(text: str, field: str) -> int | None:
    match = re.search(rf"^{field}:\s+(\d+) kB", text, re.M)
    return int(match[1]) * _KILOBYTE if match else None
