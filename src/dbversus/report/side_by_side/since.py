"""What changed between two takes of one experiment, as the few sentences that a post has for it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import log, log1p

from dbversus.report.code_layout import layout_note
from dbversus.report.sections.contrast import Line
from dbversus.report.side_by_side.alike import check_alike, renamed
from dbversus.report.side_by_side.gather import side_by_side
from dbversus.report.side_by_side.model import Facts, SideBySide
from dbversus.report.words import SHORT_TITLES, listing, ratio
from dbversus.results.stored import Results
from dbversus.stats.model import CHANGES, SPOILT, WITHIN, Finding, Verdict
from dbversus.stats.values.imported import MACHINE_CPU, MACHINE_CPU_SHARE
from dbversus.units import count_of

MOST_TESTS = 10
"""That are told, of those that changed most."""
_NOW = "this take"
_TITLES = SHORT_TITLES | dict.fromkeys((MACHINE_CPU_SHARE.name, MACHINE_CPU.name), "CPU/op of machine and client")


def since(now: Results, earlier: Results, renames: Sequence[str] = ()) -> tuple[str, ...]:
    """`renames`: `OLD=NEW`, for targets of the earlier take that had other labels.

    Raises UsageError when the two cannot be compared.
    """
    (before,) = renamed([earlier], renames)
    check_alike([now, before])
    found = side_by_side([before, now], [_name(earlier), _NOW])
    said = list(_shown(found)) if found.findings else list(_moved(found))
    layout = layout_note(now.header.targets)
    return (_against(found.experiments[0]), *said, *(note for note in found.notes if note != layout))


def _name(earlier: Results) -> str:
    name = earlier.directory.resolve().name
    return name if name != _NOW else f"the earlier {name}"


def _against(facts: Facts) -> str:
    known = ["imported" if facts.imported else count_of(facts.blocks, "block")]
    known += [f"begun {facts.measured}"] if facts.measured and not facts.imported else []
    return f"The earlier take is {facts.name} ({', '.join(known)})."


def _shown(found: SideBySide) -> Iterator[str]:
    """Tests whose ratio is shown to be another one than before, and how many are not."""
    changed = [
        (line, finding)
        for line in found.lines
        for of_metric in line.interactions.values()
        for finding in of_metric.values()
        if finding.verdict in CHANGES
    ]
    yield from _told([(line, one.metric, one.ratio or 1.0) for line, one in changed], found, _ways(changed))
    counts = Counter(finding.verdict for finding in found.findings)
    same, every = sum(counts[verdict] for verdict in WITHIN), len(found.findings)
    left = every - same - len(changed)
    counted = listing(
        [
            f"{f'{count:,} are' if count > 1 else '1 is' if count else 'none is'} {words}"
            for count, words in (
                (len(changed), "shown to have changed"),
                (same, "the same within the margin"),
                (left, "undecided"),
            )
        ]
    )
    yield f"Of {count_of(every, 'ratio')} that both takes have with intervals, {counted}."


def _ways(changed: Sequence[tuple[Line[str], Finding]]) -> dict[tuple[str, str, str], str]:
    """(test, target, metric) → better or worse."""
    return {
        (line.test, line.target, one.metric): "better" if one.verdict is Verdict.IMPROVEMENT else "worse"
        for line, one in changed
    }


def _moved(found: SideBySide) -> Iterator[str]:
    """Ratios without intervals that are others than before by more than the margin."""
    moved = [
        (line, metric, change)
        for line in found.lines
        for metric, change, margin in _changes(line, found.levels)
        if abs(log(change)) > log1p(margin)
    ]
    yield from _told(moved, found, {})
    told = "ratio has" if len(moved) == 1 else "ratios have"
    yield f"{len(moved):,} {told} changed by more than the margin, without intervals: nothing tells how much of that is chance."


def _changes(line: Line[str], names: Sequence[str]) -> Iterator[tuple[str, float, float]]:
    """Metric, the ratio of now over that of before, and the margin."""
    before, now = (line.comparisons.get(name) for name in names)
    if before is None or now is None or {before.verdict, now.verdict} & set(SPOILT):
        return
    for metric, one in now.findings.items():
        other = before.findings.get(metric)
        if metric in _TITLES and other and other.ratio and one.ratio:
            yield metric, one.ratio / other.ratio, one.margin


def _told(
    changes: Sequence[tuple[Line[str], str, float]], found: SideBySide, ways: dict[tuple[str, str, str], str]
) -> Iterator[str]:
    """`scan on new: throughput was 0.87 of old and is 1.02: better.`, those that changed most first."""
    ranked = sorted(changes, key=lambda change: -abs(log(change[2])))
    for line, metric, _ in ranked[:MOST_TESTS]:
        before, now = (ratio(line.comparisons[name].findings[metric].ratio) for name in found.levels)
        way = ways.get((line.test, line.target, metric))
        what = f"{line.test} on {line.target}: {_TITLES[metric]} was {before} of {found.base} and is {now}"
        yield f"{what}: {way}." if way else f"{what}."
    if left := [line.test for line, _, _ in ranked[MOST_TESTS:]]:
        yield f"{count_of(len(left), 'more ratio')} changed less than these: {listing(list(dict.fromkeys(left)))}."
