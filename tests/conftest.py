"""For all tests: one that is left out fails where it is demanded; a folder that servers can reach."""

import shutil
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from .left_out import complaint
from .small_host import new_folder

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)


WITH_SERVERS = {"bench", "mysql_build", "of_mysqls_family", "postgres", "postgres_build"}
"""Fixtures that bring one."""


@pytest.fixture(scope="module")
def open_folder() -> Iterator[Path]:
    """One that, unlike pytest's, every user may enter: what is measured runs as one without rights."""
    folder = new_folder("dbv-open-")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


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
