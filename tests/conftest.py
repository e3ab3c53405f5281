"""For all tests: one that is left out fails where it is demanded."""

from collections.abc import Generator
from typing import TypeVar

import pytest

from .left_out import complaint

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)


WITH_SERVERS = {"bench", "mysql_build", "of_mysqls_family", "postgres", "postgres_build"}
"""Fixtures that bring one."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if WITH_SERVERS.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.e2e)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return demanded((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return demanded((yield))


def demanded(report: Report) -> Report:
    """The report of a test, or of a file with tests: that it failed, if it was left out and may not be."""
    if report.skipped and not hasattr(report, "wasxfail") and isinstance(report.longrepr, tuple):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        if words := complaint(reason):
            report.outcome, report.longrepr = "failed", words
    return report
