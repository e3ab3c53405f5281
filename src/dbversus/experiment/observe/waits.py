"""What the threads that serve the clients wait for in the counted rows: perf's switches, put to targets and slots."""

import functools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import cast

from dbversus.errors import RunError
from dbversus.experiment.observe.functions import Functions, Recorder, Slots, libraries_of
from dbversus.experiment.observe.scene import Scene
from dbversus.experiment.rig.engine import Reply
from dbversus.profiling import wait_samples
from dbversus.profiling.folded import Folded
from dbversus.profiling.perf import Perf, Recording, find_switches
from dbversus.profiling.symbols import UNKNOWN, in_server
from dbversus.profiling.wait_samples import WaitSamples
from dbversus.profiling.waits import ON_CPU, Wait, waiting

_CLIENT = "client"
"""What the engine calls the threads of its clients; its first thread drives a client that is alone."""


class Waits(Functions):
    """Who serves a connection is known where each has a thread or a process of its own. Of others nothing is recorded: what a
    thread does besides, or waits for without any client, costs no operation."""

    part = "waits."

    _refused = False

    @classmethod
    def is_wanted(cls, scene: Scene) -> bool:
        return scene.rig.spec.waits

    def begin(self) -> None:
        if perf := _switches_here():
            self._use(perf)
        else:
            self._event = wait_samples.EVENT

    def _record(self, tasks: Sequence[int], file: Path) -> Recorder:
        return super()._record(tasks, file) if self._perf else WaitSamples(tasks)

    def _owners(self) -> dict[int, str]:
        for target in self.scene.rig.alive:
            if target.server.root_pid is not None and not self.scene.rig.serving.get(target.name):
                self.scene.rig.remark("which of its threads serve clients is unknown, so no waits are recorded", target)
        return {thread: name for name, threads in self.scene.rig.serving.items() for thread in threads}

    def _of_engine(self, pid: int) -> list[int]:
        return list(_client_threads(pid)) or [pid]

    def _is_of(self, task: int, name: str) -> bool:
        return super()._is_of(task, name) if task in self._engine_tasks else self._owner.get(task) == name

    def _of_slot_ns(self, slot: Reply) -> int:
        """Of all clients together."""
        clients: int = self.scene.case.connections(self.scene.rig.spec.tables)
        return clients * int(slot["elapsed_ns"])

    def _take(self, recording: Recorder, slots: Slots) -> None:
        try:
            lengths = self._lengths(cast(Recording | WaitSamples, recording).waits(), slots)
        except RunError as error:  # the kernel tells nothing, and the rest of the campaign can be measured all the same
            self._refused = True
            self.scene.rig.remark(str(error))
            return
        for name, of_target in lengths.items():
            self._sampled.folded[name].update(of_target.by_stack())
            self._sampled.counts[name] += of_target.sampled

    def _lengths(self, waits: Iterable[Wait], slots: Slots) -> "dict[str, Lengths]":
        libraries = libraries_of(self.scene)
        lengths: defaultdict[str, Lengths] = defaultdict(Lengths)
        for wait in waits:
            for name, length_ns in slots.during(wait.began_ns, wait.ended_ns):
                if length_ns and self._is_of(wait.thread, name):
                    lengths[name].add(wait, length_ns, libraries.get(name))
        return lengths

    def end(self) -> None:
        """What is left of the time is that on a CPU, of which each operation has a part."""
        for name in self._known():
            folded = self._sampled.folded[name]
            folded[(ON_CPU,)] = max(self._counted_ns[name] - folded.total(), 0)
            self._sampled.counts[name] += self._ops[name]
        super().end()

    def _known(self) -> set[str]:
        """Targets of which it is known who serves the clients."""
        if self._refused:
            return set()
        embedded = {target.name for target in self.scene.rig.alive if target.server.root_pid is None}
        return (embedded | set(self._owner.values())) & set(self._ops)


class Lengths:
    """How long a target's threads wait, in all and by stack. Of most waits the length alone is known; what sampled ones of about
    that length are for is taken for them."""

    def __init__(self) -> None:
        self.sampled = 0
        self._whole_ns: Counter[int] = Counter()
        self._told_ns: defaultdict[int, Folded] = defaultdict(Counter)

    def add(self, wait: Wait, length_ns: int, library: str | None) -> None:
        about = length_ns.bit_length()
        self._whole_ns[about] += length_ns
        if wait.stack:
            stack = in_server(wait.stack, library) if library else wait.stack
            self._told_ns[about][waiting(stack, preempted=wait.preempted)] += length_ns
            self.sampled += 1

    def by_stack(self) -> Folded:
        found: Folded = Counter()
        for about, whole_ns in self._whole_ns.items():
            told_ns = (
                self._told_ns[min(self._told_ns, key=lambda one: abs(one - about))]
                if self._told_ns
                else {(UNKNOWN,): 1}
            )
            part = whole_ns / sum(told_ns.values())
            found.update({stack: round(part * length_ns) for stack, length_ns in told_ns.items()})
        return found


def _client_threads(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # it has ended
            if (task / "comm").read_text(encoding="ascii", errors="replace").strip() == _CLIENT:
                yield int(task.name)


@functools.cache
def _switches_here() -> Perf | None:
    return find_switches()
