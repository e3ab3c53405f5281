"""The campaign behind `dbversus upgrade`: two versions with the user's settings, then what differs in the settings of the two.

Where a test changed, the settings that differ between the two servers, and are known to matter, are put back on the newer one: a
screening of the newer version's values against the older one's (campaign/screening).
"""

from collections.abc import Mapping
from typing import Any

from dbversus.campaign.agenda import Agenda, End, Outcome, Planned, Step, verdicts_of
from dbversus.campaign.screening.agenda import ENDS, Screening, changes_of
from dbversus.campaign.screening.factors import Factor, Settings
from dbversus.campaign.upgrading.put_back import put_back
from dbversus.experiment.asked.spec import ExperimentSpec, make_spec
from dbversus.results.stored import Results
from dbversus.suites.profiles import profile_defaults

VERSIONS = "versions"
UNCHANGED = "no test changed between the two versions"
NOTHING_TO_PUT_BACK = "no setting that is known to matter differs between the two servers"
NOT_THE_SETTINGS = "the settings that were put back change nothing in these tests"

REGAINED = 0.2
"""Share of a change: settings that bring back less are not worth taking apart, nor naming."""

_NEWER, _OLDER = "values of the newer version", "values of the older one"


class Upgrade(Agenda, frozen=True, tag="upgrade"):
    """`older`, `newer`: targets with a name and all of their config. `build`: the newer one, `config` what stands after its `@`.

    `left_out`: lines of the user's config that not both versions take, with why. `choices`: of the experiments, over those of
    the profile.
    """

    older: str
    newer: str
    build: str
    config: tuple[str, ...]
    choices: dict[str, Any]
    left_out: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        older, newer = (target.partition("=")[0] for target in (self.older, self.newer))
        return f"upgrade of {older} to {newer}"

    def next(self, outcomes: Mapping[str, Outcome]) -> Step | End:
        if VERSIONS not in outcomes:
            return Step(
                (Planned(VERSIONS, self.first_spec, "what changes between the versions"),),
                "where tests changed, the settings that differ are put back on the newer version",
            )
        versions = outcomes[VERSIONS]
        if versions.lost:
            return End(f"a target could not be measured: {next(iter(versions.lost.values()))}")
        if not changes_of(versions):
            return End(UNCHANGED)
        screening = self.screening(versions)
        if screening is None:
            return End(NOTHING_TO_PUT_BACK)
        if ENDS in outcomes and not _brings_back(versions, outcomes[ENDS]):
            return End(NOT_THE_SETTINGS)
        return screening.next(outcomes)

    def outcome(self, results: Results) -> Outcome:
        """With the settings that can be put back, where it is that of the two versions."""
        found = verdicts_of(results)
        if results.targets[0].written.partition("@")[0] == results.targets[1].written.partition("@")[0]:
            return found
        return Outcome(found.ended, found.targets, found.found, found.lost, put_back(results, self.build, self.config))

    def screening(self, versions: Outcome) -> Screening | None:
        """Of the tests that changed; None where there is nothing to put back."""
        if not versions.settings:
            return None
        factors = tuple(Factor(name, None, text) for name, text in versions.settings.items())
        tests = ",".join(dict.fromkeys(test for test, _ in changes_of(versions)))
        return Screening(self.build, (_NEWER, _OLDER), Settings(self.config, factors), {**self.choices, "tests": tests})

    @property
    def first_spec(self) -> ExperimentSpec:
        """Of the two versions."""
        choices = {"suite": "sysbench", **self.choices}
        return make_spec({**profile_defaults(choices), **choices, "targets": [self.older, self.newer]})


def _brings_back(versions: Outcome, ends: Outcome) -> bool:
    """Whether all settings together bring enough of any change back."""
    changes = changes_of(versions)
    return any(-back / changes[change] >= REGAINED for change, back in changes_of(ends).items() if change in changes)
