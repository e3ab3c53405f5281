"""Throughput against CPU per operation: whether a test is slower because its statements cost more, or because they wait."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dbversus.report.model import Assessment
from dbversus.report.words import change, listing
from dbversus.stats.comparison import Comparison
from dbversus.stats.metrics import CPU, IO_BYTES, THROUGHPUT
from dbversus.stats.model import CHANGES, SPOILT, Finding, Verdict
from dbversus.stats.values.imported import MACHINE_CPU, MACHINE_CPU_SHARE
from dbversus.units import count_of

_CPU_METRICS = {
    CPU: "CPU/op",
    MACHINE_CPU.name: "CPU/op of the machine",
    MACHINE_CPU_SHARE.name: "CPU/op of the machine",
}
"""The server's own, or what an import has of the whole machine."""

SLOWER_CPU = "slower by CPU"
SLOWER_CPU_WAIT = "slower by CPU and by waiting"
SLOWER_CPU_IO = "slower by CPU and by IO"
SLOWER_IO = "slower by IO"
SLOWER_WAIT = "slower by waiting"
FASTER_CPU = "faster by CPU"
FASTER_CPU_WAIT = "faster by CPU and by less waiting"
FASTER_IO = "faster by less IO"
FASTER_WAIT = "faster by less waiting"
MORE_CPU = "more CPU, not shown to be slower"
LESS_CPU = "less CPU, not shown to be faster"
SAME = "not shown to differ"
REGIONS = (
    SLOWER_CPU,
    SLOWER_CPU_WAIT,
    SLOWER_CPU_IO,
    SLOWER_IO,
    SLOWER_WAIT,
    MORE_CPU,
    FASTER_CPU,
    FASTER_CPU_WAIT,
    FASTER_IO,
    FASTER_WAIT,
    LESS_CPU,
    SAME,
)
"""In the order in which reports tell of them."""
_IS, _TAKES = ("is", "are"), ("takes", "take")
_VERBS = {MORE_CPU: _TAKES, LESS_CPU: _TAKES}
NOTE = (
    "A test is called slower or faster where its verdict on throughput says so, and by CPU, by IO or by waiting as those on CPU "
    "and IO per operation say, small changes aside; of runs without blocks, where the ratio is beyond the margin."
)


@dataclass(frozen=True)
class Point:
    """One test: its findings, and what they say together."""

    test: str
    throughput: Finding
    cpu: Finding
    io: Finding | None
    region: str

    @property
    def slower(self) -> bool:
        return self.region.startswith("slower")

    @property
    def faster(self) -> bool:
        return self.region.startswith("faster")


@dataclass(frozen=True)
class Plane:
    """All tests of one target that have both ratios; `left_out`: how many have not, or do not count."""

    target: str
    cpu_title: str
    points: tuple[Point, ...]
    left_out: int


def planes(assessment: Assessment) -> list[Plane]:
    """One for each target but the base that has a test with both ratios."""
    made = [_plane(assessment, facts.target.label) for facts in assessment.candidates]
    return [plane for plane in made if plane.points]


def _plane(assessment: Assessment, label: str) -> Plane:
    own = [item for item in assessment.comparisons if item.target == label]
    points = [point for item in own if (point := _point(item))]
    titles = [_CPU_METRICS[point.cpu.metric] for point in points] or [_CPU_METRICS[CPU]]
    return Plane(label, titles[0], tuple(points), len(own) - len(points))


def _point(item: Comparison) -> Point | None:
    throughput = item.findings.get(THROUGHPUT)
    cpu = next((found for name in _CPU_METRICS if (found := item.findings.get(name)) and found.ratio), None)
    if item.verdict in SPOILT or throughput is None or not throughput.ratio or cpu is None:
        return None
    io = item.findings.get(IO_BYTES)
    return Point(item.test, throughput, cpu, io, region_of(throughput, cpu, io))


def region_of(throughput: Finding, cpu: Finding, io: Finding | None) -> str:
    """From what is shown: the time of an operation is CPU of the server and all else, which is called waiting.

    Time per operation is 1 ÷ throughput. Where it grows by more than the CPU does, the rest must have grown by still more: a
    mean of two lies between them. Where it grows by less, nothing is said of the rest.
    """
    speed, cost, more_io = _direction(throughput), _direction(cpu), _direction(io)
    time_ratio, cpu_ratio = 1 / (throughput.ratio or 1), cpu.ratio or 1
    room = 1 + throughput.margin
    if speed == -1:
        if cost == -1:
            if more_io == -1:
                return SLOWER_CPU_IO
            return SLOWER_CPU_WAIT if time_ratio > cpu_ratio * room else SLOWER_CPU
        return SLOWER_IO if more_io == -1 else SLOWER_WAIT
    if speed == 1:
        if cost == 1:
            return FASTER_CPU_WAIT if time_ratio * room < cpu_ratio else FASTER_CPU
        return FASTER_IO if more_io == 1 else FASTER_WAIT
    return {-1: MORE_CPU, 0: SAME, 1: LESS_CPU}[cost]


def _direction(finding: Finding | None) -> int:
    """-1: shown to be worse, 1: better; of runs without blocks, worse or better by more than the margin."""
    if finding is None or not finding.ratio:
        return 0
    if finding.counted in CHANGES:
        return -1 if finding.is_worse else 1
    beyond = max(finding.ratio, 1 / finding.ratio) > 1 + finding.margin
    if finding.verdict is Verdict.NOT_REPLICATED and beyond:
        return 1 if (finding.ratio > 1) == (finding.metric == THROUGHPUT) else -1
    return 0


def sentences(plane: Plane) -> Iterator[str]:
    """`2 tests are slower by waiting: update-index (throughput −23 %, CPU/op +8.1 %) and …`, region by region."""
    for region in REGIONS:
        found = sorted((point for point in plane.points if point.region == region), key=distance, reverse=True)
        if found:
            names = "" if region == SAME else f": {listing([_named(point, plane.cpu_title) for point in found])}"
            yield f"{count_of(len(found), 'test')} {_VERBS.get(region, _IS)[len(found) > 1]} {region}{names}."
    if plane.left_out:
        has = "has no ratio of both, or does" if plane.left_out == 1 else "have no ratio of both, or do"
        yield f"{count_of(plane.left_out, 'test')} {has} not count."


def _named(point: Point, cpu_title: str) -> str:
    said = [f"throughput {change(point.throughput.ratio)}", f"{cpu_title} {change(point.cpu.ratio)}"]
    if point.io and point.region in (SLOWER_IO, SLOWER_CPU_IO, FASTER_IO):
        said.append(f"IO/op {change(point.io.ratio)}")
    return f"{point.test} ({', '.join(said)})"


def distance(point: Point) -> float:
    """How far from the middle of the plane, where both ratios are 1."""
    return max(_factor(point.throughput), _factor(point.cpu))


def _factor(finding: Finding) -> float:
    return max(finding.ratio, 1 / finding.ratio) if finding.ratio else 1.0


def outliers(plane: Plane, most: int) -> Sequence[Point]:
    """The furthest, of those that are shown to differ."""
    found = sorted((point for point in plane.points if point.region != SAME), key=distance, reverse=True)
    return found[:most]
