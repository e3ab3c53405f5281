"""The table of what servers did of their own accord in a test that lasts."""

from dbversus.report.charts.lanes import SHORT
from dbversus.report.formats.tables.matrix_table import Table
from dbversus.report.model import ServerEvent, TestPart

MOST_ROWS = 40
"""A report has so many of each test, those that took longest; `show --sql` has all."""
NOTE = (
    "Moments and lengths are of driven time, which stands still while a target is frozen; what a server says that it took goes "
    "on meanwhile. `show --sql` has the events of all blocks (table `events`)."
)


def table(test: TestPart) -> Table | None:
    """A line per event, by target and moment; None where there were none."""
    if not test.events:
        return None
    kept = sorted(test.events, key=lambda one: one.driven_s, reverse=True)[:MOST_ROWS]
    rows = [_cells(one) for one in test.events if one in kept]
    count = f"{len(test.events)}" + (f", the {len(rows)} longest" if len(rows) < len(test.events) else "")
    columns = ["target", "what", "at, s", "driven, s", "took, s", "where", "as told"]
    return Table(f"Server events of the first block ({count})", columns, rows)


def key(test: TestPart) -> str:
    """What the names of lanes stand for, of those that the test has; "" where it has none."""
    shown = [f"{short}: {what}" for what, short in SHORT.items() if any(one.what == what for one in test.events)]
    return f"Bars above the lines are server events. {', '.join(shown)}." if shown else ""


def _cells(one: ServerEvent) -> list[str]:
    took = "–" if one.took_s is None else f"{one.took_s:,.2f}"
    return [one.target, one.what, f"{one.at_s:,.2f}", f"{one.driven_s:,.2f}", took, one.placed, one.words]
