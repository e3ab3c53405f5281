"""What is to be explained: changes of an experiment, and the experiment itself."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from msgspec import Struct

from dbversus.builds.store import resolve
from dbversus.builds.target import parse_target, split_name
from dbversus.campaign.agenda import Found
from dbversus.campaign.screening.factors import Settings, settings_of
from dbversus.errors import UsageError
from dbversus.experiment.asked.spec import ExperimentSpec
from dbversus.names import split_names
from dbversus.results.schema import IMPORTED_SUITE, is_load
from dbversus.results.stored import Results
from dbversus.stats.across.clients import case_of
from dbversus.stats.across.sizes import size_of
from dbversus.stats.comparison import compare
from dbversus.stats.metrics import CPU
from dbversus.stats.model import CHANGES, Verdict

_LOADS_CODE = re.compile(r"env\.|\w*preload_libraries$|jit_provider$|\w*plugin_load")
MOST_APART = 6
"""Settings that are each put back in one experiment."""


class Change(Struct, frozen=True, omit_defaults=True):
    """A test that changed on a target, which is named by its place among those of the experiment, 1 for the first after the base.

    `metric` changed most of those that are judged; `cpu`: whether the CPU time of an operation did; `waits`: whether throughput
    did by more than that tells. `asked`: the test was asked for by name, whether it changed or not. `plan`: whether the results
    have another plan of it. `trials`: the target with settings of the base, as leads point to them; `replanned`: with the planner
    setting that brings the old plan back. `whole`: what was found of it, as of an only target, where it takes a screen to tell
    which of many settings make it.
    """

    test: str
    target: int
    metric: str = ""
    cpu: bool = False
    waits: bool = False
    asked: bool = False
    plan: bool = False
    trials: tuple[str, ...] = ()
    replanned: str = ""
    whole: tuple[Found, ...] = ()


@dataclass(frozen=True)
class Experiment:
    """`spec`: as its folder has it."""

    spec: ExperimentSpec
    changes: Sequence[Change]

    def narrowed(self, changes: Sequence[Change]) -> dict[str, object]:
        """Choices that leave the base and the targets of `changes`, and their tests."""
        places = sorted({0, *(change.target for change in changes)})
        if self.spec.inject is not None:  # it names targets by their places
            places = list(range(len(self.spec.targets)))
        return {
            "targets": [self.spec.targets[place] for place in places],
            "tests": ",".join(dict.fromkeys(test_of(change.test) for change in changes)),
            "fail_on": [],
            "require_verdicts": None,
            "posts": [],
        }


def test_of(case: str) -> str:
    """The test of a case with a size or a number of clients."""
    for split in (size_of, case_of):
        found = split(case)
        case = found[0] if found else case
    return case


def changes_of(results: Results, tests: str | None) -> tuple[Change, ...]:
    """What changed; with `tests`, globs, of those alone, and whether they changed or not.

    Raises UsageError with one sentence where there is nothing to explain.
    """
    if results.header.suite == IMPORTED_SUITE:
        raise UsageError(f"{results.directory} is an import: there are no builds here to measure on.")
    if len(results.targets) == 1:
        raise UsageError(f"{results.directory} has one target, so there is no change to explain.")
    place = {target.label: number for number, target in enumerate(results.targets)}
    wanted = split_names(tests or "*")
    found, known = [], set()
    for one in compare(results):
        known.add(one.test)
        matches = any(fnmatchcase(one.test, glob) or fnmatchcase(test_of(one.test), glob) for glob in wanted)
        changed = one.verdict in (*CHANGES, Verdict.NO_STEADY_STATE)
        if is_load(one.test) or not matches or not (changed or tests):
            continue
        cpu = one.findings.get(CPU)
        metric = one.headline.metric if one.headline else ""
        of_cpu = bool(cpu and cpu.counted in CHANGES)
        found.append(Change(one.test, place[one.target], metric, of_cpu, asked=bool(tests)))
    if not found and tests:
        raise UsageError(f"--tests {tests} matches none of the tests that were measured: {', '.join(sorted(known))}.")
    if not found:
        raise UsageError(
            f"No test of {results.directory} changed, so there is nothing to explain; --tests measures tests all the same."
        )
    return tuple(found)


def put_back(spec: ExperimentSpec, place: int) -> tuple[str, ...]:
    """The target at that place, with each setting in which it differs from a base of the same build as the base has it.

    Empty where a single one differs, which needs no trial, or too many for one experiment.
    """
    settings = apart(spec, place)
    names = [factor.name for factor in settings.factors]
    if not 1 < len(names) <= MOST_APART:
        return ()
    return tuple(with_back(spec, place, settings, [name]) for name in names)


def with_back(spec: ExperimentSpec, place: int, settings: Settings, names: Collection[str]) -> str:
    """The target at that place, with these of its `settings` as the base has them."""
    own = [factor.name for factor in settings.factors if factor.name not in names]
    return settings.target(build_of(spec, place), own)


def build_of(spec: ExperimentSpec, place: int) -> str:
    return split_name(spec.targets[place])[1].partition("@")[0]


def apart(spec: ExperimentSpec, place: int) -> Settings:
    """The settings in which the target at that place differs from a base of the same build."""
    return _differing(spec, spec.targets[0], spec.targets[place])


def loads_code(spec: ExperimentSpec, place: int, tried: str) -> bool:
    """Whether a setting in which the target at that place differs from this one decides which code is run."""
    return any(_LOADS_CODE.match(factor.name) for factor in _differing(spec, spec.targets[place], tried).factors)


def _differing(spec: ExperimentSpec, base: str, target: str) -> Settings:
    """Of the build of `target`; without any where both say the same."""
    one, other = parse_target(base), parse_target(target)
    try:
        return settings_of(other.dbms, resolve(other).version, [one.configs, other.configs], spec.config_place)
    except UsageError:
        return Settings((), ())
