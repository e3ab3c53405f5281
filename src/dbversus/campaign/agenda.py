"""What a campaign asks, and what it measures next: decided from what was asked and what was found so far, and nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from msgspec import Struct, field

from dbversus.experiment.asked.spec import ExperimentSpec
from dbversus.results.records import Failure, of_type
from dbversus.results.stored import Results
from dbversus.stats.metrics import metric_named
from dbversus.stats.model import Finding, Verdict

HERE = "."
"""Name of the experiment of a campaign that has only one, and has it in its own folder."""


class Found(Struct, frozen=True, omit_defaults=True):
    """What an experiment says of one test, target and metric; ratios are target/base, as in `stats.model.Finding`.

    `target`: its place among those of the experiment, 1 for the first after the base.
    """

    test: str
    target: int
    metric: str
    verdict: Verdict
    blocks: int
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    block_sd: float | None = None

    @property
    def higher_is_better(self) -> bool:
        return metric_named(self.metric).higher_is_better


class Outcome(Struct, frozen=True, omit_defaults=True):
    """All that an agenda learns of a finished experiment: its targets as asked, what was found, and who was `lost` and why.

    `settings`: of two versions, those of the newer one that can be put back, and the text of a target that does so.
    """

    ended: str
    targets: tuple[str, ...] = ()
    found: tuple[Found, ...] = ()
    lost: dict[int, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Planned:
    """An experiment to come: its name, which is that of its folder in the campaign's, and why it is measured."""

    name: str
    spec: ExperimentSpec
    why: str


@dataclass(frozen=True)
class Step:
    """Experiments to measure one after another; then the agenda is asked again.

    `then` says what may follow, `then_s` about how many seconds that takes.
    """

    experiments: tuple[Planned, ...]
    then: str = ""
    then_s: float = 0.0


@dataclass(frozen=True)
class End:
    reason: str


class Agenda(Struct, frozen=True, tag_field="kind"):
    """What was asked. A kind of campaign is a subclass, with its name as `tag`; what it holds is kept in the journal."""

    @property
    def title(self) -> str:
        """What the campaign is, in a few words."""
        raise NotImplementedError

    def within(self, directory: Path) -> "Agenda":
        """As it is for a campaign in that folder."""
        return self

    def next(self, outcomes: Mapping[str, Outcome]) -> Step | End:
        """`outcomes`: of finished experiments, by name. Equal ones give an equal step, so that a lost decision is made again."""
        raise NotImplementedError

    def outcome(self, results: Results) -> Outcome:
        """What it needs to know of a finished experiment."""
        raise NotImplementedError


def verdicts_of(results: Results) -> Outcome:
    """All findings on the judged metrics, judged anew, and the targets that are out, each by its place."""
    from dbversus.stats.judge import judge  # statistics take seconds to import

    place = {target.label: number for number, target in enumerate(results.targets)}
    names = {target.name: number for number, target in enumerate(results.targets)}
    found = tuple(found_of(one, place[one.target]) for one in judge(results) if one.judged)
    failures = of_type(results.records, Failure)
    lost = {names[one.target]: one.message for one in failures if one.final and one.target in names}
    return Outcome(results.finished or "", tuple(results.header.spec["targets"]), found, lost)


def found_of(one: Finding, place: int) -> Found:
    """What is kept of a finding."""
    return Found(one.test, place, one.metric, one.verdict, one.blocks, one.ratio, one.low, one.high, one.block_sd)
