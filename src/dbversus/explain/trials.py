"""Causes by trial: the command that tries a setting as the base has it on the target, and what that makes of a change."""

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dbversus.explain.cause import WEAK, Cause, Kind
from dbversus.explain.shares import Shares, acting_together, adding_up, is_it, is_next_to_nothing, is_none, shares_back
from dbversus.names import split_names
from dbversus.results.records import Experiment
from dbversus.stats.across.clients import case_of
from dbversus.stats.across.sizes import size_of
from dbversus.stats.model import Finding

NOT_SET = "not set"
TRIED = "tried"
"""Of facts: the setting was tried on the target; the cause's `means` says what came of it."""
_TOGETHER = "they act together, {} put back brings it back in part or in whole"
_EACH = "each makes a part of it, and {} put back brings that back"

Values = tuple[str | None, str | None]
"""Of a setting, on the base and on the target; None: it is not set there."""


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
        return is_none(self.shares)

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
    all. Those that act only together, and those of which each makes a part, are one cause.
    """
    tried = [trial for trial in trials if trial.after.metric == metric]
    found = [_told(cause, tried) for cause in causes]
    apart = [trial for trial in tried if not any(_is_of(one, trial) for one in causes)]
    together = next((cause for cause in found if cause.tested and TRIED not in cause.facts), None)
    if together is not None:
        joint = _joint(together, tried)
        taken = {name for cause in joint for name in _names(cause)}
        found = [*joint, *(one for one in found if one is together or not _is_among(one, taken))]
        found += _found_apart(together, found, apart)
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


def _names(cause: Cause) -> list[str]:
    return cause.what.split(", ")


def _is_among(cause: Cause, names: Collection[str]) -> bool:
    """Whether it is one of these settings, or an item of such a list."""
    return cause.kind is Kind.SETTING and any(_is_item(cause.what, name) for name in names)


def _is_item(what: str, name: str) -> bool:
    return what == name or what.startswith(f"{name}.")


def _joint(together: Cause, tried: Sequence[Tried]) -> list[Cause]:
    """Settings that make the change only together, or each a part of it, of an experiment in which all that tells two targets
    apart was put back, part by part."""
    for change in dict.fromkeys(trial.change for trial in tried):
        parts = _parts(together, [trial for trial in tried if trial.change == change])
        afters = [trial.after for trial in parts]
        for find, how in ((acting_together, _TOGETHER), (adding_up, _EACH)):
            places, share = find(change, afters) or ((), 0.0)
            acting = [parts[place] for place in places]
            if acting and all(len(trial.values) == 1 for trial in acting):
                values = {name: own for trial in acting for name, own in trial.values.items()}
                which = "either" if len(acting) == 2 else "any of them"
                words = f"{how.format(which)}: {'; '.join(one.words for one in acting)}"
                return [_of_values(together, share, words, values)]
    return []


def _parts(together: Cause, tried: Sequence[Tried]) -> list[Tried]:
    """Each setting that was put back by itself, and all others as one; empty where these are not all that differs."""
    singles = [trial for trial in tried if len(trial.values) == 1]
    left = [name for name in _names(together) if not any(_has(trial, name) for trial in singles)]
    if not left:
        return singles
    others = (trial for trial in tried if [name for name in _names(together) if _has(trial, name)] == left)
    rest = next(others, None)
    return [*singles, rest] if rest else []


def _has(trial: Tried, name: str) -> bool:
    return any(_is_item(name, one) for one in trial.values)


def _found_apart(together: Cause, found: Sequence[Cause], tried: Sequence[Tried]) -> Iterator[Cause]:
    """Of what tells two targets apart: the settings that a trial shows to be the cause, no more than it takes, and that no lead
    points to."""
    known = {name for cause in found if cause.is_sure and cause is not together for name in _names(cause)}
    for trial in sorted(tried, key=lambda one: len(one.values)):
        if trial.is_it and trial.values and not any(_has(trial, name) for name in known):
            known |= trial.values.keys()
            yield _of_trial(together, trial)


def _of_plans(beside: Cause, tried: Sequence[Tried]) -> Iterator[Cause]:
    """Planner settings that no lead points to, and that bring the change back with the old plan."""
    return (_of_trial(beside, trial) for trial in tried if trial.is_it and trial.values)


def _of_trial(beside: Cause, trial: Tried) -> Cause:
    return _of_values(beside, trial.shares[0] if trial.shares else None, trial.words, trial.values)


def _of_values(beside: Cause, share: float | None, words: str, values: Mapping[str, Values]) -> Cause:
    names, base, mine = (", ".join(side) for side in _sides(values))
    facts = {TRIED: words}
    where = beside.test, beside.target
    return Cause(Kind.SETTING, *where, names, base, mine, share=share, tested=True, means=words, facts=facts)


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
