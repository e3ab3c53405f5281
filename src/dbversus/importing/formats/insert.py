"""Summaries of the Insert Benchmark: `mrg.*` (a step, or several under their names), `rel.*` (the same, relative), `o.sum.*`."""

import re
from collections.abc import Iterator
from pathlib import Path

from dbversus.importing.formats.columns import UNITS, metric_of
from dbversus.importing.lines import Text, plain_name
from dbversus.importing.model import Sheet, Source

_HEADER = re.compile(r"^ips([\t,])qps\1.*\btag$", re.MULTILINE)
_STEP = re.compile(r"[\w.]+$")
_SIZE_OF_RUN = re.compile(r"^\d+[kmg]\.")
"""Before the target's name, in summaries of one run."""
_LOADS = ("l.i0", "l.x", "l.i1")
_RATES = (100, 200, 400, 600, 800, 1000)
STEPS_2021 = (*_LOADS, *(f"q{rate}.{turn}" for rate in _RATES for turn in (1, 2)))
"""In the order in which they were run."""
BREAK = "-"
COLUMNS = (
    *("ips", "qps", "rps", "rmbps", "wps", "wmbps", "rpq", "rkbpq", "wpi", "wkbpi"),
    *("csps", "cpups", "cspq", "cpupq", "dbgb1", "dbgb2", "rss", "maxop", "p50", "p99"),
)
"""Those of January 2021 and of now, in their order; older files had others."""


def fits(name: str, head: str) -> bool:
    return bool(_HEADER.search(head.replace("\r", "")))


def compared_with(shown: str) -> str | None:
    return re.sub(r"(^|/)rel\.(?=[^/]*$)", r"\1mrg.", shown)


def read(source: Source, text: Text, sheet: Sheet) -> str:
    if source.name.startswith("o.sum."):
        return _read_run(source, text, sheet)
    relative = source.name.startswith("rel.")
    bases = _bases(source) if relative else {}
    for number, part, line, names in _parts(source.name, text, sheet):
        step, group = part
        cells = _cells(line)
        if len(cells) != len(names):
            sheet.unknown(number, line)
            continue
        place = sheet.place_of(step, cells[-1], None, relative, bases.get((step, group)))
        for name, cell in zip(names[:-1], cells, strict=False):
            sheet.add(place, metric_of(name), number, cell)
    return ""


def _parts(name: str, text: Text, sheet: Sheet | None) -> Iterator[tuple[int, tuple[str, int], str, list[str]]]:
    """Number, (step, group) and text of each line of figures, and the names of its columns."""
    step, group = name.partition(".")[2], 0
    names: list[str] = []
    for number, line in text:
        cells = _cells(line)
        if not line.strip():
            continue
        if cells[0] == "ips" and all(cell in UNITS for cell in cells[:-1]):
            names, group = cells, 0
        elif line.strip() == BREAK:
            group += 1
        elif len(cells) == 1 and _STEP.match(line.strip()):
            step = line.strip()
        elif names:
            yield number, (step, group), line, names
        elif sheet is not None:
            sheet.unknown(number, line)


def _bases(source: Source) -> dict[tuple[str, int], str]:
    """Step and group → the first target in the file of absolute figures beside; empty when there is none."""
    found: dict[tuple[str, int], str] = {}
    path = Path(compared_with(source.path) or "")
    if path.is_file():
        for _, part, line, _ in _parts(plain_name(path.name), Text(str(path), str(path), source.encoding), None):
            found.setdefault(part, _cells(line)[-1])
    return found


def _read_run(source: Source, text: Text, sheet: Sheet) -> str:
    """All steps of one run, a line each, without names: told by their order where there are as many as there were in 2021."""
    names: list[str] = []
    lines = [(number, line) for number, line in text if line.strip()]
    known = STEPS_2021 if len(lines) - 1 == len(STEPS_2021) else ()
    for position, (number, line) in enumerate(lines):
        cells = _cells(line)
        if position == 0:
            names = cells
        elif len(cells) != len(names):
            sheet.unknown(number, line)
        else:
            step = known[position - 1] if known else f"step {position}"
            place = sheet.place_of(step, _SIZE_OF_RUN.sub("", cells[-1]), run=1)
            for name, cell in zip(names[:-1], cells, strict=False):
                sheet.add(place, metric_of(name), number, cell)
    return ""


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"[\t,]", line)]
