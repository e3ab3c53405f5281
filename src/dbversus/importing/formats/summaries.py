"""Throughput over builds: `o.qps.abs.*` and `o.qps.rel.*` (2021), `qps.abs.*.tsv` and `qps.rel.*.tsv` (later)."""

import re
from pathlib import Path

from dbversus.importing.formats.columns import cells_of
from dbversus.importing.formats.rates import clients_of_column, rate_2021
from dbversus.importing.lines import Text
from dbversus.importing.model import Metric, Sheet, Source
from dbversus.importing.names import is_scan, run_file
from dbversus.results.schema import THOUSAND_ROWS
from dbversus.stats.metrics import LOAD_TEST

QPS, ROWS_PER_S = Metric("qps", "1/s"), Metric("qps", "rows/s")
SCANS_NOW = Metric("qps", THOUSAND_ROWS)
_BLOCKS, _TABLE = re.compile(r"o\.qps\.(abs|rel)(\.|$)"), re.compile(r"qps\.(abs|rel)\..*\.tsv$")
_LEGEND = re.compile(r"(col-\d+)\s*:\s*(\S.*)$")
_RANGE = re.compile(r"_range=(\d+)$")
_CLIENTS = re.compile(r"\.dop(\d+)\.tsv$")


def fits(name: str, head: str) -> bool:
    return bool(_BLOCKS.match(name) or _TABLE.match(name))


def compared_with(shown: str) -> str | None:
    return re.sub(r"qps\.rel(?=(\.[^/]*)?$)", "qps.abs", shown)


def read(source: Source, text: Text, sheet: Sheet) -> str:
    if _TABLE.match(source.name):
        return _read_table(source, text, sheet)
    relative = source.name.startswith("o.qps.rel")
    return _read_blocks(source, text, sheet, _bases(source) if relative else None)


def _read_blocks(source: Source, text: Text, sheet: Sheet, bases: dict[str, str] | None) -> str:
    test, heading = "", ""
    for number, line in text:
        *values, last = cells_of(line) or [""]
        if not last:
            continue
        if not values and (known := run_file(last)):
            test, heading = known.test, last
        elif test and values:
            for position, value in enumerate(values):
                clients = None if test == LOAD_TEST else clients_of_column(source, position)
                base = (bases or {}).get(heading)
                place = sheet.place_of(test, last, clients, bases is not None, base)
                sheet.add(place, ROWS_PER_S if test == LOAD_TEST else rate_2021(test, value), number, value)
        else:
            sheet.unknown(number, line)
    return ""


def _bases(source: Source) -> dict[str, str]:
    """Heading of a test → the first target under it in the file of absolute figures beside; empty when there is none."""
    found: dict[str, str] = {}
    heading = ""
    path = Path(compared_with(source.path) or "")
    if path.is_file():
        for _, line in Text(str(path), str(path), source.encoding):
            *values, last = cells_of(line) or [""]
            if values:
                found.setdefault(heading, last)
            elif last:
                heading = last
    return found


def _read_table(source: Source, text: Text, sheet: Sheet) -> str:
    targets: dict[str, str] = {}
    base: str | None = None
    named = _CLIENTS.search(source.name)
    clients = int(named[1]) if named else None
    for number, line in text:
        cells = cells_of(line)
        if not cells:
            continue
        if legend := _LEGEND.match(line):
            targets[legend[1]] = legend[2].strip()
        elif line.startswith("Relative to:"):
            base = line.partition(":")[2].strip()
        elif cells[: len(targets)] == list(targets) or line.startswith("- "):
            continue  # a header, which may name a group of tests
        elif len(cells) == len(targets) + 1:
            relative = source.name.startswith("qps.rel.")
            test = _RANGE.sub(r".range\1", cells[-1])
            metric = SCANS_NOW if is_scan(test) else QPS
            for target, cell in zip(targets.values(), cells, strict=False):
                sheet.add(sheet.place_of(test, target, clients, relative, base), metric, number, cell)
        else:
            sheet.unknown(number, line)
    return "" if targets else "it has no legend (col-1 : NAME), so that nobody can tell whose figures these are"
