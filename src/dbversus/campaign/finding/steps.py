"""The steps that there are, in the order of what is likely to tell most.

A step that finds causes in another way is one more class with `next`, and a line in STEPS.
"""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Protocol

from dbversus.campaign.agenda import Outcome, Planned
from dbversus.campaign.finding.asked import Change, Experiment
from dbversus.experiment.asked.groups import ROWS_PER_GROUP

TRIAL, PROFILE = "trial", "profile"
MOST_TRIALS = 4
"""Changes whose leads are tried."""
PROFILED_BLOCKS = 6
PROFILED_S = 10.0
"""Of each target, in a block: with six blocks 60,000 samples, which tell a function of 5 % to within 0.13 % of the whole."""


class StepOfFinding(Protocol):
    lacks: str
    """Why it cannot tell anything, where it does not apply."""

    def applies(self, changes: Sequence[Change]) -> bool:
        """Whether it can tell anything of these."""
        ...

    def next(self, experiment: Experiment, outcomes: Mapping[str, Outcome]) -> Sequence[Planned]:
        """What it measures next; those that are finished are passed over. Empty: nothing more. Names begin with its own."""
        ...


class _Profile:
    """Where CPU time per operation changed, which functions it goes to: blocks of their own, base and targets in turn."""

    lacks = "CPU time per operation changed in no test, so a profile has nothing to tell; --tests profiles tests all the same"

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


class _Trial:
    """Where leads point to settings, the target with these as the base has them: an experiment for each change."""

    lacks = "no lead points to a setting that could be tried"

    def applies(self, changes: Sequence[Change]) -> bool:
        return any(change.trials for change in changes)

    def next(self, experiment: Experiment, outcomes: Mapping[str, Outcome]) -> Sequence[Planned]:
        if experiment.spec.inject is not None:  # it names targets by their places
            return ()
        with_trials = [change for change in experiment.changes if change.trials]
        return [_trial(experiment, change, n) for n, change in enumerate(with_trials[:MOST_TRIALS], start=1)]


def _trial(experiment: Experiment, change: Change, number: int) -> Planned:
    given = experiment.narrowed([change])
    base, target = experiment.spec.targets[0], experiment.spec.targets[change.target]
    choices = given | {"targets": [base, target, *change.trials], "time_budget_s": None, "calibration": False}
    why = f"whether settings make the change of {given['tests']}: {', '.join(change.trials)}"
    return Planned(f"{TRIAL}-{number}", experiment.spec.with_choices(choices), why)


STEPS: dict[str, StepOfFinding] = {TRIAL: _Trial(), PROFILE: _Profile()}
