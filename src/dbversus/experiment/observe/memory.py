"""The memory that servers hold, journaled at the end of every test while its clients are still connected."""

from dataclasses import asdict

from dbversus.experiment.rig.session import Case, Session
from dbversus.host.memory import memory_use, reset_peak
from dbversus.results.records import Memory, MemoryUse


def begin_footprint(session: Session) -> None:
    """From here on, peaks are those of the test that follows."""
    for target in session.alive:
        if target.server.root_pid is not None:
            reset_peak(target.server.root_pid)


def note_footprint(session: Session, block: int, case: Case) -> None:
    """Journals the memory of every server; an embedded one has none of its own."""
    found = {}
    for target in session.alive:
        use = memory_use(target.server.root_pid) if target.server.root_pid is not None else None
        if use is not None:
            found[target.name] = MemoryUse(**asdict(use))
    if found:
        session.note(Memory(block, case.name, found))
