"""What is known of each server once it runs: build, effective settings, config, plans, sizes, counters, status, log tail."""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dbversus.errors import DbversusError, RunError
from dbversus.experiment.rig.rig import Rig, Target
from dbversus.results.schema import SERVERS
from dbversus.suites.define import literal_statement


def store_server_facts(rig: Rig) -> None:
    """Writes servers/<name>/ for every target whose server is running; a fact that cannot be had is told as such."""
    for target in rig.alive:
        folder = rig.folder / SERVERS / target.name
        folder.mkdir(parents=True, exist_ok=True)
        facts: dict[str, Callable[[], Any]] = {
            "build.json": lambda target=target: asdict(target.build),  # type: ignore[misc]
            "settings.json": target.server.settings,
            "sizes.json": target.server.sizes,
            "counters.json": target.server.counters,
            "plans.json": lambda target=target: _plans(rig, target),  # type: ignore[misc]
            "config.txt": target.server.config_text,
            "status.txt": target.server.status_text,
        }
        for name, fact in facts.items():
            _store(folder / name, fact)


def store_log_tails(rig: Rig) -> None:
    """Writes the end of each server's log, replacing that of an earlier block."""
    for target in rig.alive:
        folder = rig.folder / SERVERS / target.name
        folder.mkdir(parents=True, exist_ok=True)
        _store(folder / "log_tail.txt", target.server.log_tail)


def _store(path: Path, fact: Callable[[], Any]) -> None:
    try:
        content = fact()
    except DbversusError as error:
        content = {"unavailable": str(error)}
    text = content if isinstance(content, str) else json.dumps(content, indent=1, default=str)
    path.write_text(text)


def _plans(rig: Rig, target: Target) -> dict[str, str]:
    """`<test>/<statement>` → plan; statements that the server does not explain are remarked on."""
    plans, refused = {}, {}
    for statement, sql in _explainable(rig, target):
        try:
            plans[statement] = target.server.plan(sql)
        except RunError as error:
            refused[statement] = str(error)
    for words in dict.fromkeys(refused.values()):
        statements = ", ".join(name for name, why in refused.items() if why == words)
        rig.remark(f"no plan of {statements}: {words}", target)
    return plans


def _explainable(rig: Rig, target: Target) -> Iterator[tuple[str, str]]:
    spec = rig.spec
    for test in rig.suite.tests.values():
        for name, sql in literal_statement(test, target.server.dbms, spec.table_size, spec.tables):
            yield f"{test.name}/{name}", sql.replace("{table}", "1")
