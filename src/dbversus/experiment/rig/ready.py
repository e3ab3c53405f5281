"""What comes before the first cell: who takes part, statements that all servers take, and data to start from."""

import contextlib
from collections.abc import Iterator

from dbversus.errors import RunError, UsageError
from dbversus.experiment.rig.data.aging import age_all
from dbversus.experiment.rig.data.prepare import load_all, make_empty
from dbversus.experiment.rig.data.refusals import check_before_load
from dbversus.experiment.rig.rig import Rig, Target
from dbversus.results.records import Block, Failure


def make_ready(rig: Rig) -> None:
    """Raises UsageError when nobody is left to be compared."""
    for target in rig.targets:
        _take_over(rig, target)
    if rig.dead_end:
        raise UsageError(f"{rig.dead_end}; start a new experiment.")
    check_before_load(rig)
    for size in rig.spec.table_sizes:
        with rig.sized(size):
            if rig.suite.needs_rows:
                load_all(rig)
                age_all(rig)
            make_empty(rig)


def _take_over(rig: Rig, target: Target) -> None:
    """What the stage found out about a target, and what an earlier start did."""
    progress = rig.progress
    if target.out is not None and target.name not in progress.out:
        rig.note(Failure(target.name, "check", target.out, final=True))
        rig.display.say(f"{target.label} is left out: {target.out}")
    target.out = progress.out.get(target.name, target.out)
    if target.out is None and target.name in progress.lost:
        progress.lost.discard(target.name)
        rig.remark(
            "it had left the run, and was tried again when that was resumed: rows in between are missing", target
        )


@contextlib.contextmanager
def closing(rig: Rig) -> Iterator[None]:
    """Ends all servers and the engine on every way out; a stop by the user is journaled as such."""
    try:
        yield
    except KeyboardInterrupt:
        with contextlib.suppress(RunError):  # a full disk, say: that the user has stopped the run counts for more
            rig.note(Block(rig.progress.next_block(), "interrupted"))
        raise
    finally:
        rig.close()
