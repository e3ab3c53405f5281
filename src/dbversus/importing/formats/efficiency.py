"""Hardware use per operation: `sb.met.*` of a run, and its summary over builds, `o.met.*`."""

from dbversus.importing.formats.columns import UNITS, cells_of, metric_of
from dbversus.importing.lines import Text
from dbversus.importing.model import Metric, Sheet, Source
from dbversus.importing.names import run_file

_TITLE = "iostat, vmstat normalized by"
_SAMPLES = {"r/s": Metric("iostat_samples", ""), "cs/s": Metric("vmstat_samples", "")}
"""By the column that follows their number, which is called `samp` both times."""
ABSOLUTE, RELATIVE = "--- absolute", "--- relative"


def fits(name: str, head: str) -> bool:
    return head.startswith(_TITLE) or ABSOLUTE in head


def compared_with(shown: str) -> str | None:
    return shown


def read(source: Source, text: Text, sheet: Sheet) -> str:
    return _read_run(source, text, sheet) if text.head.startswith(_TITLE) else _read_summary(text, sheet)


def _read_run(source: Source, text: Text, sheet: Sheet) -> str:
    known = run_file(source.name)
    place = sheet.place_of(known.test if known else source.name, source.folder, known.clients if known else None)
    names: list[str] = []
    seen: set[str] = set()
    for number, line in text:
        cells = line.split()
        if not cells or line.startswith(_TITLE):
            continue
        if cells[0] in ("samp", "nsamp"):
            names = cells
        elif len(cells) == len(names):
            for name, cell in zip(names, cells, strict=True):
                sheet.add(
                    place,
                    _SAMPLES.get(names[1], metric_of(name)) if name == names[0] else metric_of(name),
                    number,
                    cell,
                )
            seen.update(names)
        else:
            sheet.unknown(number, line)
    return "" if {"r/s", "cs/s"} <= seen else "cut off: it lacks the figures of iostat or vmstat"


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
            for name, cell in zip(names, cells, strict=False):
                sheet.add(place, metric_of(name), number, cell)
        else:
            sheet.unknown(number, line)
    return ""
