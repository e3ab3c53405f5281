"""The limit of memory of a control group, and how often the kernel ended a process for want of it.

What the page cache holds of files counts in the group whose process read them first, so a limit bounds that as well.
"""

import contextlib
import re
from pathlib import Path

# per version: the limit, what stands for none, the limit of swap (of memory and swap together in version 1), the count of kills
_V1 = ("memory.limit_in_bytes", "-1", "memory.memsw.limit_in_bytes", "memory.oom_control")
_V2 = ("memory.max", "max", "memory.swap.max", "memory.events")


def set_limit(directory: Path, limit_bytes: int | None) -> None:
    """Without swap, which would let a server have more. None: no limit. Raises OSError where the kernel refuses it."""
    is_v1 = (directory / _V1[0]).exists()
    limit, none, swap, _ = _V1 if is_v1 else _V2
    with contextlib.suppress(OSError):  # in version 1 the limit of both may never be below that of memory
        (directory / swap).write_text(none, encoding="utf-8")
    (directory / limit).write_text(none if limit_bytes is None else str(limit_bytes), encoding="utf-8")
    if limit_bytes is not None:
        with contextlib.suppress(OSError):  # of a kernel that does not account for swap
            (directory / swap).write_text(str(limit_bytes) if is_v1 else "0", encoding="utf-8")


def kills(directory: Path) -> int:
    """Processes of the group that the kernel ended because the group had no memory left (since Linux 4.13)."""
    for name in (_V1[3], _V2[3]):
        with contextlib.suppress(OSError):
            found = re.search(r"^oom_kill (\d+)$", (directory / name).read_text(encoding="utf-8"), re.M)
            return int(found[1]) if found else 0
    return 0


def enable(parents: tuple[Path, ...]) -> None:
    """Version 2: groups below `parents`, the topmost first, get limits of memory. Raises OSError where they cannot."""
    for parent in parents:
        switch = parent / "cgroup.subtree_control"
        if "memory" not in switch.read_text(encoding="utf-8").split():
            switch.write_text("+memory", encoding="utf-8")
