"""The steps that there are, in the order of what is likely to tell most.

A step that finds causes in another way is one more class with `next`, and a line in STEPS.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import Protocol

from dbversus.campaign.agenda import Outcome, Planned
from dbversus.campaign.finding.asked import (
    MOST_APART,
    Change,
    Experiment,
    apart,
    build_of,
    loads_code,
    put_back,
    with_back,
)
from dbversus.campaign.screening.agenda import CONFIRM, ENDS, SCREEN, Screening, trials, why_confirm
from dbversus.experiment.asked.groups import ROWS_PER_GROUP
from dbversus.explain.shares import acting_together, adding_up, is_it, shares_back
from dbversus.stats.metrics import CPU, THROUGHPUT

PLANS, TRIAL, SETTINGS, WAITS, PROFILE = "plans", "trial", "settings", "waits", "profile"
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


class _Waits:
    """Where throughput changed by more than CPU time can have done, what operations wait for: blocks as those of a profile."""

    lacks = "throughput changed in no test by more than CPU time tells, so there is no wait to look for"

    def applies(self, changes: Sequence[Change]) -> bool:
        return any(_waits(change) for change in changes)

    def next(self, experiment: Experiment, outcomes: Mapping[str, Outcome]) -> Sequence[Planned]:
        waiting = [one for one in experiment.changes if _waits(one)]
        changes = [one for one in waiting if one.asked or not _is_found(one, experiment, outcomes, THROUGHPUT)]
        return _profiled(experiment, changes, WAITS, "what operations wait for in {}")


def _waits(change: Change) -> bool:
    return change.waits or change.asked


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
        return _profiled(experiment, changes, PROFILE, "which functions the CPU time of {} goes to")


def _profiled(experiment: Experiment, changes: Sequence[Change], name: str, why: str) -> Sequence[Planned]:
    """An experiment in which perf records; `why`: with a place for the tests."""
    if not changes:
        return ()
    spec = experiment.spec
    given = experiment.narrowed(changes)
    targets = given["targets"]
    assert isinstance(targets, list)
    seconds = PROFILED_S * len(targets)
    rows = ceil(seconds * 1000 / min(spec.slot_ms, spec.write_slot_ms))
    choices = given | {
        "functions": name == PROFILE,
        "waits": name == WAITS,
        "looks": [PROFILED_BLOCKS],
        "seconds": seconds,
        "test_seconds": {},
        "rows": min(rows, ROWS_PER_GROUP // 2),
        "judge_load": False,
        "calibration": False,
        "time_budget_s": None,
    }
    tests = str(given["tests"]).replace(",", ", ")
    return (Planned(name, spec.with_choices(choices), why.format(tests)),)


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
        if name.startswith((TRIAL, CONFIRM)) and len(outcome.targets) > 2 and outcome.targets[1] == target:
            own = (one for one in outcome.found if (one.test, one.metric) == (change.test, metric))
            found = {one.target: one for one in sorted(own, key=lambda one: one.target)}
            whole = found.pop(1, None)
            if not whole:
                continue
            tried = [outcome.targets[place] for place in found]
            yield from (
                one for one, after in zip(tried, found.values(), strict=True) if is_it(shares_back(whole, after))
            )
            are_all = tuple(tried) == put_back(experiment.spec, change.target)
            afters = list(found.values())
            joint = (acting_together(whole, afters) or adding_up(whole, afters)) if are_all else None
            yield from (tried[place] for place in (joint[0] if joint else ()))


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
    targets = [*(experiment.spec.targets[place] for place in (0, changes[0].target)), *tried]
    tests = experiment.narrowed(changes)["tests"]
    return _beside(
        experiment, changes, targets, name, f"whether settings make the change of {tests}: {', '.join(tried)}"
    )


def _beside(
    experiment: Experiment, changes: Sequence[Change], targets: Sequence[str], name: str, why: str, **more: object
) -> Planned:
    """An experiment of tests that changed, on the base and these targets, each with the time that it had. `more`: choices."""
    spec = experiment.spec
    take_turns = spec.order == "interleaved" and spec.restore == "block"
    up = min(len(targets), spec.at_once or SERVERS_UP) if take_turns else len(targets)
    longer = max(1.0, up / COMPARED)
    choices = experiment.narrowed(changes) | {
        "targets": list(targets),
        "seconds": spec.seconds * longer,
        "test_seconds": {glob: seconds * longer for glob, seconds in spec.test_seconds.items()},
        "at_once": up if len(targets) > up else None,
        "rows": min(spec.rows, ROWS_PER_GROUP // 2),
        "time_budget_s": None,
        "calibration": False,
    }
    return Planned(name, spec.with_choices(choices | more), why)


class _Settings:
    """Where more settings tell two configs of a build apart than are put back one by one: a screen of all, and the target with
    those that stand out put back. Not where a trial has found the cause."""

    lacks = f"no two configs of one build differ in more than {MOST_APART} settings"

    def applies(self, changes: Sequence[Change]) -> bool:
        return any(change.whole for change in changes)

    def next(self, experiment: Experiment, outcomes: Mapping[str, Outcome]) -> Sequence[Planned]:
        if experiment.spec.inject is not None:  # it names targets by their places
            return ()
        wanted = [one for one in experiment.changes if one.whole]
        places = sorted({one.target for one in wanted})
        own = ([one for one in wanted if one.target == place] for place in places)
        return [planned for changes in own for planned in _screened(experiment, changes, outcomes)]


def _screened(experiment: Experiment, changes: Sequence[Change], outcomes: Mapping[str, Outcome]) -> Iterator[Planned]:
    """`changes`: of one target."""
    spec, place = experiment.spec, changes[0].target
    screen, confirm = (name if place == 1 else f"{name}-{place}" for name in (SCREEN, CONFIRM))
    tried = {name: one for name, one in outcomes.items() if name.startswith(TRIAL)}
    changes = [one for one in changes if not _is_found(one, experiment, tried, one.metric)]
    if not changes:
        return
    settings = apart(spec, place)
    screening = Screening(build_of(spec, place), (spec.targets[0], spec.targets[place]), settings, {"seed": spec.seed})
    if screen not in outcomes:
        rows = [settings.target(screening.build, names) for names in screening.rows]
        yield _beside(
            experiment, changes, [spec.targets[0], *rows], screen, screening.why_screen, looks=[screening.blocks]
        )
        return
    ends = Outcome("", found=tuple(found for change in changes for found in change.whole))
    named = screening.named({ENDS: ends, SCREEN: outcomes[screen]})
    if named:
        back = [
            with_back(spec, place, settings, names)
            for names in trials(screening.names, named)
            if len(names) < len(settings.factors)
        ]
        yield _beside(experiment, changes, [spec.targets[0], spec.targets[place], *back], confirm, why_confirm(named))


STEPS: dict[str, StepOfFinding] = {
    PLANS: _Plans(),
    TRIAL: _Trial(),
    SETTINGS: _Settings(),
    WAITS: _Waits(),
    PROFILE: _Profile(),
}
