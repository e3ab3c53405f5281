"""What servers owed and held when each phase began: work put off, and levels of an LSM tree."""

from dbversus.errors import UsageError
from dbversus.report.formats.tables import objects_table
from dbversus.report.formats.tables.matrix_table import show as show_tables
from dbversus.report.parts.each_test.objects import phases_of
from dbversus.report.views.registry import Shown
from dbversus.results.stored import Results

_COLUMNS = ["phase", "target", "object", "figure", "value", "low", "high", "blocks"]


def show(results: Results) -> Shown:
    """A line per phase, target, object and figure, means over blocks; eyes get a column per target."""
    parts = phases_of(results)
    if not parts:
        raise UsageError(
            f"{results.directory} has nothing for --table phases: an older dbversus did not ask what servers hold when a phase "
            "begins, and servers that have settled owe nothing."
        )
    rows = [
        (part.name, label, f"{line.kind} {line.object}", line.figure, one.value, one.low, one.high, one.n)
        for part in parts
        for line in part.lines
        for label, one in line.estimates.items()
    ]
    labels = [target.label for target in results.targets]
    return Shown(_COLUMNS, rows, lambda console: show_tables(lambda _: objects_table.of_phases(parts, labels), console))
