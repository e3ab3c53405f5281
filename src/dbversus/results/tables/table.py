"""A table of results: its columns, and how its rows follow from what was recorded. One module has one; `registry` names all."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dbversus.results.columns import Columns
from dbversus.results.records import AnyRecord, Experiment

Row = dict[str, Any]


@dataclass(frozen=True)
class ResultTable:
    """`name` is that in queries, `columns` are names with types of DuckDB. `file`: the one that its rows are sealed into."""

    name: str
    columns: Mapping[str, str]
    rows_of: Callable[["Recorded"], list[Row]] = field(repr=False)
    file: str = ""


@dataclass(frozen=True, eq=False)
class Recorded:
    """What tables are made of. `labels`: target name → label; `slots`, `roles`: the rows of the journal, as columns."""

    records: Sequence[AnyRecord]
    header: Experiment
    labels: Mapping[str, str]
    slots: Columns
    roles: Columns
    _made: dict[str, list[Row]] = field(default_factory=dict)

    def rows(self, table: ResultTable) -> list[Row]:
        """Made when they are first asked for, and kept."""
        if table.name not in self._made:
            self._made[table.name] = table.rows_of(self)
        return self._made[table.name]
