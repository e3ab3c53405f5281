"""The campaign that finds which settings make a change: two configs, a screen of what differs, trials of what stands out."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import log
from typing import Any

from dbversus.builds.store import resolve
from dbversus.builds.target import parse_target
from dbversus.campaign.agenda import Agenda, End, Found, Outcome, Planned, Step, verdicts_of
from dbversus.campaign.screening.design import Effect, chosen, effects, fold_over
from dbversus.campaign.screening.factors import Settings, settings_of
from dbversus.errors import UsageError
from dbversus.experiment.asked.spec import ExperimentSpec, make_spec
from dbversus.experiment.plan.estimate import expected_s
from dbversus.results.stored import Results
from dbversus.stats.model import DIFFERS
from dbversus.suites.profiles import profile_defaults

ENDS, SCREEN, CONFIRM = "ends", "screen", "confirm"
EQUAL = "the two configs do not differ in any test"
NONE_NAMED = "no single setting stands out"
CONFIRMED = "confirmed"

MOST_UNSCREENED = 3
"""So few settings are all measured by themselves at once."""
LEAST_BLOCKS = 2
MEASURED = 48
"""Configs × blocks of a screen, at least: a setting of 3 % stands out where blocks have a standard deviation of 2 %."""
SERVERS_UP = 5
USUALLY_NAMED = 2
COMPARED = 2
"""Targets of an ordinary comparison, for which a test's time is meant."""
MOST_NAMED = 4
LEAST_SHARE = 0.1
"""Of the change: a setting that makes less of it is not measured by itself."""

Change = tuple[str, str]
"""A test and a metric in which the two configs differ."""


class Screening(Agenda, frozen=True, tag="settings"):
    """`configs`: as they were named; `choices`: of the experiments, over those of the profile."""

    build: str
    configs: tuple[str, str]
    settings: Settings
    choices: dict[str, Any]

    @property
    def title(self) -> str:
        return f"settings of {self.build}, {self.configs[0]} against {self.configs[1]}"

    @property
    def names(self) -> list[str]:
        return [factor.name for factor in self.settings.factors]

    @property
    def is_screened(self) -> bool:
        return len(self.names) > MOST_UNSCREENED

    def next(self, outcomes: Mapping[str, Outcome]) -> Step | End:
        if ENDS not in outcomes:
            return self._ends()
        if outcomes[ENDS].lost:
            return End(f"{self.configs[1]} could not be measured: {outcomes[ENDS].lost[1]}")
        changes = changes_of(outcomes[ENDS])
        if not changes:
            return End(EQUAL)
        if self.is_screened and SCREEN not in outcomes:
            return self._screen(list(changes))
        named = self.named(outcomes)
        if not named:
            return End(NONE_NAMED)
        if len(self.names) > 1 and CONFIRM not in outcomes:
            return Step((Planned(CONFIRM, self._confirm_spec(list(changes), named), why_confirm(named)),))
        return End(CONFIRMED)

    def outcome(self, results: Results) -> Outcome:
        return verdicts_of(results)

    @property
    def first_spec(self) -> ExperimentSpec:
        """Of the two configs."""
        return self._spec([(), self.names])

    def _ends(self) -> Step:
        first = Planned(ENDS, self.first_spec, "whether there is a change, and in which tests")
        confirm_s = self._confirm_s(None)
        if not self.is_screened:
            then = "if tests changed, each setting measured by itself" if len(self.names) > 1 else ""
            return Step((first,), then, confirm_s if then else 0.0)
        words = f"if tests changed, {len(self.names)} settings screened in {len(self.rows)} configs"
        screen_s = expected_s(self._screen_spec(None))
        return Step((first,), f"{words}, and those that stand out measured by themselves", screen_s + confirm_s)

    def _screen(self, changes: Sequence[Change]) -> Step:
        then = "what stands out is measured by itself"
        return Step((Planned(SCREEN, self._screen_spec(changes), self.why_screen),), then, self._confirm_s(changes))

    def _confirm_s(self, changes: Sequence[Change] | None) -> float:
        """As long as the trials are expected to take, before it is known of what."""
        names = self.names[:USUALLY_NAMED] if self.is_screened else self.names
        return expected_s(self._confirm_spec(changes, names))

    @property
    def why_screen(self) -> str:
        return f"{len(self.names)} settings in {len(self.rows)} configs: which of them make a change"

    @property
    def rows(self) -> list[list[str]]:
        """Of the screen: the settings that have the value of the second config in each."""
        return [chosen(row, self.names) for row in fold_over(len(self.names), self.choices.get("seed", 1))]

    @property
    def blocks(self) -> int:
        """Of the screen."""
        return max(LEAST_BLOCKS, -(-MEASURED // len(self.rows)))

    def _screen_spec(self, changes: Sequence[Change] | None) -> ExperimentSpec:
        return self._spec([(), *self.rows], changes, [self.blocks])

    def _confirm_spec(self, changes: Sequence[Change] | None, named: Sequence[str]) -> ExperimentSpec:
        return self._spec([(), *trials(self.names, named)], changes)

    def _spec(
        self, sets: Sequence[Sequence[str]], changes: Sequence[Change] | None = None, looks: list[int] | None = None
    ) -> ExperimentSpec:
        """An experiment of the first config with these settings of the second one; of the tests that changed."""
        given = profile_defaults(self.choices) | self.choices
        up = min(len(sets), SERVERS_UP)
        given["targets"] = [self.settings.target(self.build, names) for names in sets]
        given["seconds"] *= up / COMPARED
        given["test_seconds"] = {
            glob: seconds * up / COMPARED for glob, seconds in given.get("test_seconds", {}).items()
        }
        if len(sets) > up:
            given["at_once"] = up
        if changes is not None:
            given["tests"] = ",".join(dict.fromkeys(test for test, _ in changes))
        if looks:
            given["looks"] = looks
        return make_spec(given)

    def effects(self, outcomes: Mapping[str, Outcome]) -> dict[Change, list[Effect]]:
        """What the screen says of each setting, for each change."""
        changes, screen = changes_of(outcomes[ENDS]), outcomes[SCREEN]
        rows: dict[Change, list[tuple[tuple[str, ...], Found]]] = {change: [] for change in changes}
        for one in screen.found:
            if (one.test, one.metric) in rows:
                rows[one.test, one.metric].append((self.settings.chosen(screen.targets[one.target]), one))
        return {change: effects(self.names, found, len(changes)) for change, found in rows.items()}

    def named(self, outcomes: Mapping[str, Outcome]) -> list[str]:
        """Settings that stand out in the screen, those that make most of a change first; all where none is needed."""
        if not self.is_screened:
            return self.names
        totals = changes_of(outcomes[ENDS])
        shares: dict[str, float] = {}
        for change, found in self.effects(outcomes).items():
            for one in found:
                share = abs(one.value / totals[change])
                if one.is_shown and share >= LEAST_SHARE:
                    shares[one.name] = max(share, shares.get(one.name, 0.0))
        return sorted(shares, key=lambda name: -shares[name])[:MOST_NAMED]


def screening_of(build: str, configs: tuple[str, str], choices: Mapping[str, Any]) -> Screening:
    """Raises UsageError with one sentence naming the first mistake; fetches and starts nothing."""
    target = parse_target(build)
    if target.configs:
        raise UsageError(
            f"{build} has configs of its own; name the build alone, and the configs as the two to compare."
        )
    config_dir = choices.get("config_dir")
    settings = settings_of(target.dbms, resolve(target).version, configs, config_dir)
    agenda = Screening(build, configs, settings, dict(choices))
    spec = agenda.first_spec
    for name, values in (("--clients", spec.clients), ("--table-size", spec.table_sizes)):
        if len(values) > 1:
            raise UsageError(
                f"settings are screened with one value of {name}; there are {', '.join(map(str, values))}."
            )
    return agenda


def changes_of(ends: Outcome) -> dict[Change, float]:
    """ln(second/first) of what differs between the two configs."""
    return {(one.test, one.metric): log(one.ratio) for one in ends.found if one.verdict in DIFFERS and one.ratio}


def trials(names: Sequence[str], named: Sequence[str]) -> list[tuple[str, ...]]:
    """Sets of settings that have the value of the second config: each that was named, pairs, all, all others, all there are."""
    rest = tuple(name for name in names if name not in named)
    sets = [*combinations(named, 1), *combinations(named, 2), tuple(named), rest, tuple(names)]
    return list(dict.fromkeys(tuple(name for name in names if name in one) for one in sets if one))


def why_confirm(named: Sequence[str]) -> str:
    if len(named) == 1:
        return f"whether {named[0]} makes the change by itself"
    return f"whether {' and '.join(named)} make the change, by themselves and together"
