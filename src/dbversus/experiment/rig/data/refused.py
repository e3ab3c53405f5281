"""What a server does not take of a suite or a config: its target is out, or the experiment cannot begin."""

from collections.abc import Sequence

from dbversus.errors import RunError, UsageError
from dbversus.experiment.rig.rig import Rig, Target


class StatementRefused(UsageError):
    """A suite that cannot be run; nothing was measured yet."""


class LoadRefused(RunError):
    """Words with file and line: what one target's server refuses while its data is loaded."""


def refuse(rig: Rig, targets: Sequence[Target], words: str) -> None:
    """Raises StatementRefused when the base refuses it, or nobody else is left; other targets are out."""
    left = [target for target in rig.in_run if target not in targets]
    hopeless = rig.base in targets or len(left) < 2
    if hopeless and not rig.progress.finished:
        raise StatementRefused(words)
    for target in targets:
        rig.failure(target, "check", words, final=True)
