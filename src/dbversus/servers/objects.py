"""What servers tell of their tables, indexes, files and the like: a list of sources per family, servers/<family>/objects.toml.

A source is a query whose rows are: kind of object (`table`, `index`, `file`, `server`, …), name of the object, and a number for
each of its `figures`. `[[rise]]` holds counts that only rise while a server runs, `[[end]]` what stands at the end of a test,
`[[first]]` what stands and takes long to find out, so that it is asked in the first block alone, and `[[phase]]` what stands when
a phase begins.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple

from dbversus.dbms.versions import in_range
from dbversus.errors import RunError

Moment = Literal["rise", "end", "first", "phase"]
Ask = Callable[[str], Sequence[Sequence[Any]]]
"""Runs one statement and returns its rows; RunError with the server's own words when it refuses."""


class ObjectFigure(NamedTuple):
    """`figure` names its unit last: `read_pages`. An index is named after its table: `orders.k_1`."""

    kind: str
    object: str
    figure: str


@dataclass(frozen=True)
class ObjectFigures:
    """`lacking`: name of a source that could not be asked → why."""

    values: Mapping[ObjectFigure, float] = field(default_factory=dict)
    lacking: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Source:
    """A query for figures of objects.

    `versions`: DBMS → `[since, until]`, both included, "" for no bound; a DBMS that is not named is not asked, and without any
    all are. `only_if`: a query that has to give something other than 0 and nothing; else the source is left out, with `lacking`
    as the reason, or silently where there is none.
    """

    name: str
    sql: str
    figures: Sequence[str]
    versions: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    only_if: str = ""
    lacking: str = ""

    def is_for(self, dbms: str, version: str) -> bool:
        return not self.versions or (dbms in self.versions and in_range(version, *self.versions[dbms]))


@cache
def sources(family: str) -> Mapping[str, tuple[Source, ...]]:
    """Of each moment, in the order in which they are asked."""
    text = files("dbversus.servers").joinpath(family, "objects.toml").read_text(encoding="utf-8")
    return {moment: tuple(Source(**one) for one in found) for moment, found in tomllib.loads(text).items()}


def object_figures(family: str, moment: Moment, dbms: str, version: str, ask: Ask) -> ObjectFigures:
    """All figures that the sources give; where two give the same one, the first counts."""
    values: dict[ObjectFigure, float] = {}
    lacking: dict[str, str] = {}
    for source in sources(family).get(moment, ()):
        if not source.is_for(dbms, version):
            continue
        try:
            if source.only_if and not _is_there(ask, source.only_if):
                if source.lacking:
                    lacking[source.name] = source.lacking
                continue
            values = _figures(source, ask(source.sql)) | values
        except RunError as error:
            lacking[source.name] = str(error)
    return ObjectFigures(values, lacking)


def _is_there(ask: Ask, only_if: str) -> bool:
    """A server that does not know the question has nothing to answer it with."""
    try:
        found = ask(only_if)
    except RunError:
        return False
    return bool(found) and found[0][0] not in (None, 0, "0", False, "")


def _figures(source: Source, rows: Sequence[Sequence[Any]]) -> dict[ObjectFigure, float]:
    """Nothing and 0 are left out; objects of one name (partitions of a table, files of a log) are added up."""
    found: dict[ObjectFigure, float] = {}
    for kind, name, *values in rows:
        for figure, value in zip(source.figures, values, strict=True):
            if value is not None and float(value):
                key = ObjectFigure(str(kind), str(name), figure)
                found[key] = found.get(key, 0.0) + float(value)
    return found
