"""Figures as CSV, as published: columns that say what a line is of, and columns of figures, told by their names."""

import csv
import re

from dbversus.importing.lines import Text
from dbversus.importing.model import MISSING, Metric, Sheet, Source

HOSTS = ("server", "host", "machine")
TESTS = ("test", "benchmark", "workload", "step")
CLIENTS = ("clients", "threads", "connections", "dop")
TARGETS = ("dbms", "build", "version", "target")
CONFIG = "config"
_PARTS = ("range",)
_ENDINGS = (".csv", ".tsv")
_MOST_SHOWN = 8
_OF_TEST = re.compile(r"(.+)_per_s$")


def fits(name: str, head: str) -> bool:
    return name.endswith(_ENDINGS) and not missing_column(name, head)


def missing_column(name: str, head: str) -> str:
    """What the header of a CSV file lacks to be read, in words; empty: nothing, or it is no CSV file."""
    if not name.endswith(_ENDINGS):
        return ""
    header = head.partition("\n")[0]
    columns = [column.lower() for column in _cells(header, _delimiter(header))]
    known = (*HOSTS, *TESTS, *TARGETS)
    if len(columns) > 1 and any(column in known for column in columns):
        return ""
    return (
        f"a column that says what its lines are of is missing: one of {', '.join(known)}. Its header has "
        f"{', '.join(filter(None, columns[:_MOST_SHOWN])) or 'no names'}"
    )


def _delimiter(header: str) -> str:
    return max(",;\t", key=header.count)


def read(source: Source, text: Text, sheet: Sheet) -> str:
    numbered = iter(text)
    _, header = next(numbered)
    delimiter = _delimiter(header)
    names = [name.lower() for name in _cells(header, delimiter)]
    for number, line in numbered:
        cells = _cells(line, delimiter)
        if not line.strip():
            continue
        if len(cells) != len(names):
            sheet.unknown(number, line)
            continue
        _read_line(source, dict(zip(names, cells, strict=True)), number, sheet)
    return ""


def _read_line(source: Source, line: dict[str, str], number: int, sheet: Sheet) -> None:
    test = ".".join([*_values(line, TESTS), *(f"range{value}" for value in _values(line, _PARTS))])
    host = "/".join(_values(line, HOSTS))
    target = ".".join(_values(line, TARGETS)) or source.target
    if config := line.get(CONFIG):
        target = f"{target}@{config}"
    clients = next((int(value) for value in _values(line, CLIENTS) if value.isdecimal()), None)
    for name, value in line.items():
        if name in (*HOSTS, *TESTS, *TARGETS, CONFIG, *CLIENTS, *_PARTS):
            continue
        own = _OF_TEST.match(name)
        of_test = test or (own[1].replace("_", "-") if own else source.name[:-4])
        metric = Metric(name if test or not own else "throughput", "1/s" if own else "")
        # figures of different hosts cannot be compared, so these are different tests
        place = sheet.place_of(f"{host}/{of_test}" if host else of_test, target, clients)
        sheet.add(place, metric, number, "NA" if value in MISSING else value)


def _values(line: dict[str, str], names: tuple[str, ...]) -> list[str]:
    return [line[name] for name in names if line.get(name)]


def _cells(line: str, delimiter: str) -> list[str]:
    return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), [])]
