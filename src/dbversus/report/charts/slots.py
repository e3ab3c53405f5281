"""A metric of one test against the base: every slot, the mean of each block, and the verdict's interval over all of them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from dbversus.report.charts import ticks
from dbversus.report.charts.axes import LEFT, RIGHT, TOP, Axis, across, upwards, x_axis, y_axis
from dbversus.report.charts.drawing import Point, chart, dots, kind, series, shared_at
from dbversus.report.model import TestPart
from dbversus.report.words import SHORT_TITLES, typographic
from dbversus.stats.metrics import Floats, metric_named
from dbversus.stats.model import Finding, Verdict
from dbversus.units import count_of

_SHOWN_PERCENT = (25, 75)
"""The axis holds all blocks, and so much of the slots: what a single one shows tells nothing. Those beyond are counted."""
_ROOM = 0.8
"""Of a block's column, for the slots of all targets side by side."""
MOST_DOTS = 1000
"""Of a target: what the longest usual run has. More would be a smear, and make the page heavy."""
_NO_RATIO = (Verdict.WRONG_RESULT, Verdict.FAILED)


@dataclass(frozen=True)
class _Candidate:
    """`index` among all targets; `logs` of slots by block, and of whole `blocks`; its strip of a block's column begins at `start`
    and is `room` wide."""

    index: int
    name: str
    logs: Mapping[int, Sequence[float]]
    blocks: Mapping[int, float]
    finding: Finding | None
    start: float
    room: float

    def in_strip(self, column: int, share: float = 0.5) -> float:
        return column + self.start + self.room * share

    @cached_property
    def slots(self) -> tuple[Floats, Floats]:
        """Column and difference of each slot, in order."""
        columns = [
            block + self.start + self.room * (np.arange(len(logs)) + 0.5) / len(logs)
            for block, logs in self.logs.items()
        ]
        return np.concatenate(columns), np.expm1(np.concatenate([*map(np.array, self.logs.values())])) * 100

    @property
    def means(self) -> dict[int, float]:
        """Difference of each block."""
        return {block: _percent(log) for block, log in self.blocks.items()}

    @property
    def over_all(self) -> tuple[float, ...]:
        """Difference, and its bounds where there are some; empty where there is no ratio."""
        if self.finding is None or not self.finding.ratio:
            return ()
        values = (self.finding.ratio, self.finding.low, self.finding.high)
        return tuple(value * 100 - 100 for value in values if value is not None)


def slot_chart(test: TestPart, metric: str, labels: Sequence[str]) -> Markup:
    """Empty where the metric was not measured. `labels` of all targets, in their order."""
    candidates = _candidates(test, metric, labels)
    blocks = {block for candidate in candidates for block in candidate.logs}
    if not blocks:
        return Markup("")
    first, last = min(blocks), max(blocks)
    margin = next((each.finding.margin for each in candidates if each.finding), metric_named(metric).margin)
    x = across(first - 0.5, last + 1.5)
    y = _y_axis_for(candidates, margin)
    shapes = [_band(y, margin), _x_labels(x, first, last), _y_labels(y), _line("one", y.at(0)), _beyond(candidates, y)]
    points = [_points(each, x, y, last + 1) for each in candidates]
    at = shared_at(points)
    for each, own in zip(candidates, points, strict=True):
        shapes += [
            _slots(each, x, y),
            _over_all(each, x.at(each.in_strip(last + 1)), y),
            series("marked", each.index, each.name, own, at=not at),
        ]
    return chart(_spoken(metric, candidates), "{at}: {say} %", shapes, at=at)


def _candidates(test: TestPart, metric: str, labels: Sequence[str]) -> list[_Candidate]:
    found, room = [], _ROOM / len(test.slots)
    for place, of_target in enumerate(test.slots):
        comparison = next(item for item in test.comparisons if item.target == of_target.target)
        logs = {block: of_block for block, of_block in of_target.ratios[metric].items() if of_block}
        finding = None if comparison.verdict in _NO_RATIO else comparison.findings.get(metric)
        start = place * room - _ROOM / 2
        found.append(
            _Candidate(
                labels.index(of_target.target),
                of_target.target,
                logs,
                of_target.blocks.get(metric, {}),
                finding,
                start=start,
                room=room,
            )
        )
    return found


def _percent(log: float) -> float:
    return math.expm1(log) * 100


def _y_axis_for(candidates: Sequence[_Candidate], margin: float) -> Axis:
    usual = np.percentile(np.concatenate([each.slots[1] for each in candidates]), _SHOWN_PERCENT)
    means = [value for each in candidates for value in each.means.values()]
    shown = [*map(float, usual), *means, *(value for each in candidates for value in each.over_all[:1])]
    lowest, highest = min(-margin * 100, *shown), max(margin * 100, *shown)
    room = (highest - lowest) * 0.15
    return upwards(lowest - room, highest + room)


def _slots(candidate: _Candidate, x: Axis, y: Axis) -> str:
    columns, values = candidate.slots
    drawn = _held(values, y)
    drawn[np.arange(len(drawn)) % _step(candidate) != 0] = False
    return dots(candidate.index, x.places(columns[drawn]), y.places(values[drawn]))


def _step(candidate: _Candidate) -> int:
    """One of how many slots is drawn."""
    return -(-len(candidate.slots[0]) // MOST_DOTS)


def _held(values: Floats, axis: Axis) -> npt.NDArray[np.bool_]:
    return (values >= axis.low) & (values <= axis.high)


def _points(candidate: _Candidate, x: Axis, y: Axis, over_all: int) -> list[Point]:
    """The mean of each block, and the ratio over all of them."""
    points: list[Point] = [
        (x.at(candidate.in_strip(block)), y.at(mean), f"block {block + 1}", _signed(mean))
        for block, mean in candidate.means.items()
    ]
    if candidate.over_all:
        value = candidate.over_all[0]
        points.append((x.at(candidate.in_strip(over_all)), y.at(value), "all blocks", _said(candidate)))
    return points


def _over_all(candidate: _Candidate, x: float, y: Axis) -> str:
    """Whiskers of the ratio at the right, and its line through all blocks."""
    if not candidate.over_all:
        return ""
    (value, *bounds), target = candidate.over_all, kind(candidate.index)
    line = _line(f"ratio {target}", y.at(value))
    if not bounds:
        return line
    caps = "".join(_cap(x, y, bound) for bound in bounds)
    return f'{line}<path class="whisker {target}" d="M{x:g} {y.held(min(bounds)):g}V{y.held(max(bounds)):g}{caps}"/>'


def _cap(x: float, y: Axis, bound: float) -> str:
    """The end of a whisker; an arrow where it goes on beyond the axis."""
    if y.holds(bound):
        return f"M{x - 3:g} {y.at(bound):g}h6"
    into = 4 if bound > y.high else -4
    return f"M{x - 3:g} {y.held(bound) + into:g}l3 {-into}l3 {into}"


def _said(candidate: _Candidate) -> str:
    """`+2.90 [+0.53, +5.36]`"""
    value, *bounds = map(_signed, candidate.over_all)
    return f"{value} [{', '.join(bounds)}]" if bounds else value


def _signed(value: float) -> str:
    return typographic(f"{value:+.2f}")


def _line(how: str, y: float) -> str:
    return f'<path class="{how}" d="M{LEFT} {y:g}H{RIGHT}"/>'


def _band(y: Axis, margin: float) -> str:
    """Equal ratios up and down."""
    top, bottom = y.held(margin * 100), y.held(100 / (1 + margin) - 100)
    return f'<rect class="band" x="{LEFT}" y="{top:g}" width="{RIGHT - LEFT}" height="{bottom - top:g}"/>'


def _x_labels(x: Axis, first: int, last: int) -> str:
    labels = [(float(block), str(block + 1)) for block in range(first, last + 1)]
    if first == last:  # no axis has fewer than three labels
        labels = [(first - _ROOM / 2, "first slot"), (first + _ROOM / 2, "last slot")]
    return x_axis(x, [*labels, (last + 1.0, "all")], "block", grid=False)


def _y_labels(y: Axis) -> str:
    values = ticks.linear(y.low, y.high)
    return y_axis(y, ((value, typographic(f"{value:,g}")) for value in values), "difference from the base, %")


def _beyond(candidates: Sequence[_Candidate], y: Axis) -> str:
    outside = sum(int(np.sum(~_held(each.slots[1], y))) for each in candidates)
    step = max(map(_step, candidates))
    said = f"{count_of(outside, 'slot')} beyond" if outside else ""
    said += f"{', ' if said else ''}1 of {step} drawn" if step > 1 else ""
    return f'<text class="beyond" x="{RIGHT}" y="{TOP - 10}">{said}</text>' if said else ""


def _spoken(metric: str, candidates: Sequence[_Candidate]) -> str:
    """The chart in a sentence, for those who do not see it."""
    parts = [f"{each.name}: {_said(each)} %" for each in candidates if each.over_all]
    return f"{SHORT_TITLES[metric]}, difference from the base by block. {'; '.join(parts)}".strip()
