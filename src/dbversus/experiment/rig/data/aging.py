"""Data as it is after a while of changes: made once from the loaded data, and kept as a snapshot of its own.

Tables and indexes fresh from a load are packed in a way that no table in use is. Changes to them measure how they come apart,
which is over after a while and never comes again (docs/evidence/aged-data.md).
"""

from pathlib import Path
from typing import Any

from dbversus.errors import RunError
from dbversus.experiment.plan.definitions import definitions
from dbversus.experiment.rig.data.prepare import snapshot_key
from dbversus.experiment.rig.memory import lift_limit
from dbversus.experiment.rig.recovery import through_engine_loss
from dbversus.experiment.rig.rig import Rig, Target
from dbversus.servers.data import snapshot
from dbversus.suites.model import AGED, LOADED, Aging


def age_all(rig: Rig) -> None:
    """Makes a snapshot of aged data for every target that has none yet, where the suite has a phase that needs it."""
    aging = rig.suite.aging
    if aging is None or not rig.suite.ages:
        return
    for target in rig.alive:
        key = aged_key(rig, target, aging)
        rig.held.enter_context(snapshot.using(key))
        found = snapshot.find(key)
        try:
            target.snapshots[AGED] = found or through_engine_loss(rig, lambda: _age(rig, target, aging, key))  # noqa: B023
        except RunError as error:
            rig.failure(target, "load", f"its data could not be aged: {error}", final=True)


def aged_key(rig: Rig, target: Target, aging: Aging) -> dict[str, Any]:
    """All that determines aged data: what determines the loaded data, and what is done to it."""
    return snapshot_key(rig, target) | {
        "aging": [_definition(rig, target, aging), _operations(rig, aging), aging.rounds]
    }


def _definition(rig: Rig, target: Target, aging: Aging) -> dict[str, Any]:
    dbms = target.server.dbms
    return definitions(aging.test, [dbms], rig.spec.table_size, rig.spec.tables)[dbms]


def _operations(rig: Rig, aging: Aging) -> int:
    return aging.operations_of_round(rig.spec.table_size, rig.spec.tables)


def _age(rig: Rig, target: Target, aging: Aging, key: dict[str, Any]) -> Path:
    rig.display.doing(f"{target.label}: aging the data")
    rig.remove(target)
    snapshot.restore(target.snapshots[LOADED], target.server.data_dir)
    lift_limit(target)
    rig.start(target)
    # open for all rounds: sequences go on from one to the next
    tables = rig.spec.tables  # as many clients: each may have a table of its own
    rig.engine.call("open", targets=[target.name], clients=tables, tables=tables, test=_definition(rig, target, aging))
    for number in range(aging.rounds):
        if number:
            target.server.settle(rig.names_of_tables(target))
        _drive(rig, target, number, _operations(rig, aging))
        rig.engine.call("thaw", targets=[target.name])  # rows leave their targets frozen
    # before the last settling: a connection of PostgreSQL reports what it changed when it ends, or ten seconds later
    rig.engine.call("close")
    target.server.settle(rig.names_of_tables(target))
    rig.remove(target)
    return snapshot.keep(target.server.data_dir, key)


def _drive(rig: Rig, target: Target, number: int, operations: int) -> None:
    """One round: the same operations on every target, since seed and number alone determine them."""
    replies = rig.engine.stream(
        "rows",
        seed=rig.spec.seed,
        first_row=number,
        orders=[[target.name]],
        settle={"ops": 0},
        slot={"ops": operations},
    )
    for reply in replies:
        if stopped := reply.get("stopped"):
            raise RunError(stopped["message"])
