"""Opens a case on all targets that are up, and compares their answers."""

import hashlib
from typing import Any

import msgspec

from dbversus.experiment.observe.scene import Scene
from dbversus.experiment.plan.cases import Case
from dbversus.experiment.plan.definitions import definitions
from dbversus.experiment.rig.engine import EngineRefused
from dbversus.experiment.rig.serving import pin_serving
from dbversus.experiment.rig.session import Session
from dbversus.results.records import Answers, Check


def open_case(session: Session, block: int, case: Case) -> None:
    """Prepares the test on every target; one that cannot is out, with its own words, and the others go on.

    A server that takes no connections is restarted once: it may be recovering from the loss of one of its processes.
    """
    spec = session.spec
    restarted: set[str] = set()
    session.thaw()
    while True:
        try:
            opened = session.engine.call(
                "open",
                targets=session.alive_names,
                clients=case.clients,
                mode=spec.mode,
                cpus=list(session.cpus.client_cpus),
                foreground_cpus=list(session.cpus.foreground_cpus),
                tables=spec.tables,
                **_tests(session, case),
            )
            pin_serving(session, opened["backends"])
            return
        except EngineRefused as error:
            if error.target is None or not session.by_name(error.target).server.is_running():
                raise
            target, where = session.by_name(error.target), {"block": block, "test": case.name}
            if error.kind == "connect" and target.name not in restarted:
                restarted.add(target.name)
                session.revive(target, str(error), stage="open", **where)
            else:
                session.failure(target, "open", str(error), final=True, **where)


def _tests(session: Session, case: Case) -> dict[str, Any]:
    """`test` for all targets that are up; `tests` by target besides, where their DBMSs differ."""
    by_target = {target.name: target.server.dbms for target in session.alive}
    made = definitions(case.test, by_target.values(), session.spec.table_size, session.spec.tables)
    first, *others = made.values()
    return {"test": first} | ({"tests": {name: made[dbms] for name, dbms in by_target.items()}} if others else {})


def compare_answers(scene: Scene) -> None:
    """Runs the check, unless all that are up have been through it: same parameters, values compared with the base's.

    What this took, by target, counts as driven.
    """
    session, block, case = scene.session, scene.block, scene.case
    known = session.progress.checked.get(session.shared(case), {})
    if scene.replay or not session.spec.check_events or session.solo or known.keys() >= set(session.alive_names):
        return
    if session.diverged:
        words = "a target, a server or the engine was lost on the way, so that the data of the targets may differ"
        session.remark(f"answers of {case.name} were not compared in block {block + 1}: {words}")
        return
    seed = seed_of(session.spec.seed, case.name, -1)
    events = 1 if case.test.slow else session.spec.check_events
    replies = session.engine.call("check", events=events, seed=seed)["targets"]
    answers = msgspec.convert(replies, dict[str, Answers])
    expected = _digest(answers[session.base.name])
    differs = [name for name, answer in answers.items() if _digest(answer) != expected]
    session.note(Check(case.name, answers, agree=not differs, differs=differs, **session.tag))
    scene.driven.update(dict.fromkeys(answers, events))


def _digest(answer: Answers) -> tuple[Any, ...]:
    return answer.rows, answer.affected, answer.checksum


def seed_of(seed: int, test: str, block: int) -> int:
    """The seed of a test's parameter streams in a block, the same for all targets and on every machine."""
    digest = hashlib.blake2b(f"{seed}/{test}/{block}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
