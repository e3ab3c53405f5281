"""What is known of each server once it runs: build, effective settings, config, plans, sizes, counters, status, log tail."""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dbversus.errors import DbversusError, RunError
from dbversus.experiment.rig.rig import Rig, Target
from dbversus.explain.settings_diff import DDL
from dbversus.files import write_whole
from dbversus.private import config_told, recorded, said, told
from dbversus.results.schema import SERVERS
from dbversus.suites.send.define import literal_statement
from dbversus.suites.sql import is_query

PLANS = "plans.json"
_PLANNED = ("INSERT", "UPDATE", "DELETE", "REPLACE", "WITH", "MERGE")


def store_server_facts(rig: Rig) -> None:
    """Writes servers/<name>/ for every target whose server is running; a fact that cannot be had is told as such."""
    for target in rig.alive:
        folder = rig.folder / SERVERS / target.name
        facts: dict[str, Callable[[], Any]] = {
            "build.json": lambda target=target: asdict(target.build),  # type: ignore[misc]
            "settings.json": lambda target=target: recorded(target.server.settings()) | _ddl(target),  # type: ignore[misc]
            "sizes.json": target.server.sizes,
            "counters.json": target.server.counters,
            PLANS: lambda target=target: _all_plans(rig, target),  # type: ignore[misc]
            "config.txt": lambda target=target: config_told(target.server.config_text()),  # type: ignore[misc]
            "status.txt": lambda target=target: said(target.server.status_text()),  # type: ignore[misc]
        }
        for name, fact in facts.items():
            _store(rig, folder / name, fact)


def store_late_plans(rig: Rig) -> None:
    """Adds to plans.json those of tests that build on others: only at the end of a pass are their rows and indexes there."""
    if not rig.suite.is_pass:
        return
    rig.thaw_all()
    for target in rig.alive:
        path = rig.folder / SERVERS / target.name / PLANS
        _store(rig, path, lambda path=path, target=target: {**_known(path), **_plans(rig, target, late=True)})  # type: ignore[misc]


def _ddl(target: Target) -> dict[str, str]:
    """What its config changes in tables and indexes, for the differences of settings."""
    return {f"{DDL}{name}": value for name, value in target.server.config.ddl.items()}


def store_log_tails(rig: Rig) -> None:
    """Writes the end of each server's log, replacing that of an earlier block."""
    for target in rig.alive:
        path = rig.folder / SERVERS / target.name / "log_tail.txt"
        _store(rig, path, lambda target=target: said(target.server.log_tail()))  # type: ignore[misc]


def _store(rig: Rig, path: Path, fact: Callable[[], Any]) -> None:
    try:
        content = fact()
    except DbversusError as error:
        content = {"unavailable": str(error)}
    text = content if isinstance(content, str) else json.dumps(content, indent=1, default=str)
    write_whole(path, told(text), within=rig.folder)


def _all_plans(rig: Rig, target: Target) -> dict[str, str]:
    """Those on tables of this size, besides those of the sizes before."""
    before = _known(rig.folder / SERVERS / target.name / PLANS) if rig.size_suffix else {}
    return {**before, **_plans(rig, target)}


def _known(path: Path) -> dict[str, str]:
    """Plans that were stored before."""
    found: dict[str, str] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return {} if found.keys() == {"unavailable"} else found


def _plans(rig: Rig, target: Target, *, late: bool = False) -> dict[str, str]:
    """`<test>/<statement>` → plan; statements that the server does not explain are remarked on.

    `late`: of tests that build on others, else of all others.
    """
    plans, refused = {}, {}
    for statement, sql, session_sql in _explainable(rig, target, late=late):
        try:
            plans[statement] = target.server.plan(sql, session_sql)
        except RunError as error:
            refused[statement] = str(error)
    for words in dict.fromkeys(refused.values()):
        statements = ", ".join(name for name, why in refused.items() if why == words)
        rig.remark(f"no plan of {statements}: {words}", target)
    return plans


def _explainable(rig: Rig, target: Target, *, late: bool) -> Iterator[tuple[str, str, list[str]]]:
    spec, dbms = rig.spec, target.server.dbms
    for test in rig.suite.tests.values():
        # of a single statement servers have no plan, and that of the load's INSERTs tells nothing;
        # what builds on other tests finds neither its rows nor its indexes at first
        if test.has_one_client or bool(test.builds_on) != late or not test.statements:
            continue
        for name, sql in literal_statement(test, dbms, spec.table_size, spec.tables):
            # steps also build indexes, of which there is no plan
            if late and not (is_query(sql) or sql.lstrip().upper().startswith(_PLANNED)):
                continue
            yield (
                f"{test.name}{rig.size_suffix}/{name}",
                sql.replace("{table}", "1"),
                list(test.session_sql(dbms).values()),
            )
