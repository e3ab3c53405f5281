"""The steps that there are, in the order of what is likely to tell most.

A step that finds causes in another way is one more class with `next`, and a line in STEPS.
"""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Protocol

from dbversus.campaign.agenda import Outcome, Planned
from dbversus.campaign.finding.asked import Change, Experiment
from dbversus.experiment.asked.groups import ROWS_PER_GROUP

PROFILE = "profile"
PROFILED_BLOCKS = 6
PROFILED_S = 10.0
"""Of each target, in a block: with six blocks 60,000 samples, which tell a function of 5 % to within 0.13 % of the whole."""


class StepOfFinding(Protocol):
    def applies(self, changes: Sequence[Change]) -> bool:
        """Whether it can tell anything of these."""
        ...

    def next(self, experiment: Experiment, outcomes: Mapping[str, Outcome]) -> Sequence[Planned]:
        """What it measures next; those that are finished are passed over. Empty: nothing more. Names begin with its own."""
        ...


class _Profile:
    """Where CPU time per operation changed, which functions it goes to: blocks of their own, base and targets in turn."""

    def applies(self, changes: Sequence[Change]) -> bool:
        return bool(_of_cpu(changes))

    def next(self, experiment: Experiment, outcomes: Mapping[str, Outcome]) -> Sequence[Planned]:
        changes = _of_cpu(experiment.changes)
        if not changes:
            return ()
        spec = experiment.spec
        given = experiment.narrowed(changes)
        targets = given["targets"]
        assert isinstance(targets, list)
        seconds = PROFILED_S * len(targets)
        rows = ceil(seconds * 1000 / min(spec.slot_ms, spec.write_slot_ms))
        choices = given | {
            "functions": True,
            "looks": [PROFILED_BLOCKS],
            "seconds": seconds,
            "test_seconds": {},
            "rows": min(rows, ROWS_PER_GROUP // 2),
            "judge_load": False,
            "calibration": False,
            "time_budget_s": None,
        }
        tests = str(given["tests"]).split(",")
        why = f"which functions the CPU time of {', '.join(tests)} goes to"
        return (Planned(PROFILE, spec.with_choices(choices), why),)


def _of_cpu(changes: Sequence[Change]) -> list[Change]:
    """A profile tells nothing of what waits."""
    return [change for change in changes if change.cpu or change.asked]


STEPS: dict[str, StepOfFinding] = {PROFILE: _Profile()}
