"""A case is a test with a number of clients."""

from collections.abc import Sequence
from dataclasses import dataclass

from dbversus.suites.model import Test


@dataclass(frozen=True)
class Case:
    """A test with a number of clients. `name` tells it apart in results: `scan`, or `scan@4` when there are several numbers."""

    test: Test
    clients: int
    name: str


def cases_of(test: Test, clients: Sequence[int]) -> list[Case]:
    """One case per number of clients."""
    return [Case(test, count, f"{test.name}@{count}" if len(clients) > 1 else test.name) for count in clients]
