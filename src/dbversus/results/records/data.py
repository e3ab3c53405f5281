"""Records of the targets' data: its load, its state when a block begins, and the debt paid on it."""

from dbversus.results.records.base import OfGroup, Part, Record
from dbversus.results.records.usage import Usage


class LoadFigures(Usage, frozen=True, kw_only=True):
    """What the load of one table took.

    rows: rows loaded
    elapsed_ns: all of it
    insert_ns: for inserting rows
    after_ns: for what comes after them, such as indexes
    """

    rows: int | None = None
    elapsed_ns: int | None = None
    insert_ns: int | None = None
    after_ns: int | None = None


class Load(Record, frozen=True):
    """A table of a target has its data.

    target: name of the target
    table: name of the table, where there are several sizes with `@10m` at its end
    earlier: the data was there already
    loaded_at: when it was loaded (ISO 8601); absent in older results
    shares: label of the target that loaded the data with other settings of run time; then there are no figures
    figures: what the load took
    """

    target: str
    table: str | None
    earlier: bool
    loaded_at: str | None = None
    shares: str | None = None
    figures: LoadFigures | None = None

    @property
    def own(self) -> LoadFigures | None:
        """Figures of the target's own load."""
        return self.figures if self.figures and self.figures.elapsed_ns and not self.shares else None


class TableFacts(Part, frozen=True):
    """A table as its server knows it.

    rows: counted where `rows_counted`, else those of the statistics
    rows_counted: whether they were counted
    lowest_id: lowest value of the first column of its primary key; null: there is no such key, or no row
    highest_id: highest value of that column
    columns: name, type and nullability of each, in order, in the server's words
    indexes: their definitions, sorted
    statistics_rows: rows as the optimizer's stored statistics have them; null: there are none
    row_bytes: bytes of a row (see "Amounts"); null: not known
    """

    rows: int | None
    rows_counted: bool
    lowest_id: int | str | None
    highest_id: int | str | None
    columns: tuple[str, ...]
    indexes: tuple[str, ...]
    statistics_rows: int | None
    row_bytes: float | None = None

    @property
    def column_names(self) -> tuple[str, ...]:
        return tuple(column.partition(" ")[0] for column in self.columns)


class DataState(Part, frozen=True):
    """What a target's data is like.

    tables: by name
    sizes_bytes: by name, as the server has them
    debt: kind of work that the server owes → amount
    """

    tables: dict[str, TableFacts]
    sizes_bytes: dict[str, int]
    debt: dict[str, int]


class State(OfGroup, frozen=True):
    """What each target had when a block, or its part on this data, began.

    block: number of the block, from 0
    data: `loaded`, `aged`, or `empty` (before a load that is a test), where there are several sizes with `@10m` at its end
    targets: by name of the target
    differs: target → in what its data is not as in its first block, or as on the base (docs/protocol.md), in words
    """

    block: int
    data: str
    targets: dict[str, DataState]
    differs: dict[str, list[str]]


class Settled(Record, frozen=True):
    """A server was made to pay its debt before a phase.

    block: number of the block, from 0
    phase: name of the phase that follows
    target: name of the target
    done: what was done → seconds that it took
    debt: kind of work → amount that remains
    """

    block: int
    phase: str
    target: str
    done: dict[str, float]
    debt: dict[str, int]


class Phase(OfGroup, frozen=True):
    """What each target owed and held when a phase began, once it had settled where the phase says so (see "Objects").

    block: number of the block, from 0
    phase: its name, where there are several sizes with `@10m` at its end
    targets: target → kind of object → object → figure → value; 0 is left out
    """

    block: int
    phase: str
    targets: dict[str, dict[str, dict[str, dict[str, float]]]]
