"""Latency histograms of all operations of the counted rows, errors with examples, and what the engine could not account."""

from msgspec import convert

from dbversus.experiment.observe.observer import Observer
from dbversus.experiment.rig.engine import Reply
from dbversus.results.records import Latency as LatencyRecord
from dbversus.results.records.roles import RoleTimes


class Latency(Observer):
    def rows_told(self, end: Reply) -> None:
        if not end.get("done"):
            return
        rig = self.scene.rig
        measured = rig.measured(self.scene.case)
        for words in end.get("accounting_notes", ()):
            rig.remark(words)
        hdr = {name: text for name, text in end.get("latency", {}).items() if name in measured}
        roles = {name: convert(of_roles, dict[str, RoleTimes]) for name, of_roles in end.get("roles", {}).items()}
        roles = {name: of_roles for name, of_roles in roles.items() if name in measured}
        rig.note(LatencyRecord(*self.scene.place, hdr, end.get("error_examples", {}), roles or None))
