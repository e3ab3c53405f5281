"""What is in a table: the facts by which two copies of the same data are told apart."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TableState:
    """One table as its server knows it.

    `rows`: counted where `rows_counted`, else `statistics_rows`. `lowest_id`, `highest_id`: of the first column of its
    primary key; None without one, and in an empty table. `columns`: name, type and nullability of each, in order, in the
    server's words. `indexes`: their definitions, sorted. `statistics_rows`: rows as the optimizer's stored statistics have
    them; None: there are none.
    """

    rows: int | None
    rows_counted: bool
    lowest_id: int | str | None
    highest_id: int | str | None
    columns: tuple[str, ...]
    indexes: tuple[str, ...]
    statistics_rows: int | None
