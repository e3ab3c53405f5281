"""The record of a profile: where the CPU time of servers went in the rows of a test."""

from dbversus.results.records.base import OfTest, Part


class ProfiledTarget(Part, frozen=True, kw_only=True):
    """The profile of a target.

    file: its folded stacks, in the results folder
    sha256: of the file
    samples: how many there were in slots; of waits, operations are counted with them
    left_out: samples in warm-ups and between slots
    ops: operations of the slots
    cpu_ns: CPU time of the server in them; of waits, the time of all clients
    """

    file: str
    sha256: str
    samples: int
    left_out: int = 0
    ops: int
    cpu_ns: int


class Profile(OfTest, frozen=True, kw_only=True):
    """Which functions of the servers used CPU time in the rows of a test, or what operations waited for (docs/explain.md).

    event: `cycles` or `cpu-clock`, with `:u` outside the kernel alone; of waits `sched:sched_switch` or `/proc/*/syscall`
    stacks: how callers were found: `frame pointers`, `unwind tables` or `none`
    targets: by name of the target
    all_cpus: whether all CPUs were sampled, and other processes left out; else the servers' processes one by one
    """

    event: str
    stacks: str
    targets: dict[str, ProfiledTarget]
    all_cpus: bool = False
