"""Response times in the fixed buckets of the Insert Benchmark, the same in every report; and flat, for CSV and JSON."""

from collections.abc import Iterator, Mapping
from typing import Any

from dbversus.report.figures import latency_figures
from dbversus.report.formats.tables.matrix_table import Table
from dbversus.report.model import LatencyFigures, RolePart, TestPart
from dbversus.report.parts.each_test.roles import roles_of_tests
from dbversus.report.words import number
from dbversus.results.stored import Results

NAMES = ("256us", "1ms", "4ms", "16ms", "64ms", "256ms", "1s", "4s", "16s", "gt")
"""Of the buckets, as the reference has them: at most so long; `gt`: longer than all of these."""
TITLES = ("256 µs", "1 ms", "4 ms", "16 ms", "64 ms", "256 ms", "1 s", "4 s", "16 s", "gt")
NONZERO = "nonzero"
"""Some operations, whose share rounds to 0.000."""
NOTE = (
    "Percent of operations whose response time was in the bucket that ends there (gt: longer than 16 s), over all clients and "
    "blocks; nonzero: some, and less than 0.0005 %. Operations of a role with arrivals count from when they were due."
)
_US_PER_S = 1e6

Line = tuple[str, str, LatencyFigures]


def table(test: TestPart) -> Table | None:
    """A line per role (or the whole test) and target; None where nothing was measured."""
    rows = [
        [role or "all that count", target, *map(_text, shares(latency)), number((latency.max_us or 0.0) / _US_PER_S)]
        for role, target, latency in lines(test.latency, test.roles)
    ]
    columns = ["role", "target", *TITLES]
    return Table("Response time in fixed buckets, %", [*columns, "max, s"], rows) if rows else None


def lines(latency: Mapping[str, LatencyFigures], roles: tuple[RolePart, ...]) -> Iterator[Line]:
    """The whole test, whose role has no name, then each role."""
    for target, of_target in latency.items():
        yield "", target, of_target
    for part in roles:
        for target, figures in part.targets.items():
            if figures.response:
                yield part.name, target, figures.response


def shares(latency: LatencyFigures) -> list[float]:
    """Percent of operations in each bucket."""
    return [100 * count / latency.count for count in latency.buckets]


def _text(share: float) -> str:
    """Three decimals, as in the reference; nothing where nothing was."""
    if not share:
        return ""
    text = f"{share:.3f}"
    return NONZERO if float(text) == 0 else text


def flat(results: Results) -> tuple[list[str], list[tuple[Any, ...]]]:
    """One line per test, role and target; `role` is empty for the whole test."""
    of_roles = roles_of_tests(results)
    rows = []
    for test in results.tests:
        times = {target.label: latency_figures(results.latency(test, target).values()) for target in results.targets}
        known = {label: latency for label, latency in times.items() if latency}
        for role, target, latency in lines(known, of_roles.get(test, ())):
            percents = [round(share, 6) for share in shares(latency)]
            rows.append((test, role, target, latency.count, *percents, (latency.max_us or 0.0) / _US_PER_S))
    return ["test", "role", "target", "operations", *(f"le_{name}" for name in NAMES[:-1]), NAMES[-1], "max_s"], rows
