"""The heat tables as plain tables: tests that change on any target, with signs and ratios."""

from collections.abc import Sequence

from dbversus.report.formats.tables.matrix_table import Table
from dbversus.report.parts.overview.heat import Heat, with_changes
from dbversus.report.words import short_labels
from dbversus.units import count_of


def table(heat: Heat) -> Table:
    """Without lines where no test changes on any target."""
    rows, _ = with_changes(heat)
    texts = [[row.test, *(cell.text for cell in row.cells)] for row in rows]
    return Table(f"{heat.title} ratio of all targets", ["test", *short_labels(heat.targets)], texts)


def note(heats: Sequence[Heat], base: str) -> str:
    """What the figures are, and how many tests each table leaves out."""
    left_out = [f"{heat.title} {count_of(others, 'test')}" for heat in heats if (others := with_changes(heat)[1])]
    said = f"Ratios are target/{base}; their intervals are in the tables below."
    return (
        f"{said} Tests without a regression or improvement are left out: {', '.join(left_out)}." if left_out else said
    )
