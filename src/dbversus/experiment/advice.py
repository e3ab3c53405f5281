"""Whether `resume` can get further than a run that has failed."""

import errno
import re
from pathlib import Path

from dbversus.errors import RunError
from dbversus.experiment.plan.progress import Progress, read_progress
from dbversus.experiment.rig.quiet import NotQuiet
from dbversus.results.journal import ROW_START, header_of, parse_journal
from dbversus.results.schema import JOURNAL

_NO_ROOM = re.compile(r"no space left|disk (is )?full|quota exceeded|errno:? 28\b", re.IGNORECASE)


def resume_can_help(directory: Path, error: BaseException, known_bytes: int) -> bool:
    """Whether what ended a run with `error` may pass: a full disk, a busy host, or what came after rows had been measured.

    A run that measured nothing since its journal was of `known_bytes` would fail the same way again, and targets that refused
    something are not tried again.
    """
    journal = directory / JOURNAL
    try:
        records, _ = parse_journal(journal)
        names = [target.name for target in header_of(records, journal).targets]
    except (RunError, OSError):
        return False
    if _nobody_left(read_progress(records), names):
        return False
    return isinstance(error, NotQuiet) or is_for_want_of_room(error) or ROW_START in journal.read_bytes()[known_bytes:]


def _nobody_left(progress: Progress, names: list[str]) -> bool:
    """Whether the base, or every other target, has left the run."""
    return names[0] in progress.out or (len(names) > 1 and all(name in progress.out for name in names[1:]))


def is_for_want_of_room(error: BaseException) -> bool:
    """Whether a disk was full, by its number or in the words of a server."""
    number = error.errno if isinstance(error, OSError) else None
    return number in (errno.ENOSPC, errno.EDQUOT) or bool(_NO_ROOM.search(str(error)))
