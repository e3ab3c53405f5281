"""The campaign that measures why tests of an experiment changed: steps, each of which decides its own experiments.

A step is a class of steps.py, one line in STEPS. It is asked for what comes next until it has nothing more. Then the next step is
asked, which knows what the one before has found.
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from dbversus.campaign.agenda import Agenda, End, Outcome, Planned, Step, verdicts_of
from dbversus.campaign.finding.asked import Change, Experiment
from dbversus.campaign.finding.steps import STEPS
from dbversus.experiment.folder import read_folder
from dbversus.experiment.plan.estimate import expected_s
from dbversus.results.stored import Results

MEASURED_ALL = "measured"


class Finding(Agenda, frozen=True, tag="causes"):
    """`steps`: names in the order in which they are done; `changes`: what is to be explained, in the experiment's own words.

    `folder`: of the experiment, where the campaign is now; it is not kept in the journal, so that the two can be moved together.
    """

    steps: tuple[str, ...]
    changes: tuple[Change, ...]
    folder: str = ""

    @property
    def title(self) -> str:
        tests = list(dict.fromkeys(change.test for change in self.changes))
        return f"causes of what changed in {', '.join(tests)}"

    def within(self, directory: Path) -> "Finding":
        """As it is for a campaign in that folder, which is in `measured` of the experiment's."""
        return msgspec.structs.replace(self, folder=str(directory.absolute().parent.parent))

    def next(self, outcomes: Mapping[str, Outcome]) -> Step | End:
        planned, step = self._planned(outcomes)
        if not planned:
            return End(MEASURED_ALL)
        return Step(planned, *self._after(step, outcomes))

    @property
    def _experiment(self) -> Experiment:
        return Experiment(read_folder(Path(self.folder)), self.changes)

    def _after(self, step: str, outcomes: Mapping[str, Outcome]) -> tuple[str, float]:
        """What may follow, and how many seconds that takes where nothing is found before."""
        after = self.steps[self.steps.index(step) + 1 :]
        planned = [one for name in after for one in STEPS[name].next(self._experiment, outcomes)]
        names = " and ".join(one.name for one in planned)
        then = f"{names}, as far as the cause is not found before" if names else ""
        return then, sum(expected_s(one.spec) for one in planned)

    def _planned(self, outcomes: Mapping[str, Outcome]) -> tuple[tuple[Planned, ...], str]:
        experiment = self._experiment
        for name in self.steps:
            planned = STEPS[name].next(experiment, outcomes)
            if new := tuple(one for one in planned if one.name not in outcomes):
                return new, name
        return (), ""

    def outcome(self, results: Results) -> Outcome:
        return verdicts_of(results)
