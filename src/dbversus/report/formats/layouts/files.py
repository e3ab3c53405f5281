"""The files of the reference's summaries: what each is called, and what is in it."""

import re
from collections.abc import Iterator

from dbversus.report.formats.layouts import efficiency, steps, throughput
from dbversus.report.model import LayoutPart, LayoutTest
from dbversus.results.schema import is_load

JANUARY_2021, NOW, INSERT = "2021", "now", "insert"
"""Folders. The Insert Benchmark's files are the same now as in January 2021."""
_TAGS = {"mysql": "in", "mariadb": "ma", "myrocks": "rx", "postgres": "pg", "sqlite": "sqlite"}
_ALL = "all"
_NOT_IN_FILES = re.compile(r"[^\w.@=+-]")

Files = Iterator[tuple[str, str]]
"""Path in the folder, and text."""


def files(part: LayoutPart) -> dict[str, str]:
    """Path → text; a file that would be empty is left out."""
    made = (*_january_2021(part), *_now(part), *_steps(part))
    return {path: text for path, text in made if text}


def tag_of(part: LayoutPart) -> str:
    """The end of file names: the DBMS, or `all` where there are several."""
    return _TAGS.get(next(iter(part.dbms)), _ALL) if len(part.dbms) == 1 else _ALL


def _january_2021(part: LayoutPart) -> Files:
    tag = tag_of(part)
    yield f"{JANUARY_2021}/o.qps.abs.{tag}", throughput.absolute_2021(part)
    yield f"{JANUARY_2021}/o.met.{tag}", efficiency.report(part, efficiency.JANUARY_2021)
    if len(part.targets) > 1:
        yield f"{JANUARY_2021}/o.qps.rel.{tag}", throughput.relative_2021(part)


def _now(part: LayoutPart) -> Files:
    """A table has no columns for clients, so that each number of them has a table of its own."""
    yield f"{NOW}/o.met.{tag_of(part)}", efficiency.report(part, efficiency.NOW)
    for end, tests in _by_clients(part.tests):
        end = f"{tag_of(part)}{end}"
        tables = {"abs": throughput.absolute_now(part, tests)}
        if len(part.targets) > 1:
            tables["rel"] = throughput.relative_now(part, tests)
        for kind, table in tables.items():
            yield f"{NOW}/qps.{kind}.{end}.tsv", table
            yield f"{NOW}/qps.{kind}.{end}.csv", throughput.comma_form(table)


def _by_clients(tests: tuple[LayoutTest, ...]) -> Iterator[tuple[str, list[LayoutTest]]]:
    """With the end of a name: `.dop4`, empty where there is one number of clients."""
    shown = [test for test in tests if not is_load(test.name)]
    counts = sorted({test.clients or 0 for test in shown})
    for count in counts:
        yield f".dop{count}" if len(counts) > 1 else "", [test for test in shown if (test.clients or 0) == count]


def _steps(part: LayoutPart) -> Files:
    for end, own in _by_clients(part.steps):
        folder = f"{INSERT}/{end.lstrip('.')}".rstrip("/")
        texts = {"mrg": steps.absolute, "rel": steps.relative} if len(part.targets) > 1 else {"mrg": steps.absolute}
        for kind, text in texts.items():
            for step in own:
                yield f"{folder}/{kind}.{_NOT_IN_FILES.sub('_', step.name)}", text(part, step)
            yield f"{folder}/{kind}.some", steps.some(part, own, text)
