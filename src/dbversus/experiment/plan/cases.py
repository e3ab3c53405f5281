"""A case is a test with a number of clients and a size of tables."""

from collections.abc import Sequence
from dataclasses import dataclass

from dbversus.experiment.asked.spec import ExperimentSpec
from dbversus.suites.assembly.roles import clients_of
from dbversus.suites.model import Suite, Test
from dbversus.units import show_count

LEAST_WARM_S, MOST_WARM_S = 0.1, 5.0


@dataclass(frozen=True)
class Case:
    """A test with a number of clients, on tables of one size. `forms`: cases that are judged against it, in the same rows.

    `name` tells it apart in results: `scan`, `scan@4` when there are several numbers of clients, `scan@10m` when there are
    several sizes, and `scan@10m@4`.
    """

    test: Test
    clients: int
    name: str
    table_size: int
    forms: tuple["Case", ...] = ()

    @property
    def against(self) -> str:
        """Name of the case that it is judged against; empty where there is none."""
        return self.test.against + self.name.removeprefix(self.test.name) if self.test.against else ""

    def connections(self, tables: int) -> int:
        """Clients of all roles of the test; `clients` where it has none."""
        return clients_of(self.test, self.table_size, tables, self.clients)


def cases_of(test: Test, spec: ExperimentSpec) -> list[Case]:
    """One case per size and number of clients; what one client does whatever others have is one per size."""
    if test.has_one_client:
        return [Case(test, 1, f"{test.name}{size_suffix(spec, size)}", size) for size in spec.table_sizes]
    return [
        Case(test, count, f"{test.name}{size_suffix(spec, size)}{_clients_suffix(spec.clients, count)}", size)
        for size in spec.table_sizes
        for count in spec.clients
    ]


def size_suffix(spec: ExperimentSpec, table_size: int) -> str:
    """What names of one size have at their end: `@10m`; nothing where there is one size."""
    return f"@{show_count(table_size)}" if len(spec.table_sizes) > 1 else ""


def _clients_suffix(clients: Sequence[int], count: int) -> str:
    return f"@{count}" if len(clients) > 1 else ""


def warms_s(spec: ExperimentSpec) -> float:
    """How long a test that only warms caches is driven on each target: as long as a lead-in, but no longer than the reference
    warms up."""
    return min(max(spec.lead_in_s, LEAST_WARM_S), MOST_WARM_S)


def most_clients(spec: ExperimentSpec, suite: Suite) -> int:
    """The most clients that drive a target at the same time."""
    tests = suite.tests.values()
    of_tests = (clients_of(test, size, spec.tables, max(spec.clients)) for test in tests for size in spec.table_sizes)
    return max(of_tests, default=max(spec.clients))
