"""Hardware use per operation: `sb.met.*` of a run, and its summary over builds, `o.met.*`."""

from collections.abc import Mapping

from dbversus.importing.formats.columns import UNITS, cells_of, metric_of
from dbversus.importing.lines import Text
from dbversus.importing.model import Metric, Sheet, Source
from dbversus.importing.names import is_scan, run_file
from dbversus.results.schema import PER_THOUSAND_ROWS, THOUSAND_ROWS

_TITLE = "iostat, vmstat normalized by"
_SAMPLES = {"r/s": Metric("iostat_samples", ""), "cs/s": Metric("vmstat_samples", "")}
"""By the column that follows their number, which is called `samp` both times."""
_MOST_THOUSANDS_PER_S = 1e5
"""No scan reads as few rows, and none as many thousands of them."""
ABSOLUTE, RELATIVE = "--- absolute", "--- relative"


def fits(name: str, head: str) -> bool:
    return head.startswith(_TITLE) or ABSOLUTE in head


def compared_with(shown: str) -> str | None:
    return shown


def read(source: Source, text: Text, sheet: Sheet) -> str:
    return _read_run(source, text, sheet) if text.head.startswith(_TITLE) else _read_summary(text, sheet)


def _read_run(source: Source, text: Text, sheet: Sheet) -> str:
    known = run_file(source.name)
    test = known.test if known else source.name
    place = sheet.run_of(source, test, known.clients if known else None)
    names: list[str] = []
    seen: set[str] = set()
    thousands = False
    for number, line in text:
        cells = line.split()
        if not cells or line.startswith(_TITLE):
            continue
        if cells[0] in ("samp", "nsamp"):
            names = cells
        elif len(cells) == len(names):
            thousands = thousands or _is_thousands(test, dict(zip(names, cells, strict=True)))
            sheet.add(place, _SAMPLES.get(names[1], metric_of(names[0])), number, cells[0])
            for name, cell in zip(names[1:], cells[1:], strict=True):
                sheet.add(place, _metric(name, thousands), number, cell)
            seen.update(names)
        else:
            sheet.unknown(number, line)
    return "" if {"r/s", "cs/s"} <= seen else "cut off: it lacks the figures of iostat or vmstat"


def _is_thousands(test: str, line: Mapping[str, str]) -> bool:
    """Whether an operation of a scan is the reading of 1000 rows, as now, and not of one, as in January 2021."""
    rate = line.get("o/s", "")
    return is_scan(test) and rate.replace(".", "").isdecimal() and 0 < float(rate) < _MOST_THOUSANDS_PER_S


def _metric(column: str, thousands: bool) -> Metric:
    metric = metric_of(column)
    if not thousands:
        return metric
    return Metric(column, THOUSAND_ROWS if column == "o/s" else metric.unit.replace("/op", PER_THOUSAND_ROWS))


def _read_summary(text: Text, sheet: Sheet) -> str:
    test, clients, base, relative = "", None, None, False
    names: list[str] = []
    for number, line in text:
        cells = cells_of(line)
        if not cells:
            continue
        if len(cells) == 1 and (known := run_file(cells[0])):
            test, clients, base, names = known.test, known.clients, None, []
        elif line.startswith((ABSOLUTE, RELATIVE)):
            relative = line.startswith(RELATIVE)
        elif cells[-1] == "dbms" and all(cell in UNITS for cell in cells[:-1]):
            names = cells[:-1]
        elif test and names and len(cells) == len(names) + 1:
            base = base or cells[-1]
            place = sheet.place_of(test, cells[-1], clients, relative, base if relative else None)
            thousands = not relative and _is_thousands(test, dict(zip(names, cells, strict=False)))
            for name, cell in zip(names, cells, strict=False):
                sheet.add(place, _metric(name, thousands), number, cell)
        else:
            sheet.unknown(number, line)
    return ""
