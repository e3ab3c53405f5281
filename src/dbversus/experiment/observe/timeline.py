"""What happens second by second in tests that last, and how far a step has come."""

from collections import defaultdict
from typing import Any

import msgspec

from dbversus.experiment.observe.observer import Observer
from dbversus.experiment.rig.engine import Reply
from dbversus.results.records import Seconds, Series


class Timeline(Observer):
    """Its record is of rows that came to an end: work that was broken off is done anew."""

    def __init__(self, *of_observer: Any):
        super().__init__(*of_observer)
        self._seconds: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        self._begin: dict[str, int] = {}

    def rows_begin(self) -> None:
        """The engine counts seconds from 0 on again."""
        self._begin = {name: seconds[-1]["second"] + 1 for name, seconds in self._seconds.items()}

    def rows_told(self, end: Reply) -> None:
        told = end.get("series", ())
        for second in told:
            name = second["target"]
            self._seconds[name].append({**second, "second": second["second"] + self._begin.get(name, 0)})
        if told:
            self._show_progress()

    def end(self) -> None:
        if self._seconds:
            found = {name: _columns(seconds) for name, seconds in self._seconds.items()}
            self.scene.rig.note(Series(*self.scene.place, found, **self.scene.rig.tag))

    def _show_progress(self) -> None:
        """Of work that is done in slices: all targets' together, and how long the rest takes at this rate."""
        rig, case = self.scene.rig, self.scene.case
        plan = rig.progress.plans.get(rig.shared(case))
        if plan is None or "slice_ms" not in plan.slot:
            return
        names = rig.measured(case)
        share = sum(second["ops"] for name in names for second in self._seconds[name]) / (plan.slot["ops"] * len(names))
        driven_s = sum(second["elapsed_ns"] for name in names for second in self._seconds[name]) / 1e9
        left = f", about {driven_s * (1 - share) / share:.0f} s left" if 0 < share < 1 else ""
        rig.display.doing(f"block {self.scene.block + 1}: {case.name}, {share:.0%} done{left}")


def _columns(seconds: list[dict[str, Any]]) -> Seconds:
    plain = [name for name in Seconds.__struct_fields__ if name != "roles"]
    return msgspec.convert({name: [second[name] for second in seconds] for name in plain}, Seconds)
