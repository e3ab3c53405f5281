"""Where the threads run that serve our clients, when the rest of their servers has other cores (placement `split`)."""

import contextlib
import os
from collections.abc import Mapping, Sequence

from dbversus.experiment.rig.forms import target_of
from dbversus.experiment.rig.rig import Rig


def pin_serving(rig: Rig, backends: Mapping[str, Sequence[int]]) -> None:
    """Moves those threads to the CPUs of the clients.

    `backends`: processes or threads by target, as the engine tells them when it has connected. A server that uses a pool of
    threads has none of its own for a connection: its threads stay together, and the results say so.
    """
    if not rig.cpus.serving_cpus:
        return
    for name, tids in backends.items():
        target = rig.by_name(target_of(name))
        if not tids and target.server.root_pid is not None:
            rig.remark("which of its threads serve clients is unknown, so they run on the cores of the others", target)
        for tid in tids:
            with contextlib.suppress(ProcessLookupError):  # that it is lost shows in the rows
                os.sched_setaffinity(tid, rig.cpus.serving_cpus)
