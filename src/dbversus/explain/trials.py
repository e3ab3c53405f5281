"""Causes by trial: the command that tries a setting as the base has it on the target, and what that makes of a change."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log
from typing import Protocol

from dbversus.explain.cause import SURE_SHARES, WEAK, Cause, Kind
from dbversus.names import split_names
from dbversus.results.records import Experiment
from dbversus.stats.across.clients import case_of
from dbversus.stats.across.sizes import size_of
from dbversus.stats.model import DIFFERS, Finding, Verdict

NOT_SET = "not set"
LEAST_SHARE = 0.1
"""Of a change: what explains less is not named as a cause of it."""
TRIED = "tried"
"""Of facts: the setting was tried on the target; the cause's `means` says what came of it."""


Values = tuple[str | None, str | None]
"""Of a setting, on the base and on the target; None: it is not set there."""


Shares = tuple[float, float, float]
"""Of a change, what goes with settings: the estimate, and the ends of its interval as far as the ratio that is left has one."""


class Ratio(Protocol):
    """A finding, or what a campaign keeps of it."""

    @property
    def verdict(self) -> Verdict: ...
    @property
    def ratio(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


def shares_back(change: Ratio, after: Ratio) -> Shares | None:
    """None where the change was not seen again, or nothing is known."""
    if change.verdict in DIFFERS and is_next_to_nothing(after):
        return 1.0, 1.0, 1.0
    if change.verdict not in DIFFERS or not (change.ratio and after.ratio and after.low and after.high):
        return None
    one, *ends = (1 - log(ratio) / log(change.ratio) for ratio in (after.ratio, after.low, after.high))
    return one, min(ends), max(ends)


def is_next_to_nothing(after: Ratio) -> bool:
    """Whether there is so little of it, on the base too, that it is the same without a ratio."""
    return after.verdict is Verdict.EQUIVALENT and after.ratio is None


def is_it(shares: Shares | None) -> bool:
    """Whether most of a change goes with the settings, and not far more than all of it, by the whole interval."""
    return shares is not None and SURE_SHARES[0] <= shares[1] and shares[2] <= SURE_SHARES[1]


@dataclass(frozen=True)
class Tried:
    """`settings`: as they stand in the target that was tried. The findings of one test and metric, both against the base: of the
    target as it is, in the blocks of the trial, and with these settings.

    `values`: name of each of them → what it is without the trial; empty where that is not known.
    """

    settings: str
    change: Finding
    after: Finding
    values: Mapping[str, Values] = field(default_factory=dict)

    @property
    def shares(self) -> Shares | None:
        """Of the change, what goes with the settings."""
        return shares_back(self.change, self.after)

    @property
    def is_it(self) -> bool:
        return is_it(self.shares)

    @property
    def is_none(self) -> bool:
        """Whether next to nothing of the change goes with the settings, by the whole interval."""
        return self.shares is not None and max(map(abs, self.shares)) < LEAST_SHARE

    @property
    def words(self) -> str:
        """`with work_mem=16MB it is 1.010 [0.980, 1.040] of postgres:14's in place of 5.930`"""
        after, change = self.after, self.change
        interval = f" [{after.low:.3f}, {after.high:.3f}]" if after.low and after.high else ""
        if change.ratio and is_next_to_nothing(after):
            return f"with {self.settings} it is next to nothing, as on the base, in place of {change.ratio:.3f} of the base's"
        if not after.ratio or not change.ratio:
            return f"with {self.settings} it could not be measured"
        return f"with {self.settings} it is {after.ratio:.3f}{interval} of the base's in place of {change.ratio:.3f}"


def with_trials(causes: Sequence[Cause], metric: str, trials: Sequence[Tried]) -> tuple[Cause, ...]:
    """What was tried and brings most of the change back comes first, as tested; of any other lead that was tried, it is said.

    Where all that tells two targets apart are several settings, and some of them were found in this way, these take the place of
    all.
    """
    tried = [trial for trial in trials if trial.after.metric == metric]
    found = [_told(cause, tried) for cause in causes]
    apart = [trial for trial in tried if not any(_is_of(one, trial) for one in causes)]
    together = next((cause for cause in found if cause.tested and TRIED not in cause.facts), None)
    if together is not None:
        found += _found_apart(together, apart)
        if any(cause.is_sure and TRIED in cause.facts for cause in found):
            found.remove(together)
    elif causes:
        found += _of_plans(causes[0], apart)
    return tuple(sorted(found, key=_place))


def _place(cause: Cause) -> tuple[int, float]:
    """What is sure comes first, the nearest to all of the change; what a trial has shown to do next to nothing last."""
    if cause.is_sure:
        return 0, abs(1 - (cause.share or 0.0))
    return (2 if cause.is_weak else 1), 0.0


def _told(cause: Cause, tried: Sequence[Tried]) -> Cause:
    trial = next((one for one in tried if _is_of(cause, one)), None)
    if trial is None or cause.tested or trial.shares is None:
        return cause
    means = f"{cause.means}; {trial.words}" if cause.means else trial.words
    share = trial.shares[0] if trial.is_it else None
    facts = {**cause.facts, TRIED: trial.words}
    if trial.is_it or trial.is_none:
        facts[WEAK] = trial.is_none  # whatever pointed to it: that it acts by itself, or does not, is shown now
    return replace(cause, tested=trial.is_it, share=share, means=means, facts=facts)


def _found_apart(together: Cause, tried: Sequence[Tried]) -> Iterator[Cause]:
    """Of what tells two targets apart: the settings that a trial shows to be the cause, and that no lead points to."""
    for trial in tried:
        if trial.is_it and trial.shares and len(trial.values) == 1:
            ((name, (base, mine)),) = trial.values.items()
            values = base or NOT_SET, mine or NOT_SET
            yield Cause(
                Kind.SETTING,
                together.test,
                together.target,
                name,
                *values,
                share=trial.shares[0],
                tested=True,
                means=trial.words,
                facts={TRIED: trial.words},
            )


def _of_plans(beside: Cause, tried: Sequence[Tried]) -> Iterator[Cause]:
    """Planner settings that no lead points to, and that bring the change back with the old plan."""
    for trial in tried:
        if trial.is_it and trial.shares and trial.values:
            names, base, mine = (", ".join(side) for side in _sides(trial.values))
            told = {TRIED: trial.words}
            yield Cause(
                Kind.SETTING,
                beside.test,
                beside.target,
                names,
                base,
                mine,
                share=trial.shares[0],
                tested=True,
                means=trial.words,
                facts=told,
            )


def _sides(values: Mapping[str, Values]) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
    """Names of settings, and what they are on the base and on the target."""
    base, mine = ([own[side] or NOT_SET for own in values.values()] for side in (0, 1))
    return list(values), base, mine


def _is_of(cause: Cause, trial: Tried) -> bool:
    """Whether the setting alone was tried, or the command that tests it has these settings, which name the one that differs,
    switches of a list too."""
    if cause.kind is not Kind.SETTING:
        return False
    named = f",{cause.command}".replace("@", ",").replace(" ", ",")
    return set(trial.values) == {cause.what} or (bool(trial.settings) and f",{trial.settings}" in named)


_LEFT_OUT = frozenset({"--tests", "--out", "--matrix", "--builds", "--exclude", "--scaled", "--time-budget"})


def trial_command(header: Experiment, target: str, test: str, settings: str) -> str:
    """`target`: its label. `settings`: `name=value`, with commas between. Empty where no target can be named so."""
    target = next((one.written for one in header.targets if one.label == target), target.partition("#")[0])
    changed = _changed(target, settings) if settings and header.suite else ""
    if changed in ("", target):
        return ""
    named = [target, changed]
    return shlex.join(["dbversus", "compare", *named, "--tests", _test_of(test), *_options(header)])


def _changed(target: str, settings: str) -> str:
    """With these settings in place of its own; empty where they are items of a list that it sets already."""
    build, _, configs = target.partition("@")
    names = {item.partition("=")[0] for item in settings.split(",")}
    kept = [item for item in split_names(configs) if item.partition("=")[0] not in names]
    if len(kept) < len(split_names(configs)) and any(item.count("=") > 1 for item in settings.split(",")):
        return ""
    return f"{build}@{','.join([*kept, settings])}"


def _test_of(case: str) -> str:
    for split in (size_of, case_of):
        found = split(case)
        case = found[0] if found else case
    return case


def _options(header: Experiment) -> list[str]:
    """Those of the experiment's own command, where it compared; else what decides its data."""
    words = shlex.split(header.command)
    if words[:2] != ["dbversus", "compare"]:
        size = [] if header.table_size is None else ["--table-size", str(header.table_size)]
        return ["--suite", header.suite, *size]
    first = next((place for place, word in enumerate(words) if word.startswith("--")), len(words))
    kept: list[str] = []
    leave_out = False
    for word in words[first:]:
        if word.startswith("--"):
            leave_out = word.partition("=")[0] in _LEFT_OUT
        if not leave_out:
            kept.append(word)
    return kept
