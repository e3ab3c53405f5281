"""The servers' own counters over a test, and the operations that they span (docs/results-directory.md, "Counters")."""

import itertools
from collections import Counter
from collections.abc import Callable

from dbversus.errors import RunError
from dbversus.experiment.rig.session import Case, Session
from dbversus.results.records import Counters as CountersRecord

IDLE_ROUNDS = 2

Start = tuple[str, int]
"""A target by name, and how often it had been restarted: with each start its counters begin anew."""

Counts = dict[str, float]


def begin_counting(session: Session, block: int, case: Case, idle: Callable[[], None]) -> dict[Start, Counts]:
    """What the servers have counted when a test begins.

    `idle` is the test without any operation: connect, prepare, close. What that adds, and reading the counters, is found out
    once per run, before the first reading that counts. Of several rounds the least is taken: work that a server
    does by its clock falls into one of them, our own into all.
    """
    readings = [_read(session, block, case)]
    if any((target.name, case.name) not in session.idle_counts for target in session.alive):
        for _ in range(IDLE_ROUNDS):
            idle()
            readings.append(_read(session, block, case))
        rounds = [_since(*pair) for pair in itertools.pairwise(readings)]
        for name in set.intersection(*(set(found) for found in rounds)):
            session.idle_counts[name, case.name] = _least([found[name] for found in rounds])
    return readings[-1]


def note_counters(
    session: Session, block: int, case: Case, before: dict[Start, Counts], spanned_ops: Counter[str]
) -> None:
    """Journals what the servers counted over a test, without what dbversus itself has added.

    The test's connections are closed by now, so that all has been reported. `spanned_ops`: all that the servers were
    asked to do since `before`, also in pilots, settle parts and checks of answers.
    """
    delta = {
        name: _without(counts, session.idle_counts.get((name, case.name), {}))
        for name, counts in _since(before, _read(session, block, case)).items()
    }
    moved = {counter for counts in delta.values() for counter, change in counts.items() if change}
    if moved:  # hundreds of a server's counters have nothing to do with a test
        kept = {name: {key: counts[key] for key in counts if key in moved} for name, counts in delta.items()}
        ops = {name: spanned_ops[name] for name in kept}
        session.note(CountersRecord(block, case.name, kept, ops, **session.tag))


def _read(session: Session, block: int, case: Case) -> dict[Start, Counts]:
    """The counters of all servers; one that gives none is restarted if it is gone, and counts nothing for this test."""
    session.thaw()
    found: dict[Start, Counts] = {}
    for target in session.alive:
        try:
            found[target.name, target.restarts] = target.server.counters()
        except RunError as error:
            if not target.server.is_running():
                session.revive(target, str(error), block=block, test=case.name)
    return found


def _since(before: dict[Start, Counts], after: dict[Start, Counts]) -> dict[str, Counts]:
    """What rose by how much, by target; of those that were not restarted."""
    return {
        start[0]: {counter: value - before[start].get(counter, 0) for counter, value in counts.items()}
        for start, counts in after.items()
        if start in before
    }


def _least(rounds: list[Counts]) -> Counts:
    return {counter: max(0.0, min(counts.get(counter, 0.0) for counts in rounds)) for counter in rounds[0]}


def _without(counts: Counts, own: Counts) -> Counts:
    """What is no more than our own is nothing; figures that fell are left as they are, so that it shows."""
    return {
        counter: max(change - own.get(counter, 0.0), 0.0) if change > 0 else change
        for counter, change in counts.items()
    }
