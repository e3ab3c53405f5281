"""The steps that there are, in the order of what is likely to tell most.

A step that finds causes in another way is one more class with `next`, and a line in STEPS.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import Protocol

from dbversus.campaign.agenda import Outcome, Planned
from dbversus.campaign.finding.asked import Change, Experiment, loads_code, put_back
from dbversus.experiment.asked.groups import ROWS_PER_GROUP
from dbversus.explain.shares import acting_together, is_it, shares_back
from dbversus.stats.metrics import CPU

PLANS, TRIAL, PROFILE = "plans", "trial", "profile"
TRIAL_OF_PLANS = f"{TRIAL}-{PLANS}"
"""A trial like any other, by its name too."""
MOST_TRIALS = 4
"""Experiments."""
SERVERS_UP = 5
COMPARED = 2
"""Targets of an ordinary comparison, for which a test's time is meant."""
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
    """Where CPU time per operation changed, which functions it goes to: blocks of their own, base and targets in turn.

    Not where a trial of the same campaign has found the cause: `--only profile` tells how it acts. Where that is what has servers
    load other code, the code is the cause, so that it is profiled all the same.
    """

    lacks = "CPU time per operation changed in no test, so a profile has nothing to tell; --tests profiles tests all the same"

    def applies(self, changes: Sequence[Change]) -> bool:
        return bool(_of_cpu(changes))

    def next(self, experiment: Experiment, outcomes: Mapping[str, Outcome]) -> Sequence[Planned]:
        changes = [one for one in _of_cpu(experiment.changes) if one.asked or not _is_told(one, experiment, outcomes)]
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


def _is_told(change: Change, experiment: Experiment, outcomes: Mapping[str, Outcome]) -> bool:
    """Whether a trial says all that there is to say: settings are the cause, and none of them is one that loads code."""
    found = list(_found(change, experiment, outcomes))
    return bool(found) and not any(loads_code(experiment.spec, change.target, tried) for tried in found)


def _is_found(change: Change, experiment: Experiment, outcomes: Mapping[str, Outcome], metric: str = CPU) -> bool:
    return any(_found(change, experiment, outcomes, metric))


def _found(change: Change, experiment: Experiment, outcomes: Mapping[str, Outcome], metric: str = CPU) -> Iterator[str]:
    """Targets that have brought the change in that metric back in a trial, or show together which settings make it."""
    target = experiment.spec.targets[change.target]
    for name, outcome in outcomes.items():
        if name.startswith(TRIAL) and len(outcome.targets) > 2 and outcome.targets[1] == target:
            found = {one.target: one for one in outcome.found if (one.test, one.metric) == (change.test, metric)}
            whole = found.pop(1, None)
            if not whole:
                continue
            tried = [outcome.targets[place] for place in found]
            yield from (
                one for one, after in zip(tried, found.values(), strict=True) if is_it(shares_back(whole, after))
            )
            are_all = outcome.targets[2:] == put_back(experiment.spec, change.target)
            together = acting_together(whole, list(found.values())) if are_all else None
            yield from (tried[place] for place in (together[0] if together else ()))


class _Trial:
    """Where leads point to settings, the target with these as the base has them: one experiment for all changes of a target that
    have the same; where several settings are all that tells it from the base, each of them. Not where a plan was the cause."""

    lacks = "no lead points to a setting that could be tried"

    def applies(self, changes: Sequence[Change]) -> bool:
        return any(change.trials for change in changes)

    def next(self, experiment: Experiment, outcomes: Mapping[str, Outcome]) -> Sequence[Planned]:
        by_plans = {name: one for name, one in outcomes.items() if name.startswith(TRIAL_OF_PLANS)}
        wanted = [(one, one.trials) for one in experiment.changes if not _is_found(one, experiment, by_plans)]
        return _trials(experiment, wanted, TRIAL)


class _Plans:
    """Where the plans differ, and a planner setting of the target brings the old one back: the target with that setting."""

    lacks = "no planner setting of a target is known to bring an old plan back"

    def applies(self, changes: Sequence[Change]) -> bool:
        return any(change.replanned for change in changes)

    def next(self, experiment: Experiment, outcomes: Mapping[str, Outcome]) -> Sequence[Planned]:
        wanted = [(change, (change.replanned,)) for change in experiment.changes if change.replanned]
        return _trials(experiment, wanted, TRIAL_OF_PLANS)


def _trials(experiment: Experiment, wanted: Sequence[tuple[Change, tuple[str, ...]]], name: str) -> Sequence[Planned]:
    """`wanted`: changes, and what is to be tried of each."""
    if experiment.spec.inject is not None:  # it names targets by their places
        return ()
    groups: dict[tuple[int, tuple[str, ...]], list[Change]] = {}
    for change, tried in wanted:
        if tried:
            groups.setdefault((change.target, tried), []).append(change)
    first = list(groups.items())[:MOST_TRIALS]
    return [_trial(experiment, own, tried, f"{name}-{n}") for n, ((_, tried), own) in enumerate(first, start=1)]


def _trial(experiment: Experiment, changes: Sequence[Change], tried: tuple[str, ...], name: str) -> Planned:
    spec, first = experiment.spec, changes[0]
    targets = [spec.targets[0], spec.targets[first.target], *tried]
    take_turns = spec.order == "interleaved" and spec.restore == "block"
    up = min(len(targets), spec.at_once or SERVERS_UP) if take_turns else len(targets)
    more = max(1.0, up / COMPARED)
    choices = experiment.narrowed(changes) | {
        "targets": targets,
        "seconds": spec.seconds * more,
        "test_seconds": {glob: seconds * more for glob, seconds in spec.test_seconds.items()},
        "at_once": up if len(targets) > up else None,
        "rows": min(spec.rows, ROWS_PER_GROUP // 2),
        "time_budget_s": None,
        "calibration": False,
    }
    why = f"whether settings make the change of {choices['tests']}: {', '.join(tried)}"
    return Planned(name, spec.with_choices(choices), why)


STEPS: dict[str, StepOfFinding] = {PLANS: _Plans(), TRIAL: _Trial(), PROFILE: _Profile()}
