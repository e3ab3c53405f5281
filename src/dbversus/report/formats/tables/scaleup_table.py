"""The tables of several numbers of clients, the same in every report; and flat, for CSV and JSON."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from dbversus.report.formats.tables.matrix_table import Table, show
from dbversus.report.model import ScaleLine, ScaleUp
from dbversus.report.terminal import say
from dbversus.report.words import SHORT_TITLES, SIGNS, finding_text, ratio, ratio_text
from dbversus.stats.comparison import Comparison
from dbversus.stats.means import CONFIDENCE, Ratio, Spread, spread_of
from dbversus.stats.model import Metric


def tables(scaleup: ScaleUp, intervals: bool = True) -> list[Table]:
    """The scale-up of every target, and where there are candidates their verdicts over all numbers of clients."""
    found = [_growth_table(scaleup, intervals)]
    return [*found, _verdict_table(scaleup.pooled, scaleup.judged, intervals)] if scaleup.pooled else found


def _growth_table(scaleup: ScaleUp, intervals: bool) -> Table:
    first, *more = scaleup.clients
    compared = any(line.against_base for line in scaleup.lines)
    columns = ["test", "target"]
    columns += [f"{title} {count}/{first}" for title in ("throughput", "CPU/op") for count in more]
    columns += [f"throughput {count}/{first} over base's" for count in more] if compared else []
    rows = [_growth_row(line, more, compared, intervals) for line in scaleup.lines]
    return Table(f"With more clients, against {_clients(first)}", [*columns, "blocks"], rows)


def _growth_row(line: ScaleLine, counts: Sequence[int], compared: bool, intervals: bool) -> list[str]:
    kinds = (line.throughput, line.cpu, line.against_base) if compared else (line.throughput, line.cpu)
    cells = [_cell(ratios.get(count), intervals) for ratios in kinds for count in counts]
    return [line.test, line.target, *cells, str(min(ratio.blocks for ratio in line.throughput.values()))]


def _cell(value: Ratio | None, intervals: bool) -> str:
    if value is None:
        return "–"
    return ratio_text(value.value, value, intervals)


def _verdict_table(pooled: Sequence[Comparison], judged: Sequence[Metric], intervals: bool) -> Table:
    columns = ["test", "target", "verdict", *(f"{SHORT_TITLES[metric.name]} ratio" for metric in judged), "blocks"]
    rows = []
    for item in pooled:
        found = [item.findings.get(metric.name) for metric in judged]
        texts = [finding_text(one) if intervals else ratio(one.ratio if one else None) for one in found]
        blocks = max((one.blocks for one in item.findings.values()), default=0)
        rows.append([item.test, item.target, f"{SIGNS[item.verdict]} {item.verdict}", *texts, str(blocks or "–")])
    return Table("Verdicts over all numbers of clients", columns, rows)


def notes(scaleup: ScaleUp) -> list[str]:
    """What the figures are."""
    first = _clients(scaleup.clients[0])
    said = [
        f"Ratios are to the same target with {first} [{CONFIDENCE:.0%} interval over blocks]. Numbers of clients are measured "
        "one after the other, so what the host does meanwhile is in these intervals. They describe; none is a verdict."
    ]
    if scaleup.pooled:
        said.append(
            "Verdicts over all numbers of clients stand on the mean of ln(target/base) over them in each block; "
            "they are a family of their own and change no other verdict."
        )
    return said


def _clients(count: int) -> str:
    return f"{count} client{'' if count == 1 else 's'}"


def render(scaleup: ScaleUp, console: Console) -> None:
    """For the terminal; intervals are left out where it is too narrow for them."""
    show(lambda intervals: tables(scaleup, intervals), console)
    for line in notes(scaleup):
        say(console, line, "dim")
    console.print()


def flat(scaleup: ScaleUp) -> tuple[list[str], list[tuple[Any, ...]]]:
    """One line per test, target and number of clients but the first: ratios to the first with their intervals."""
    kinds = ("throughput", "cpu_per_op", "throughput_over_base")
    columns = ["test", "target", "clients", "of_clients"]
    columns += [f"{kind}{end}" for kind in kinds for end in ("_ratio", *(f"_{name}" for name in Spread._fields))]
    rows = [
        (line.test, line.target, count, scaleup.clients[0], *_flat_ratios(line, count), line.throughput[count].blocks)
        for line in scaleup.lines
        for count in line.throughput
    ]
    return [*columns, "blocks"], rows


def _flat_ratios(line: ScaleLine, count: int) -> list[float | None]:
    found = [ratios.get(count) for ratios in (line.throughput, line.cpu, line.against_base)]
    return [value for one in found for value in ((one.value, *spread_of(one)) if one else (None,) * 5)]


def as_json(scaleup: ScaleUp) -> dict[str, Any]:
    """Plain dicts and lists; numbers of clients as text, since JSON's keys are."""
    return {
        "clients": list(scaleup.clients),
        "confidence": CONFIDENCE,
        "tests": [
            {
                "test": line.test,
                "target": line.target,
                "throughput": _ratios_json(line.throughput),
                "cpu_per_op": _ratios_json(line.cpu),
                "throughput_over_base": _ratios_json(line.against_base),
            }
            for line in scaleup.lines
        ],
    }


def _ratios_json(ratios: Mapping[int, Ratio]) -> dict[str, Any]:
    return {
        str(count): {"ratio": one.value, **spread_of(one)._asdict(), "blocks": one.blocks}
        for count, one in ratios.items()
    }
