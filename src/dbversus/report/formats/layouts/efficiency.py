"""Hardware per operation, absolute and relative: a part for each test and number of clients."""

from collections.abc import Sequence
from dataclasses import dataclass

from dbversus.importing.formats.efficiency import ABSOLUTE, RELATIVE
from dbversus.report.formats.layouts.throughput import OPS, heading
from dbversus.report.model import LayoutPart, LayoutTest
from dbversus.report.parts.experiment.efficiency import relative_cell
from dbversus.report.parts.layouts.cells import fixed, line, number, rate
from dbversus.results.schema import is_load

_DECIMALS = {"cpu/o": 6, "cs/o": 3, "r/o": 3, "rKB/o": 3, "wKB/o": 3}


@dataclass(frozen=True)
class _Layout:
    """`short_zero`: 0 is printed without decimals. `scans_in_thousands`: an operation of a scan is the reading of 1000 rows."""

    columns: tuple[str, ...]
    short_zero: bool
    scans_in_thousands: bool


JANUARY_2021 = _Layout(("cpu/o", "rKB/o", "wKB/o", OPS), short_zero=False, scans_in_thousands=False)
NOW = _Layout((*_DECIMALS, OPS), short_zero=True, scans_in_thousands=True)


def report(part: LayoutPart, layout: _Layout) -> str:
    """The load, then the tests of each number of clients, scans last; without those of which rates alone are known."""
    shown = [test for test in part.tests if any(set(of) - {OPS} for of in test.figures.values())]
    warming = [test for test in shown if test.name.startswith("point-query.warm")]
    order = sorted((test for test in shown if test not in warming), key=lambda test: (_clients(test), _is_scan(test)))
    return "".join(f"{_part(part, test, layout)}\n\n" for test in order)


def _clients(test: LayoutTest) -> int:
    return 0 if is_load(test.name) else test.clients or 0


def _is_scan(test: LayoutTest) -> bool:
    return test.of_rows or test.name.startswith("scan")


def _part(part: LayoutPart, test: LayoutTest, layout: _Layout) -> str:
    cells = {label: _cells(test, label, layout) for label in part.targets}
    base, *others = part.targets
    first, *rest = layout.columns
    # two tabs: the first column is wider than its title, and than ratios
    lines = [ABSOLUTE, line([first, "", *rest, "dbms"])]
    lines += [line([*cells[label], name]) for label, name in part.folders.items()]
    lines += [RELATIVE + " to first result"] if others else []
    for label in others:
        ratio, *ratios = _ratios(cells[label], cells[base])
        lines.append(line([ratio, "", *ratios, part.folders[label]]))
    return "\n".join([heading("met", "met", test, test.clients), *lines])


def _ratios(own: Sequence[str], of_base: Sequence[str]) -> list[str]:
    return [relative_cell(number(cell), number(base)) for cell, base in zip(own, of_base, strict=True)]


def _cells(test: LayoutTest, label: str, layout: _Layout) -> list[str]:
    figures = test.figures.get(label, {})
    factor = 1000 if test.of_rows and layout.scans_in_thousands else 1
    return [_cell(column, figures.get(column), factor, layout.short_zero) for column in layout.columns]


def _cell(column: str, value: float | None, factor: int, short_zero: bool) -> str:
    if column == OPS:
        return rate(None if value is None else value / factor)
    cell = fixed(None if value is None else value * factor, _DECIMALS[column])
    return "0" if short_zero and number(cell) == 0 else cell
