"""Opens a case on all targets that are up, and compares their answers."""

import copy
import hashlib
from typing import Any

import msgspec

from dbversus.dbms.sql.ddl import Ddl
from dbversus.experiment.cell.answers import same_answers
from dbversus.experiment.observe.scene import Scene
from dbversus.experiment.plan.cases import Case
from dbversus.experiment.plan.definitions import definitions
from dbversus.experiment.rig.engine import EngineRefused, Reply
from dbversus.experiment.rig.forms import (
    all_drivers,
    answers_of,
    driver_name,
    forms_of,
    introduce_forms,
    named_as,
    target_of,
)
from dbversus.experiment.rig.rig import Rig, Target
from dbversus.experiment.rig.serving import pin_serving
from dbversus.results.records import Answers, Check
from dbversus.suites.send.define import Json, statements_in
from dbversus.suites.send.judged_load import load_definition


def open_case(rig: Rig, block: int, case: Case) -> None:
    """Prepares the test on every target; one that cannot is out, with its own words, and the others go on.

    A server that takes no connections is restarted once: it may be recovering from the loss of one of its processes.
    """
    spec = rig.spec
    restarted: set[str] = set()
    rig.thaw()
    while True:
        try:
            introduce_forms(rig, case)
            opened = rig.engine.call(
                "open",
                targets=all_drivers(rig, case),
                clients=case.clients,
                mode=spec.mode,
                cpus=list(rig.cpus.client_cpus),
                foreground_cpus=list(rig.cpus.foreground_cpus),
                tables=spec.tables,
                **_tests(rig, case),
            )
            rig.serving = opened["backends"]
            pin_serving(rig, rig.serving)
            return
        except EngineRefused as error:
            target = rig.by_name(target_of(error.target)) if error.target else None
            if target is None or not target.server.is_running():
                raise
            where = {"block": block, "test": case.name}
            if error.kind == "connect" and target.name not in restarted:
                restarted.add(target.name)
                rig.revive(target, str(error), stage="open", **where)
            else:
                rig.failure(target, "open", str(error), final=True, **where)


def _tests(rig: Rig, case: Case) -> dict[str, Any]:
    """`test` for all targets that are up; `tests` by target besides, where their DBMSs differ."""
    if case.test.loads:
        return _loads(rig, case)
    dbms = [target.server.dbms for target in rig.alive]
    by_target: dict[str, Json] = {}
    of_first: dict[str, Json] = {}
    for form in forms_of(case):
        made = definitions(form.test, dbms, rig.spec.table_size, rig.spec.tables, case.clients)
        of_first = of_first or made
        for target in rig.alive:
            own = _as_config_says(made[target.server.dbms], target)
            as_named = own if form.name == case.name else named_as(own, of_first[target.server.dbms], form)
            by_target[driver_name(target.name, case, form)] = as_named
    first, *others = by_target.values()
    return {"test": first} | ({"tests": by_target} if any(other != first for other in others) else {})


def _as_config_says(made: Json, target: Target) -> Json:
    """With the clause for indexes that the target's config has, in statements that create one."""
    ddl = Ddl(target.server.config.ddl)
    own = copy.deepcopy(made)
    for statement in statements_in(own):
        statement["sql"] = ddl.in_statement(statement["sql"])
    return own


def _loads(rig: Rig, case: Case) -> dict[str, Any]:
    """As `_tests`, of the load: a target's config may say how tables and indexes are made."""
    size, tables = case.table_size, rig.spec.tables
    made = {target.name: load_definition(case.test, size, tables, target.server.table_sql) for target in rig.alive}
    return {"test": next(iter(made.values())), "tests": made}


def compare_answers(scene: Scene) -> None:
    """Runs the check, unless all that are up have been through it: same parameters, values compared with the base's.

    What this took, by target, counts as driven. Work with an end is done once, so there is nothing to compare before it.
    """
    rig, block, case = scene.rig, scene.block, scene.case
    known = rig.progress.checked.get(rig.shared(case), {})
    if case.test.work or scene.replay or not rig.spec.check_events or rig.solo or known.keys() >= set(rig.alive_names):
        return
    if rig.diverged:
        why = "a target, a server or the engine was lost on the way, or a step ended early"
        words = f"{why}, so that the data of the targets may differ"
        rig.remark(f"answers of {case.name} were not compared in block {block + 1}: {words}")
        return
    seed = seed_of(rig.spec.seed, case.name, -1)
    events = 1 if case.test.slow else rig.spec.check_events
    replies = rig.engine.call("check", events=events, seed=seed)["targets"]
    of_first = {target: replies[target] for target in rig.alive_names}
    for form, own in answers_of(replies, rig, case):
        _note_answers(rig, form, own, of_first)
    scene.driven.update(dict.fromkeys(replies, events))


def _note_answers(rig: Rig, case: Case, replies: Reply, of_first: Reply) -> None:
    """Of a form also whether each target answers to it as to the test that it is against, `of_first`."""
    answers = msgspec.convert(replies, dict[str, Answers])
    statements, expected = case.test.statements, replies[rig.base.name]
    differs = [name for name, reply in replies.items() if not same_answers(reply, expected, statements)]
    others = [name for name in replies if not same_answers(replies[name], of_first[name], statements)]
    rig.note(
        Check(case.name, answers, agree=not differs, differs=differs, other_than_against=others or None, **rig.tag)
    )


def seed_of(seed: int, test: str, block: int) -> int:
    """The seed of a test's parameter streams in a block, the same for all targets and on every machine."""
    digest = hashlib.blake2b(f"{seed}/{test}/{block}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
