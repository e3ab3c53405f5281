"""Latency histograms of all operations of the counted rows, errors with examples, and what the engine could not account."""

from msgspec import convert

from dbversus.experiment.observe.observer import Observer
from dbversus.experiment.plan.cases import Case
from dbversus.experiment.rig.engine import Reply
from dbversus.experiment.rig.forms import by_form
from dbversus.results.records import Latency as LatencyRecord
from dbversus.results.records.roles import RoleTimes


class Latency(Observer):
    def rows_told(self, end: Reply) -> None:
        if not end.get("done"):
            return
        for words in end.get("accounting_notes", ()):
            self.scene.rig.remark(words)
        for case, own in by_form(self.scene.case, end):
            self._note(case, own)

    def _note(self, case: Case, end: Reply) -> None:
        rig = self.scene.rig
        measured = rig.measured(case)
        hdr = {name: text for name, text in end.get("latency", {}).items() if name in measured}
        roles = {name: convert(of_roles, dict[str, RoleTimes]) for name, of_roles in end.get("roles", {}).items()}
        roles = {name: of_roles for name, of_roles in roles.items() if name in measured}
        examples = end.get("error_examples", {})
        rig.note(LatencyRecord(self.scene.block, case.name, hdr, examples, roles or None))
