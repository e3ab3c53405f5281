"""Servers of an experiment with known slowdowns carry the library that makes them (docs/injection.md)."""

from collections.abc import Sequence
from pathlib import Path

from dbversus.builds.model import TargetSpec
from dbversus.dbms.known import find_dbms
from dbversus.errors import UsageError
from dbversus.experiment.asked.shares import check_tests
from dbversus.experiment.asked.spec import ExperimentSpec
from dbversus.experiment.plan.cases import cases_of
from dbversus.host.user import server_user
from dbversus.servers.base import Server
from dbversus.servers.injection import Injection, library_path
from dbversus.servers.process.daemon import Daemon
from dbversus.servers.process.engine import engine_binary
from dbversus.suites.model import Suite


def check_injection(spec: ExperimentSpec, suite: Suite, specs: Sequence[TargetSpec]) -> None:
    """Raises UsageError when the experiment injects into what is no server, or into tests that it does not run."""
    if spec.inject is None:
        return
    for target, text in zip(specs, spec.targets, strict=True):
        if not find_dbms(target.dbms).binaries:
            raise UsageError(
                f"There is nothing to inject into: {text} is no process of its own; `inject` is for "
                "PostgreSQL, MySQL, MariaDB and MyRocks."
            )
    tests = suite.reported_tests
    cases = [case.name for test in tests for case in cases_of(test, spec)]
    check_tests(spec.inject, list(dict.fromkeys([*(test.name for test in tests), *cases])))


def carry_library(server: Server, folder: Path) -> None:
    """Every later start of the server is with the library and a control page in `folder`, nothing being injected yet."""
    if isinstance(server, Daemon):
        server.injection = Injection(folder, library_path(engine_binary()), server_user())
