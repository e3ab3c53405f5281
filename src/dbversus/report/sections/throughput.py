"""Throughput of every test on every target, and its ratio to the base, in the forms of the reference and for programs."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from dbversus.report.figures import block_figures, estimate
from dbversus.report.judged import Judged
from dbversus.report.model import Estimate
from dbversus.report.parts.each_test.groups import GROUPS, group_of
from dbversus.report.parts.experiment.efficiency import UNKNOWN, load_per_row, relative
from dbversus.report.parts.layouts.cells import line as printed_line
from dbversus.report.parts.layouts.cells import rate
from dbversus.report.section import Section
from dbversus.report.table import Cell, Column, Form, Row, Table, figure_cell, ratio_cell
from dbversus.report.texts import verbatim
from dbversus.results.schema import is_load
from dbversus.results.stored import Results
from dbversus.stats.across.clients import case_of
from dbversus.stats.metrics import LOAD_TEST, THROUGHPUT
from dbversus.stats.model import Finding

LACKS = "has no test that was measured; --table throughput needs one."
NOTE = (
    "Operations per second (load: rows), means over blocks; ratios are those of the verdicts. Intervals: --format csv, or "
    "--table findings."
)

_COLUMNS = (
    Column("test"),
    Column("target"),
    Column("rate", Form.NUMBER, "1/s", spread=True, name="ops_per_s"),
    Column("blocks", Form.COUNT),
    Column("ratio", Form.RATIO, spread=True, name="ratio", ends="ratio_"),
    Column("verdict"),
)

Place = tuple[str, str]
"""Case and target label."""


@dataclass(frozen=True)
class ThroughputLine:
    """One test on one target: `rate` in operations per second, of the load in rows per second.

    `case`: the test with its number of clients, where there are several; `test` and `clients`: the two apart. `ratio`: that of
    the verdict; of what has none, as a load, that of the rates. The base has neither ratio nor finding.
    """

    case: str
    test: str
    clients: int | None
    group: str
    target: str
    rate: Estimate
    ratio: float | None
    finding: Finding | None


Lines = Sequence[ThroughputLine]
CellOf = Callable[[ThroughputLine], str]


def asked(judged: Judged) -> Section | None:
    return shown_as(judged, now)


def shown_as(judged: Judged, text: Callable[[Lines, Sequence[str]], str]) -> Section | None:
    """The same rows for programs, whatever the form for eyes."""
    lines = throughput(judged.results, judged.findings)
    if not lines:
        return None
    data = Table(_COLUMNS, [_row(one) for one in lines])
    return Section(title="Throughput", data=[data], print_on=verbatim(text(lines, judged.labels)))


def _row(one: ThroughputLine) -> Row:
    """`verdict` is that on throughput; of a load, the ratio is that of the rates."""
    finding = one.finding
    ratio = ratio_cell(finding) if finding else Cell(one.ratio)
    return [one.case, one.target, figure_cell(one.rate), one.rate.n, ratio, str(finding.verdict) if finding else None]


def throughput(results: Results, findings: Iterable[Finding]) -> list[ThroughputLine]:
    """In the order of the experiment, the load first; without targets that have no figure."""
    findings = list(findings)
    of_throughput = {(one.test, one.target): one for one in findings if one.metric == THROUGHPUT}
    rates: dict[Place, list[float]] = {
        place: known.get(THROUGHPUT, []) for place, known in block_figures(results, findings).items()
    }
    for label in (target.label for target in results.targets):
        if loaded := load_per_row(results, label):
            rates[LOAD_TEST, label] = [loaded[THROUGHPUT]]
    return [
        line
        for case in dict.fromkeys((LOAD_TEST, *results.tests))
        for target in results.targets
        if (line := _line(results, case, target.label, rates, of_throughput.get((case, target.label))))
    ]


def _line(
    results: Results, case: str, label: str, rates: Mapping[Place, Sequence[float]], finding: Finding | None
) -> ThroughputLine | None:
    values = rates.get((case, label))
    if not values:
        return None
    several = len(results.header.clients or []) > 1
    test, clients = (case_of(case) if several else None) or (case, None)
    group = LOAD_TEST if is_load(case) else group_of(case, results.header)
    of_base = rates.get((case, results.base.label))
    ratio = finding.ratio if finding else None
    if ratio is None and of_base and label != results.base.label:
        ratio = relative(fmean(values), fmean(of_base))
    return ThroughputLine(case, test, clients, group, label, estimate(values), ratio, finding)


def in_groups(lines: Iterable[ThroughputLine]) -> dict[str, list[ThroughputLine]]:
    """The load, the reference's groups in its order, then those of suites."""
    found: dict[str, list[ThroughputLine]] = {group: [] for group in (LOAD_TEST, *GROUPS)}
    for line in lines:
        found.setdefault(line.group, []).append(line)
    return {group: own for group, own in found.items() if own}


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


def _grouped(lines: Lines, labels: Sequence[str], cell: CellOf) -> Iterator[str]:
    names = [f"col-{place}" for place in range(1, len(labels) + 1)]
    yield from (f"{name} : {label}" for name, label in zip(names, labels, strict=True))
    for group, own in in_groups(lines).items():
        yield from ("", f"- {group}", printed_line(names))
        for case, of_case in _by(own, lambda one: one.case).items():
            cells = {one.target: cell(one) for one in of_case}
            yield printed_line([*(cells.get(label, UNKNOWN) for label in labels), case])


def _by(lines: Lines, key: CellOf) -> dict[str, list[ThroughputLine]]:
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


def _blocks(lines: Lines, labels: Sequence[str], cell: CellOf) -> Iterator[str]:
    columns = sorted({one.clients for one in lines if one.clients is not None})
    for test, of_test in _by(lines, lambda one: one.test).items():
        cells = {(one.target, one.clients): cell(one) for one in of_test}
        shown: list[int | None] = [None] if any(one.clients is None for one in of_test) else [*columns]
        heading = test if shown == [None] else f"{test}@{','.join(map(str, columns))}"
        rows = [printed_line([*(cells.get((label, clients), UNKNOWN) for clients in shown), label]) for label in labels]
        yield "\n".join([heading, *rows])
