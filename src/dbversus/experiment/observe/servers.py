"""What is known of each server once it runs: build, effective settings, config, plans, sizes, counters, status, log tail."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from dbversus.errors import DbversusError, RunError
from dbversus.experiment.rig.rig import Rig, Target
from dbversus.explain.executed import RARE
from dbversus.explain.settings_diff import DDL
from dbversus.files import write_whole
from dbversus.private import config_told, recorded, said, with_short_paths
from dbversus.results.schema import SERVERS
from dbversus.servers.base import Executed, Execution
from dbversus.suites.send.define import Sample, samples
from dbversus.suites.sql import is_query

PLANS, EXECUTED, PLANNING = "plans.json", "executed.json", "planning.json"
EXECUTION_S, EXECUTED_S = 5.0, 30.0
"""Of a statement that is executed for its plan, and of all of a target."""
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


def store_executed_plans(rig: Rig) -> None:
    """Writes executed.json: the plans of all statements as they are executed, where their tests were run in this block; and
    planning.json.

    That is once, outside all slots, while the servers are up and warm. On servers whose data is kept nothing is executed.
    """
    if rig.spec.restore == "never":
        return
    rig.thaw_all()
    for target in rig.alive:
        done: dict[str, Executed] = {}
        folder = rig.folder / SERVERS / target.name
        _store(rig, folder / EXECUTED, lambda target=target, done=done: _executed(rig, target, done))  # type: ignore[misc]
        _store(rig, folder / PLANNING, lambda target=target, done=done: _planned(rig, target, done))  # type: ignore[misc]


def _planned(rig: Rig, target: Target, done: Mapping[str, Executed]) -> dict[str, float]:
    """`<test>/<statement>` → milliseconds that planning it takes each time, of those before and what is `done` now."""
    before = _known(rig.folder / SERVERS / target.name / PLANNING)
    return {**before, **{name: one.planning_ms for name, one in done.items() if one.planning_ms is not None}}


def _executed(rig: Rig, target: Target, done: dict[str, Executed]) -> dict[str, str]:
    """`<test>/<statement>` → plan with typical values; ` (rare)` behind it: with values that are seldom drawn.

    Of those before, and of what is done now, which `done` takes.
    """
    refused: dict[str, str] = {}
    until = time.monotonic() + EXECUTED_S
    for names, statements, session_sql in _executions(rig, target):
        if time.monotonic() > until:
            refused |= dict.fromkeys(names, f"the {EXECUTED_S:g} s for it were used up")
            continue
        try:
            done |= zip(names, target.server.executed_plans(statements, session_sql), strict=True)
        except RunError as error:
            refused |= dict.fromkeys(names, str(error))
    refused |= {name: one.refused for name, one in done.items() if one.refused}
    _remark_on(rig, target, "not executed for the plan of", refused)
    before = _known(rig.folder / SERVERS / target.name / EXECUTED)
    return {**before, **{name: one.plan for name, one in done.items() if one.plan}}


def _executions(rig: Rig, target: Target) -> Iterator[tuple[list[str], list[Execution], list[str]]]:
    """Of each test its statements by name, which are executed together: one may need what another has changed."""
    spec, dbms = rig.spec, target.server.dbms
    for test in rig.suite.reported_tests:
        if test.has_one_client or test.builds_on or not test.statements:
            continue
        asked = (test, dbms, spec.table_size, spec.tables)
        typical, rare = samples(*asked), samples(*asked, rare=True)
        for own, mark in ((typical, ""), (rare, RARE)):
            if mark and rare == typical:
                continue
            names = [f"{test.name}{rig.size_suffix}/{one.name}{mark}" for one in own]
            statements = [
                Execution(
                    one.sql.replace("{table}", "1"),
                    EXECUTION_S,
                    one.numbered.replace("{table}", "1") if (one.mode or spec.mode) == "prepared" else "",
                    one.values,
                )
                for one in own
            ]
            yield names, statements, list(test.session_sql(dbms).values())


def _remark_on(rig: Rig, target: Target, what: str, refused: Mapping[str, str]) -> None:
    """A remark for each reason. `refused`: statement → why."""
    for words in dict.fromkeys(refused.values()):
        statements = ", ".join(name for name, why in refused.items() if why == words)
        rig.remark(f"{what} {statements}: {words}", target)


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
    write_whole(path, with_short_paths(text), within=rig.folder)


def _all_plans(rig: Rig, target: Target) -> dict[str, str]:
    """Those on tables of this size, besides those of the sizes before."""
    before = _known(rig.folder / SERVERS / target.name / PLANS) if rig.size_suffix else {}
    return {**before, **_plans(rig, target)}


def _known(path: Path) -> dict[str, Any]:
    """What was stored before, by statement."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return {} if found.keys() == {"unavailable"} else found


def _plans(rig: Rig, target: Target, *, late: bool = False) -> dict[str, str]:
    """`<test>/<statement>` → plan; statements that the server does not explain are remarked on.

    `late`: of tests that build on others, else of all others.
    """
    plans, refused = {}, {}
    for statement, sample, session_sql in explainable(rig, target, late=late):
        try:
            plans[statement] = target.server.plan(sample.sql, session_sql)
        except RunError as error:
            refused[statement] = str(error)
    _remark_on(rig, target, "no plan of", refused)
    return plans


def explainable(
    rig: Rig, target: Target, *, late: bool = False, single: bool = False
) -> Iterator[tuple[str, Sample, list[str]]]:
    """`<test>/<statement>`, its SQL for the first table with typical values, and what its session executes first.

    `late`: of tests that build on others, else of all others. `single`: also single statements of which there is a plan.
    """
    spec, dbms = rig.spec, target.server.dbms
    for test in rig.suite.reported_tests:
        # of most single statements servers have no plan, and that of the load's INSERTs tells nothing;
        # what builds on other tests finds neither its rows nor its indexes at first
        is_asked = not test.has_one_client or (single and test.is_single)
        if not is_asked or bool(test.builds_on) != late or not test.statements:
            continue
        for one in samples(test, dbms, spec.table_size, spec.tables):
            # steps also build indexes, of which there is no plan
            if (late or test.is_single) and not _has_plan(one.sql):
                continue
            first = replace(one, sql=one.sql.replace("{table}", "1"), numbered=one.numbered.replace("{table}", "1"))
            yield f"{test.name}{rig.size_suffix}/{one.name}", first, list(test.session_sql(dbms).values())


def _has_plan(sql: str) -> bool:
    return is_query(sql) or sql.lstrip().upper().startswith(_PLANNED)
