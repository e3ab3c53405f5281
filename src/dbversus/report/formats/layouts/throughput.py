"""Absolute and relative throughput: blocks of January 2021, with a column for each number of clients; a table of now.

Every target has a line, or a column, of every test, with NA where nothing is known: the reference leaves such lines out, so
that what follows is taken for another target's.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from dbversus.importing.names import run_file_name
from dbversus.report.model import LayoutPart, LayoutTest
from dbversus.report.parts.experiment.efficiency import UNKNOWN, relative_cell
from dbversus.report.parts.layouts.cells import fixed, line, number, rate
from dbversus.results.schema import is_load

LOAD_FILE = "point-query.warm.range100"
"""All that loads has the name of the first test of a run."""
OPS = "o/s"
_POINT, _WARM, _WRITE = re.compile("point"), re.compile(r"\.warm"), re.compile("delete|insert|update|write")
_RANGE_OF_NAME = re.compile(r"\.range(\d+)$")


def absolute_2021(part: LayoutPart) -> str:
    """`o.qps.abs.*`."""
    return _blocks(part, lambda cells, _: cells, list(part.targets))


def relative_2021(part: LayoutPart) -> str:
    """`o.qps.rel.*`: without the base."""
    return _blocks(part, _relative, list(part.targets)[1:])


def _blocks(part: LayoutPart, shown: Callable[[list[str], list[str]], list[str]], labels: Sequence[str]) -> str:
    columns = sorted({test.clients for test in part.tests if test.clients})
    by_name: dict[str, dict[int | None, LayoutTest]] = {}
    for test in part.tests:
        by_name.setdefault(test.name, {})[test.clients] = test
    texts = []
    for tests in by_name.values():
        # a scan has one number of clients alone; those after the last that any target has have no column
        own = [clients for clients in columns if clients <= max(clients or 0 for clients in tests)]
        cells = [tests.get(clients) for clients in ([None] if None in tests else own)]
        rates = {label: [_rate_2021(test, label) if test else UNKNOWN for test in cells] for label in part.targets}
        of_base = rates[next(iter(part.targets))]
        lines = [line([*shown(rates[label], of_base), part.folders[label]]) for label in labels]
        texts.append("\n".join([heading("r.qps", "o", next(iter(tests.values()))), *lines]) + "\n\n")
    return "".join(texts)


def heading(kind: str, kind_of_load: str, test: LayoutTest, clients: int | None = None) -> str:
    """The file of a run that a summary takes a test's figures from."""
    if is_load(test.name):
        return run_file_name(f"prepare.{kind_of_load}", LOAD_FILE)
    return run_file_name(kind, test.name, clients)


def _rate_2021(test: LayoutTest, label: str) -> str:
    """Scans are in millions of rows/s."""
    value = test.figures.get(label, {}).get(OPS)
    return fixed(None if value is None else value / 1e6, 3) if test.of_rows else rate(value)


def _rate(test: LayoutTest, label: str, thousands: bool = False) -> str:
    value = test.figures.get(label, {}).get(OPS)
    return rate(value / 1000 if thousands and value is not None else value)


def _relative(cells: list[str], of_base: list[str]) -> list[str]:
    return [relative_cell(number(own), number(base)) for own, base in zip(cells, of_base, strict=True)]


def absolute_now(part: LayoutPart, tests: Sequence[LayoutTest]) -> str:
    """`qps.abs.*.tsv`: a legend of the columns, and a line of rates for each test, its name last. Scans are in Krows/s."""
    return _table(list(part.folders.values()), _rows(part, tests))


def relative_now(part: LayoutPart, tests: Sequence[LayoutTest]) -> str:
    """`qps.rel.*.tsv`: the same, relative to a base that has no column."""
    base, *others = part.folders.values()
    rows = [(_relative(rates[1:], rates[:1] * len(others)), name) for rates, name in _rows(part, tests)]
    return f"Relative to: {base}\n" + _table(others, rows)


def _table(names: Sequence[str], rows: Sequence[tuple[list[str], str]]) -> str:
    columns = [f"col-{place}" for place in range(1, len(names) + 1)]
    legend = [f"{column} : {name}" for column, name in zip(columns, names, strict=True)]
    body = [line([*cells, name]) for cells, name in rows]
    return "\n".join([*legend, "", line(columns), *body]) + "\n"


def comma_form(table: str) -> str:
    """The `.csv` beside a `.tsv`: names first, neither legend nor header."""
    _, _, body = table.partition("\n\n")
    rows = [row.split("\t") for row in body.splitlines()[1:]]
    return "".join(",".join([row[-1].replace(",", " "), *row[:-1]]) + "\n" for row in rows)


def _rows(part: LayoutPart, tests: Sequence[LayoutTest]) -> list[tuple[list[str], str]]:
    return [
        ([_rate(test, label, test.of_rows) for label in part.targets], _RANGE_OF_NAME.sub(r"_range=\1", test.name))
        for test in in_groups(tests)
    ]


def in_groups(tests: Sequence[LayoutTest]) -> Iterator[LayoutTest]:
    """Point queries, range queries, writes; in each by the names of files. The load is in none."""
    order = sorted(
        (_group(test.name), heading("r.qps", "o", test), test.name) for test in tests if not is_load(test.name)
    )
    by_name = {test.name: test for test in tests}
    return (by_name[name] for *_, name in order)


def _group(name: str) -> int:
    if _POINT.search(name) and not _WARM.search(name):
        return 0
    return 2 if _WRITE.search(name) else 1
