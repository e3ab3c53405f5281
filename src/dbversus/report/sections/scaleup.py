"""What more clients bring: throughput and CPU per operation against the fewest clients, and verdicts over all their numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from dbversus.report.charts.growth import FEWEST_NUMBERS, growth_chart
from dbversus.report.judged import Judged
from dbversus.report.parts.overview.block_logs import Places, logs_against_base, own_logs
from dbversus.report.section import Chart, Part, Section
from dbversus.report.table import Cell, Column, Form, Mean, Row, Table, ratio_cell
from dbversus.report.words import SHORT_TITLES, SIGNS
from dbversus.results.stored import Results
from dbversus.stats.across.clients import case_of
from dbversus.stats.across.contrast import contrast
from dbversus.stats.comparison import Comparison
from dbversus.stats.headline import headline
from dbversus.stats.judged import judged_metrics
from dbversus.stats.means import CONFIDENCE, Ratio, spread_of
from dbversus.stats.metrics import CPU, THROUGHPUT
from dbversus.stats.model import Metric

LACKS = "has one number of clients; --table scaleup needs several (--clients 1,2,4)."
_KINDS = {"throughput": "throughput", "cpu_per_op": "CPU/op", "throughput_over_base": "throughput over base's"}
"""As programs call them, and as sheets do."""
_OVER_ALL = "Verdicts over all numbers of clients"
_NOTE_OVER_ALL = (
    "Verdicts over all numbers of clients stand on the mean of ln(target/base) over them in each block; "
    "they are a family of their own and change no other verdict."
)

_OF_SHEET = (_NOTE_OVER_ALL, "Geometric means are formulas over all tests of a target.")


@dataclass(frozen=True)
class Line:
    """One test on one target: kind → number of clients → ratio to the fewest; none where nothing was measured.

    `throughput_over_base`: of throughput over that of the base, from same-row pairs; none of the base.
    """

    test: str
    target: str
    ratios: Mapping[str, Mapping[int, Ratio]]

    @property
    def throughput(self) -> Mapping[int, Ratio]:
        return self.ratios["throughput"]


def section(judged: Judged) -> Section | None:
    results = judged.results
    clients = clients_of(results)
    if len(clients) < 2 or not len(results.slots["test"]):
        return None
    lines, pooled, metrics = lines_of(results, clients), judged.over_clients, judged_metrics(results.header)
    first = _clients(clients[0])
    note = (
        f"Ratios are to the same target with {first} [{CONFIDENCE:.0%} interval over blocks]. Numbers of clients are measured "
        "one after the other, so what the host does meanwhile is in these intervals. They describe; none is a verdict."
    )
    verdicts = [_verdicts(pooled, metrics)] if pooled else []
    tables = [_for_eyes(lines, clients), *verdicts]
    notes = [note, *([_NOTE_OVER_ALL] if pooled else [])]
    curves = list(dict.fromkeys(line.test for line in lines)) if len(clients) >= FEWEST_NUMBERS else []
    return Section(
        title="Several numbers of clients",
        is_exact=True,
        tables=tables,
        notes=notes,
        data=[
            _data(lines, clients, notes),
            *(replace(one, sheet="Scale-up verdicts", notes=_OF_SHEET) for one in verdicts),
        ],
        charts=[
            Chart(test, partial(growth_chart, _curves(lines, test), clients, test, judged.labels)) for test in curves
        ],
        charts_note="On the dashed line throughput grows as the number of clients does.",
        charts_of=judged.labels,
        on_terminal=Part(tables, notes),
        content={
            "clients": list(clients),
            "confidence": CONFIDENCE,
            "tests": [_content(line) for line in lines],
            "all_clients": [_comparison(item) for item in pooled],
        },
    )


def clients_of(results: Results) -> tuple[int, ...]:
    """Rising."""
    return tuple(sorted({case[1] for test in results.tests if (case := case_of(test))}))


def lines_of(results: Results, clients: Sequence[int]) -> list[Line]:
    own, differences = own_logs(results), logs_against_base(results)
    logs = own[THROUGHPUT], own[CPU], differences[THROUGHPUT]
    tests = dict.fromkeys(case[0] for test in results.tests if (case := case_of(test)))
    made = [
        Line(
            test,
            target.label,
            {kind: _ratios(places, test, target.label, clients) for kind, places in zip(_KINDS, logs, strict=True)},
        )
        for test in tests
        for target in results.targets
    ]
    return [line for line in made if line.throughput]


def _ratios(logs: Places, test: str, target: str, clients: Sequence[int]) -> dict[int, Ratio]:
    found = contrast({count: [logs.get((f"{test}@{count}", target), {})] for count in clients}, paired=True)
    return {count: mean.ratio() for count, mean in found.over.items()}


def _for_eyes(lines: Sequence[Line], clients: Sequence[int]) -> Table:
    first, *more = clients
    compared = any(line.ratios["throughput_over_base"] for line in lines)
    shown = {
        "throughput": "throughput {}",
        "cpu_per_op": "CPU/op {}",
        "throughput_over_base": "throughput {} over base's",
    }
    kinds = list(shown) if compared else list(shown)[:2]
    columns = [
        Column(shown[kind].format(f"{count}/{first}"), Form.RATIO, spread=True) for kind in kinds for count in more
    ]
    rows: list[Row] = [
        [
            line.test,
            line.target,
            *(_cell(line.ratios[kind].get(count)) for kind in kinds for count in more),
            _blocks(line),
        ]
        for line in lines
    ]
    title = f"With more clients, against {_clients(first)}"
    return Table([Column("test"), Column("target"), *columns, Column("blocks", Form.COUNT)], rows, 2, title=title)


def _cell(found: Ratio | None) -> Cell:
    return Cell(None) if found is None else Cell(found.value, spread=spread_of(found))


def _blocks(line: Line) -> int:
    return min(ratio.blocks for ratio in line.throughput.values())


def _data(lines: Sequence[Line], clients: Sequence[int], notes: Sequence[str]) -> Table:
    """A line per test, target and number of clients but the fewest."""
    columns = [Column("test"), Column("target"), Column("clients", Form.COUNT)]
    columns += [Column("of clients", Form.COUNT, name="of_clients")]
    columns += [
        Column(f"{title} ratio", Form.RATIO, spread=True, name=f"{kind}_ratio", ends=f"{kind}_")
        for kind, title in _KINDS.items()
    ]
    rows: list[Row] = [
        [
            line.test,
            line.target,
            count,
            clients[0],
            *(_cell(line.ratios[kind].get(count)) for kind in _KINDS),
            one.blocks,
        ]
        for line in lines
        for count, one in line.throughput.items()
    ]
    of = {f"{title} ratio": "" for title in _KINDS.values()}
    places = dict.fromkeys((line.target, count) for line in lines for count in line.throughput)
    means = [Mean(of, {"target": target, "clients": count}) for target, count in places]
    return Table(
        [*columns, Column("blocks", Form.COUNT)], rows, 3, means, "With more clients, against the fewest",
        [*notes, "Geometric means are formulas over all tests with so many clients."], "Scale-up",
    )  # fmt: skip


def _verdicts(pooled: Sequence[Comparison], judged: Sequence[Metric]) -> Table:
    ratios = [f"{SHORT_TITLES[metric.name]} ratio" for metric in judged]
    columns = [Column("test"), Column("target"), Column("verdict")]
    columns += [Column(title, Form.RATIO, spread=True) for title in ratios]
    rows = [_verdict_row(item, judged) for item in pooled]
    targets = dict.fromkeys(item.target for item in pooled)
    means = [Mean(dict.fromkeys(ratios, ""), {"target": target}) for target in targets]
    return Table([*columns, Column("blocks", Form.COUNT)], rows, 2, means, _OVER_ALL)


def _verdict_row(item: Comparison, judged: Sequence[Metric]) -> Row:
    ratios = [ratio_cell(item.findings.get(metric.name)) for metric in judged]
    blocks = max((one.blocks for one in item.findings.values()), default=0)
    return [
        item.test,
        item.target,
        Cell(f"{SIGNS[item.verdict]} {item.verdict}", item.verdict),
        *ratios,
        blocks or None,
    ]


def _curves(lines: Sequence[Line], test: str) -> dict[str, Mapping[int, Ratio]]:
    return {line.target: line.throughput for line in lines if line.test == test}


def _clients(count: int) -> str:
    return f"{count} client{'' if count == 1 else 's'}"


def _content(line: Line) -> dict[str, Any]:
    """Numbers of clients as text, since JSON's keys are."""
    ratios = {
        kind: {
            str(count): {"ratio": one.value, **spread_of(one)._asdict(), "blocks": one.blocks}
            for count, one in of_kind.items()
        }
        for kind, of_kind in line.ratios.items()
    }
    return {"test": line.test, "target": line.target, **ratios}


def _comparison(item: Comparison) -> dict[str, Any]:
    notes = [headline(list(item.findings.values()))[1]] if item.findings else []
    findings = {name: asdict(finding) for name, finding in item.findings.items()}
    return {"test": item.test, "target": item.target, "verdict": item.verdict, "notes": notes, "findings": findings}
