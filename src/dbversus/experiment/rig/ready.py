"""What comes before the first cell: who takes part, statements that all servers take, and data to start from."""

import contextlib
from collections.abc import Iterator

from dbversus.errors import RunError, UsageError
from dbversus.experiment.rig.aging import age_all
from dbversus.experiment.rig.prepare import load_all
from dbversus.experiment.rig.refusals import check_before_load
from dbversus.experiment.rig.session import Session, Target
from dbversus.results.records import Block, Failure


def make_ready(session: Session) -> None:
    """Raises UsageError when nobody is left to be compared."""
    for target in session.targets:
        _take_over(session, target)
    if session.dead_end:
        raise UsageError(f"{session.dead_end}; start a new experiment.")
    check_before_load(session)
    load_all(session)
    age_all(session)


def _take_over(session: Session, target: Target) -> None:
    """What the stage found out about a target, and what an earlier start did."""
    progress = session.progress
    if target.out is not None and target.name not in progress.out:
        session.note(Failure(target.name, "check", target.out, final=True))
        session.display.say(f"{target.label} is left out: {target.out}")
    target.out = progress.out.get(target.name, target.out)
    if target.out is None and target.name in progress.lost:
        progress.lost.discard(target.name)
        session.remark(
            "it had left the run, and was tried again when that was resumed: rows in between are missing", target
        )


@contextlib.contextmanager
def closing(session: Session) -> Iterator[None]:
    """Ends all servers and the engine on every way out; a stop by the user is journaled as such."""
    try:
        yield
    except KeyboardInterrupt:
        with contextlib.suppress(RunError):  # a full disk, say: that the user has stopped the run counts for more
            session.note(Block(session.progress.next_block(), "interrupted"))
        raise
    finally:
        session.close()
