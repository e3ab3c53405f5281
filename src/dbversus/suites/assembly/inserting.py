"""Statements whose rows come or go at an end of a table of the suite; the SQL and values of an INSERT may be the table's own."""

from dataclasses import replace

from dbversus.suites.assembly.columns import all_columns, column_values, loaded_table
from dbversus.suites.file import shape
from dbversus.suites.file.draft import Draft, Placed
from dbversus.suites.model import Append, Statement
from dbversus.suites.sql import insert_sql


def inserting(statement: Statement, into: str | None, position: str | None, draft: Draft) -> Statement:
    """The statement with what `into` and `position` mean.

    With `into` and no SQL it inserts rows that go on after those of the load. Raises UsageError when there is no such table.
    """
    if into is None:
        if position is not None:
            raise statement.place_of("position").mistake("`position` needs `into`, the table whose rows go on.")
        return statement
    table = loaded_table(into, draft, statement.place_of("into"))
    if statement.sql:
        return replace(statement, appends=_append(into, table) if position else None)
    columns = all_columns(table, draft.variables)
    values = {name: column_values(into, name, column, draft) for name, column in columns.items()}
    return replace(
        statement,
        sql={"": insert_sql(into if table.value.copies is None else f"{into}{{table}}", list(columns))},
        params=values | dict(statement.params),
        appends=_append(into, table),
    )


def deleting(statement: Statement, oldest_of: str | None, draft: Draft) -> Statement:
    """The statement with what `oldest_of` means: it deletes the `rows` oldest rows of that table that are still there."""
    if oldest_of is None:
        return statement
    place = statement.place_of("oldest_of")
    if statement.appends is not None:
        raise place.mistake("a statement has `oldest_of`, whose oldest rows it deletes, or `into`, and not both.")
    table = loaded_table(oldest_of, draft, place)
    return replace(statement, appends=replace(_append(oldest_of, table), oldest=True))


def _append(name: str, table: Placed[shape.Table]) -> Append:
    return Append(name, table.value.rows, table.place.at("rows"))
