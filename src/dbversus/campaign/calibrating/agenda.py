"""The campaign that a calibration is: a single experiment, in the campaign's own folder."""

from collections.abc import Mapping
from typing import Any

from dbversus.campaign.agenda import HERE, Agenda, End, Outcome, Planned, Step
from dbversus.campaign.calibrating.kinds import Kind
from dbversus.campaign.calibrating.plan import calibration_spec
from dbversus.results.stored import Results


class Calibration(Agenda, frozen=True, tag="calibration"):
    """`choices`: over those of the profile; `suites`: how many virtual ones evaluate it."""

    target: str
    quick: bool
    blocks: int | None
    inject: Kind
    choices: dict[str, Any]
    suites: int

    @property
    def title(self) -> str:
        return f"calibration of {self.target}"

    def next(self, outcomes: Mapping[str, Outcome]) -> Step | End:
        if outcomes:
            return End("measured")
        spec = calibration_spec(self.target, self.quick, self.blocks, self.inject, self.choices)
        return Step((Planned(HERE, spec, "copies of one build show what differs without a cause"),))

    def outcome(self, results: Results) -> Outcome:
        return Outcome(results.finished or "")
