"""Throughput in the form that the reference method has now."""

from collections.abc import Callable, Sequence

from dbversus.errors import UsageError
from dbversus.printable import printable
from dbversus.report.formats.tables import throughput_table
from dbversus.report.parts.overview.throughput import ThroughputLine, throughput
from dbversus.report.views.registry import Shown
from dbversus.results.stored import Results
from dbversus.stats.judge import judge


def show(results: Results) -> Shown:
    return shown_as(results, throughput_table.now)


def shown_as(results: Results, text: Callable[[Sequence[ThroughputLine], Sequence[str]], str]) -> Shown:
    """The same rows for pipes, whatever the form for eyes. UsageError where nothing was measured."""
    lines = throughput(results, judge(results) if len(results.targets) > 1 else [])
    if not lines:
        raise UsageError(f"{results.directory} has no test that was measured; --table throughput needs one.")
    labels = [target.label for target in results.targets]
    rows = throughput_table.flat(lines)
    return Shown(*rows, lambda console: print(printable(text(lines, labels)), file=console.file))
