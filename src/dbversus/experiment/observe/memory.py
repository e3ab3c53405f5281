"""The memory that servers hold at the end of a test, while its clients are still connected."""

from dataclasses import asdict

from dbversus.experiment.observe.observer import Observer
from dbversus.host.memory import memory_use, reset_peak
from dbversus.results.records import Memory as MemoryRecord
from dbversus.results.records import MemoryUse


class Memory(Observer):
    def begin(self) -> None:
        """From here on, peaks are those of the test that follows."""
        for target in self.scene.rig.alive:
            if target.server.root_pid is not None:
                reset_peak(target.server.root_pid)

    def still_open(self) -> None:
        """An embedded database has no memory of its own."""
        found = {}
        for target in self.scene.rig.alive:
            use = memory_use(target.server.root_pid) if target.server.root_pid is not None else None
            if use is not None:
                found[target.name] = MemoryUse(**asdict(use))
        if found:
            self.scene.rig.note(MemoryRecord(*self.scene.place, found))
