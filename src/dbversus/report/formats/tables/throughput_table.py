"""Throughput for the terminal, in the forms of the reference (now, and January 2021), and for pipes."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dbversus.report.formats.layouts.cells import line, rate
from dbversus.report.parts.experiment.efficiency import UNKNOWN
from dbversus.report.parts.overview.throughput import ThroughputLine, in_groups
from dbversus.report.words import rounded
from dbversus.stats.means import Spread, spread_of

COLUMNS = [
    "test",
    "target",
    "ops_per_s",
    *Spread._fields,
    "blocks",
    "ratio",
    *(f"ratio_{end}" for end in Spread._fields),
    "verdict",
]
NOTE = (
    "Operations per second (load: rows), means over blocks; ratios are those of the verdicts. Intervals: --format csv, or "
    "--table findings."
)

Lines = Sequence[ThroughputLine]
Cell = Callable[[ThroughputLine], str]


def flat(lines: Lines) -> tuple[list[str], list[tuple[Any, ...]]]:
    """A row per test and target; `verdict` is that on throughput."""
    return COLUMNS, [
        (
            one.case,
            one.target,
            *map(rounded, (one.rate.value, *spread_of(one.rate))),
            one.rate.n,
            *map(rounded, (one.ratio, *(spread_of(one.finding) if one.finding else Spread()))),
            None if one.finding is None else str(one.finding.verdict),
        )
        for one in lines
    ]


def now(lines: Lines, labels: Sequence[str]) -> str:
    """Groups of tests, a line for each test, its name last, and a column for each target; then the same against the base."""
    base, *others = labels
    parts = ["\n".join(_grouped(lines, labels, _rate))]
    if others:
        parts.append("\n".join([f"Relative to: {base}", *_grouped(lines, others, _ratio)]))
    return "\n\n".join([*parts, NOTE])


def _rate(one: ThroughputLine) -> str:
    return rate(one.rate.value)


def _ratio(one: ThroughputLine) -> str:
    return UNKNOWN if one.ratio is None else f"{one.ratio:.2f}"


def _grouped(lines: Lines, labels: Sequence[str], cell: Cell) -> Iterator[str]:
    names = [f"col-{place}" for place in range(1, len(labels) + 1)]
    yield from (f"{name} : {label}" for name, label in zip(names, labels, strict=True))
    for group, own in in_groups(lines).items():
        yield from ("", f"- {group}", line(names))
        for case, of_case in _by(own, lambda one: one.case).items():
            cells = {one.target: cell(one) for one in of_case}
            yield line([*(cells.get(label, UNKNOWN) for label in labels), case])


def _by(lines: Lines, key: Cell) -> dict[str, list[ThroughputLine]]:
    found: dict[str, list[ThroughputLine]] = {}
    for one in lines:
        found.setdefault(key(one), []).append(one)
    return found


def january_2021(lines: Lines, labels: Sequence[str]) -> str:
    """A block for each test, a line for each target, a column for each number of clients; then the same against the base."""
    base, *others = labels
    parts = ["\n\n".join(_blocks(lines, labels, _rate))]
    if others:
        parts.append("\n\n".join([f"--- relative to {base}", *_blocks(lines, others, _ratio)]))
    return "\n\n".join([*parts, NOTE])


def _blocks(lines: Lines, labels: Sequence[str], cell: Cell) -> Iterator[str]:
    columns = sorted({one.clients for one in lines if one.clients is not None})
    for test, of_test in _by(lines, lambda one: one.test).items():
        cells = {(one.target, one.clients): cell(one) for one in of_test}
        shown: list[int | None] = [None] if any(one.clients is None for one in of_test) else [*columns]
        heading = test if shown == [None] else f"{test}@{','.join(map(str, columns))}"
        rows = [line([*(cells.get((label, clients), UNKNOWN) for clients in shown), label]) for label in labels]
        yield "\n".join([heading, *rows])
