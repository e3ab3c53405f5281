"""Which functions of the servers use CPU time in the counted rows: perf's samples, put to targets and slots."""

import functools
import hashlib
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol, cast

from dbversus.experiment.observe.observer import Observer
from dbversus.experiment.observe.scene import Scene
from dbversus.experiment.rig.engine import Reply
from dbversus.files import write_whole
from dbversus.host.processes import descendants, program_of
from dbversus.profiling.folded import Folded, folded_text
from dbversus.profiling.perf import Perf, Recording, Stacks, find_perf
from dbversus.profiling.script import Sample
from dbversus.profiling.symbols import KERNEL, in_server, library_name
from dbversus.results.records import Profile, ProfiledTarget
from dbversus.results.schema import PROFILES
from dbversus.results.write import safe_name

RECORDING = "recording.data"

Pieces = Mapping[str, list[tuple[int, int]]]
"""Target → when it was driven in slots: moments since 1970 and lengths, in ns."""


class Recorder(Protocol):
    """What records until it is ended."""

    def end(self) -> None: ...
    def remove(self) -> None: ...


class Functions(Observer):
    """A recording begins with the rows, and again where a server was replaced. What is between two slots is left out."""

    part = ""
    """Of the names of its files."""

    def __init__(self, scene: Scene):
        super().__init__(scene)
        self._perf: Perf | None = None
        self._event = ""
        self._stacks = Stacks.NONE
        self._recording: Recorder | None = None
        self._owner: dict[int, str] = {}
        self._engine_tasks: set[int] = set()
        self._pieces: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        self._ops: Counter[str] = Counter()
        self._counted_ns: Counter[str] = Counter()
        self._user_ns: Counter[str] = Counter()
        self._sampled = Sampled(libraries_of(scene))

    @classmethod
    def is_wanted(cls, scene: Scene) -> bool:
        return scene.rig.spec.functions

    def begin(self) -> None:
        """Raises UsageError where nothing can be recorded."""
        self._use(_perf_here())

    def _use(self, perf: Perf) -> None:
        self._perf, self._event = perf, perf.event
        self._stacks = perf.stacks_of([self._program(target.server.root_pid) for target in self.scene.rig.alive])

    def _program(self, pid: int | None) -> Path | None:
        return Path(program_of(pid)) if pid is not None else None

    def rows_begin(self) -> None:
        self._end_recording()
        rig = self.scene.rig
        self._owner = self._owners()
        is_embedded = any(target.server.root_pid is None for target in rig.alive)
        self._engine_tasks = set(self._of_engine(rig.engine.pid)) if is_embedded else set()
        tasks = [*self._owner, *sorted(self._engine_tasks)]
        if not tasks:
            return
        (rig.folder / PROFILES).mkdir(exist_ok=True)
        file = rig.folder / PROFILES / f"{self.part}{RECORDING}"
        self._recording = self._record(tasks, file)

    def _record(self, tasks: Sequence[int], file: Path) -> "Recorder":
        assert self._perf
        return Recording(self._perf, tasks, self._stacks, file)

    def _owners(self) -> dict[int, str]:
        """Process, or thread, to record → its target."""
        owners: dict[int, str] = {}
        for target in self.scene.rig.alive:
            if (pid := target.server.root_pid) is not None:
                owners |= dict.fromkeys([pid, *descendants(pid)], target.name)
        return owners

    def _of_engine(self, pid: int) -> list[int]:
        """What to record of the engine with a library in it."""
        return [pid]

    def row(self, row: Reply) -> None:
        for slot in row["slots"]:
            self._ops[slot["target"]] += slot["ops"]
            self._counted_ns[slot["target"]] += self._of_slot_ns(slot)
            self._user_ns[slot["target"]] += slot.get("server_user_ns") or 0

    def _of_slot_ns(self, slot: Reply) -> int:
        return slot.get("server_cpu_ns") or 0

    def rows_told(self, end: Reply) -> None:
        for second in end.get("series", ()):
            self._pieces[second["target"]] += [(began, length) for began, length in second["pieces"]]

    def rows_end(self) -> None:
        self._end_recording()

    def _end_recording(self) -> None:
        """Samples are read at once: the next recording takes the file."""
        recording, self._recording = self._recording, None
        if recording is None:
            return
        try:
            recording.end()
            self._take(recording, Slots(self._pieces))
        finally:
            recording.remove()
            self._pieces.clear()

    def _take(self, recording: "Recorder", slots: "Slots") -> None:
        samples = cast(Recording, recording).samples()  # as `_record` has made it
        self._sampled.take(in_slots(samples, slots, self._is_of))

    def _is_of(self, task: int, name: str) -> bool:
        """Whether what it does in a slot of that target is the target's work. The engine's is that of libraries alone; a process
        that was started since is of the target whose slot it was: the others are frozen then."""
        if task in self._engine_tasks:
            return name in self._sampled.libraries
        return self._owner.get(task, name) == name

    def end(self) -> None:
        rig, sampled = self.scene.rig, self._sampled
        found = {}
        for name, folded in sampled.folded.items():
            if not self._ops[name] or not self._counted_ns[name]:
                continue
            content = folded_text(self._with_kernel(name, folded)).encode()
            test, where = safe_name(self.scene.case.name), rig.tag.get("group", "")
            file = f"{PROFILES}/{self.part}{test}@{name}{f'.{where}' if where else ''}.{self.scene.block}.folded"
            write_whole(rig.folder / file, content, within=rig.folder)
            found[name] = ProfiledTarget(
                file=file,
                sha256=hashlib.sha256(content).hexdigest(),
                samples=sampled.counts[name],
                left_out=sampled.left_out,
                ops=self._ops[name],
                cpu_ns=self._counted_ns[name],
            )
        if found:
            all_cpus = self._perf is not None and self._perf.all_cpus
            rig.note(
                Profile(
                    *self.scene.place,
                    event=self._event,
                    stacks=str(self._stacks),
                    all_cpus=all_cpus,
                    targets=found,
                    **rig.tag,
                )
            )

    def _with_kernel(self, name: str, folded: Folded) -> Folded:
        """Where the kernel may not be seen, its part as a whole, by the CPU time that was accounted to it."""
        whole_ns, user_ns = self._counted_ns[name], self._user_ns[name]
        if not self._perf or self._perf.sees_kernel or not 0 < user_ns < whole_ns:
            return folded
        return folded + Counter({(KERNEL,): round(folded.total() * (whole_ns - user_ns) / user_ns)})


@functools.cache
def _perf_here() -> Perf:
    """Tried once: a trial takes a busy host a second or two."""
    return find_perf()


def libraries_of(scene: Scene) -> dict[str, str]:
    """Of targets without a process of their own: the library that is the server, as stacks name it."""
    embedded = (target for target in scene.rig.alive if target.server.root_pid is None)
    return {target.name: library_name(Path(target.server.build.prefix).name) for target in embedded}


class Sampled:
    """Stacks by target, as they come in. `libraries`: of a target, the one that is its server."""

    def __init__(self, libraries: Mapping[str, str] | None = None) -> None:
        self.libraries = libraries or {}
        self.folded: defaultdict[str, Folded] = defaultdict(Counter)
        self.counts: Counter[str] = Counter()
        self.left_out = 0

    def take(self, samples: Iterable[tuple[str | None, Sample]]) -> None:
        for name, sample in samples:
            if name is None:
                self.left_out += 1
            else:
                library = self.libraries.get(name)
                self.folded[name][in_server(sample.stack, library) if library else sample.stack] += sample.weight
                self.counts[name] += 1


class Slots:
    """When each target was driven."""

    def __init__(self, pieces: Pieces):
        self._all = sorted((began, began + length, name) for name, every in pieces.items() for began, length in every)
        self._begins = [began for began, _, _ in self._all]

    def during(self, began_ns: int, ended_ns: int) -> Iterator[tuple[str, int]]:
        """Target and ns of each slot that a span of time has a part of; of a moment, which has no length, 0."""
        place = max(bisect_right(self._begins, began_ns) - 1, 0)
        while place < len(self._all) and self._begins[place] <= ended_ns:
            began, ended, name = self._all[place]
            if began <= ended_ns and began_ns < ended:
                yield name, min(ended, ended_ns) - max(began, began_ns)
            place += 1


def in_slots(
    samples: Iterable[Sample], slots: Slots, is_of: Callable[[int, str], bool]
) -> Iterator[tuple[str | None, Sample]]:
    """Each sample with its target; None: outside of that one's slots. `is_of`: whether a process works for a target."""
    for sample in samples:
        name, _ = next(slots.during(sample.at_ns, sample.at_ns), (None, 0))
        yield (name if name and is_of(sample.pid, name) else None), sample
