"""One test in one block: check the answers, find the slot length, run the rows, flag the disturbed ones."""

import hashlib
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import msgspec

from dbversus.experiment.observe.background import drain, driven_ops, note_background, start_clocks_together
from dbversus.experiment.observe.counters import begin_counting, note_counters
from dbversus.experiment.observe.injection import Span, injecting
from dbversus.experiment.observe.memory import begin_footprint, note_footprint
from dbversus.experiment.plan.definitions import definitions
from dbversus.experiment.plan.slots import SlotPlan, SlotRules, plan_cold_slots, plan_slots, wanted_ops
from dbversus.experiment.rig.cold import cool
from dbversus.experiment.rig.engine import EngineGone, EngineRefused, Reply
from dbversus.experiment.rig.recovery import ENGINE_RENEWALS_AT_MOST, through_losses
from dbversus.experiment.rig.serving import pin_serving
from dbversus.experiment.rig.session import Case, Session
from dbversus.results.records import Answers, Check, Latency, Slots, Test, row_of
from dbversus.stats.disturbance import RowFigures, judge_row
from dbversus.stats.orders import balanced_orders, williams_square

PILOT_OPS = 20
PILOT_MS = 40
PILOT_ROW = 1_000_000
"""Far above the numbers of counted rows."""
COLD_PILOT_MS = 500
WARM_UP_MS = 500


@dataclass
class Tally:
    """What the rows of a case have come to. `figures`: of the host, in journaled ones.

    `driven`: all operations by target since its server was started, or the case begun: checks, pilots and settle parts change
    the data too. `broken`: a row was broken off, and what was driven of it is in no figure.
    `span`: what is injected over the journaled rows, and counted.
    """

    figures: list[RowFigures] = field(default_factory=list)
    driven: Counter[str] = field(default_factory=Counter)
    broken: bool = False
    span: Span = field(default_factory=Span)


def measure(session: Session, block: int, case: Case, *, replay: bool = False) -> None:
    """Measures a case on all targets that are up; goes on after the rows that the journal already has.

    With `replay` the same work is done (same keys, same counts) and nothing is journaled: it brings the data of restored
    targets into the state they had when an interrupted or retired test had been run. Servers and engines that break on
    the way are replaced, a few times, and the rest of the rows is measured.
    """
    through_losses(session, block, case, lambda: _measure(session, block, case, replay))


def _measure(session: Session, block: int, case: Case, replay: bool) -> None:
    began, cpu_began = time.monotonic(), time.process_time()
    done = 0 if replay and not case.test.changes_data else session.progress.rows[session.part(block, case)]
    counting = not replay and session.spec.cache != "cold"  # the counters begin anew with each restart
    counters = begin_counting(session, block, case, lambda: _idle(session, block, case)) if counting else {}
    begin_footprint(session)
    _open(session, block, case)
    tally = Tally(driven=_compare_answers(session, block, case, replay))
    if session.is_comparable(case):
        _measure_rows(session, block, case, done, replay, tally)
        if not replay:
            note_footprint(session, block, case)
        drain(session, block, case, tally.driven, journal=not replay)
        session.engine.call("close")
        if counting and not tally.broken:
            note_counters(session, block, case, counters, tally.driven)
    else:
        session.engine.call("close")
    if not replay:
        seconds, cpu_s = time.monotonic() - began, time.process_time() - cpu_began
        session.note(Test(block, case.name, seconds, cpu_s, **session.tag))
        session.progress.finished.add(session.part(block, case))


def _idle(session: Session, block: int, case: Case) -> None:
    """A case without any operation."""
    _open(session, block, case)
    session.engine.call("close")


def _measure_rows(session: Session, block: int, case: Case, done: int, replay: bool, tally: Tally) -> None:
    """Runs the rows of a case."""
    plan = session.progress.plans.get(session.shared(case)) or _pilot(session, block, case, tally)
    start_clocks_together(session, case)
    if replay:
        _run_rows(session, block, case, plan, 0, done or plan.rows, tally, counted=False)
        return
    if done and case.test.changes_data:
        _run_rows(session, block, case, plan, 0, done, tally, counted=False)
    with injecting(session, block, case) as tally.span:
        _run_rows(session, block, case, plan, done, plan.rows, tally, counted=True)


def warm_up(session: Session, block: int, case: Case) -> None:
    """Drives a test that only warms caches: once per target, uncounted, through losses as `measure`."""
    through_losses(session, block, case, lambda: _warm_up(session, block, case))


def _warm_up(session: Session, block: int, case: Case) -> None:
    _open(session, block, case)
    _one_row(session, case, session.alive_names, {"ms": WARM_UP_MS, "min_ops": 1})
    session.engine.call("close")


def _open(session: Session, block: int, case: Case) -> None:
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


def _compare_answers(session: Session, block: int, case: Case, replay: bool) -> Counter[str]:
    """Runs the check, unless all that are up have been through it: same parameters, values compared with the base's.

    Returns the operations that this took, by target.
    """
    known = session.progress.checked.setdefault(session.shared(case), {})
    if replay or not session.spec.check_events or session.solo or known.keys() >= set(session.alive_names):
        return Counter()
    if session.diverged:
        words = "a target, a server or the engine was lost on the way, so that the data of the targets may differ"
        session.remark(f"answers of {case.name} were not compared in block {block + 1}: {words}")
        return Counter()
    seed = _seed(session.spec.seed, case.name, -1)
    events = 1 if case.test.slow else session.spec.check_events
    replies = session.engine.call("check", events=events, seed=seed)["targets"]
    answers = msgspec.convert(replies, dict[str, Answers])
    expected = _digest(answers[session.base.name])
    differs = [name for name, answer in answers.items() if _digest(answer) != expected]
    session.note(Check(case.name, answers, agree=not differs, differs=differs, **session.tag))
    known.update({name: name not in differs for name in answers})
    return Counter(dict.fromkeys(answers, events))


def _digest(answer: Answers) -> tuple[Any, ...]:
    return answer.rows, answer.affected, answer.checksum


def _pilot(session: Session, block: int, case: Case, tally: Tally) -> SlotPlan:
    """Finds each target's rate, plans the slots, and journals the plan, which then holds for all blocks."""
    if session.spec.cache == "cold":
        _restart_cold(session, block, case, tally)
    names = session.measured(case)
    rates = _pilot_rates(session, case, names, tally)
    spec = session.spec
    rules = SlotRules(spec.slot_ms, spec.settle_ms, spec.rows, spec.seconds, spec.write_slot_ms)
    orders = len(williams_square(len(names)))
    plan = plan_slots(rules, rates, case.test.by_count, orders, case.clients)
    if spec.cache == "cold":
        plan = plan_cold_slots(spec.cold_slot_ms, rates, case.clients, once=case.test.slow)
    scanned = case.test.rows_scanned_per_op(spec.table_size, spec.tables)
    session.note(Slots(block, case.name, plan.slot, plan.settle, plan.rows, scanned, **session.tag))
    session.progress.plans[session.shared(case)] = plan
    return plan


def _pilot_rates(session: Session, case: Case, names: list[str], tally: Tally) -> list[float]:
    ops = max(PILOT_OPS, wanted_ops(case.clients))
    pilot_ms = COLD_PILOT_MS if session.spec.cache == "cold" else PILOT_MS
    row = PILOT_ROW
    while True:
        part = {"ops": ops} if case.test.by_count else {"ms": pilot_ms, "min_ops": 1}
        reply = _one_row(session, case, names, part, row)
        tally.driven.update(driven_ops(reply))
        slots = {slot["target"]: slot for slot in reply["slots"]}
        shortest_ms = min(slot["elapsed_ns"] for slot in slots.values()) / 1e6
        if not case.test.by_count or shortest_ms >= pilot_ms / 2 or ops >= 100_000:
            return [slots[name]["ops"] / slots[name]["elapsed_ns"] * 1e9 for name in names]
        ops *= 4
        row += 1  # other values: what is there already, written once more, changes nothing


def _one_row(session: Session, case: Case, names: list[str], part: dict[str, Any], number: int = PILOT_ROW) -> Reply:
    """One row outside the count, for the pilot."""
    replies = session.engine.stream(
        "rows",
        seed=_seed(session.spec.seed, case.name, -2),
        first_row=number,
        orders=[names],
        settle={"ops": 0 if session.spec.cache == "cold" else 1},
        slot=part,
        tag={"pilot": True},
    )
    row: Reply | None = None
    stopped: Reply = {}
    for reply in replies:
        row = reply if "slots" in reply else row
        stopped = reply.get("stopped", stopped)
    if row is None:
        kind = "connect" if stopped.get("kind") == "lost_connection" else "server"
        words = stopped.get("message", "it does not say why")
        raise EngineRefused(kind, f"The pilot of {case.name} was given up: {words}", stopped.get("target"))
    return row


def _run_rows(
    session: Session, block: int, case: Case, plan: SlotPlan, first: int, end: int, tally: Tally, *, counted: bool
) -> None:
    """Runs rows first..end-1, through restarts of servers and of the engine; those that are `counted` are journaled."""
    cold = counted and session.spec.cache == "cold"
    row, renewals = first, 0
    while row < end:
        ops: Counter[str] = Counter()
        try:
            if cold:
                _restart_cold(session, block, case, tally)
            for reply in _stream_rows(session, block, case, plan, row, row + 1 if cold else end):
                if "slots" in reply:
                    row += 1
                    ops.update(driven_ops(reply))
                    tally.span.drove(reply)
                    if counted:
                        _journal_row(session, block, case, reply, tally)
                elif reply.get("done") and counted:
                    _journal_latency(session, block, case, reply)
                    note_background(session, block, case, reply, ops)
                if stopped := reply.get("stopped"):
                    tally.broken = True
                    _mend(session, block, case, stopped)
                    tally.driven[stopped["target"]] = ops[stopped["target"]] = 0
                    tally.span.begin()
        except EngineGone as error:
            tally.broken = True
            renewals += 1
            if renewals > ENGINE_RENEWALS_AT_MOST:
                raise
            session.renew_engine(str(error), block=block, test=case.name)
            _open(session, block, case)
            tally.span.begin()
        finally:
            tally.driven.update(ops)


def _restart_cold(session: Session, block: int, case: Case, tally: Tally) -> None:
    """What comes before a row with cold caches; the stop of the servers has done what earlier rows had left to do."""
    cool(session, block)
    _open(session, block, case)
    tally.driven.clear()
    tally.span.begin()


def _stream_rows(session: Session, block: int, case: Case, plan: SlotPlan, first: int, end: int) -> Any:
    turn = first + block if session.spec.cache == "cold" else first  # cold: there is one row in a block
    session.freeze()
    return session.engine.stream(
        "rows",
        seed=_seed(session.spec.seed, case.name, block),
        first_row=session.first_row + first,
        orders=balanced_orders(session.measured(case), end - first, turn),
        settle=plan.settle,
        slot=plan.slot,
        tag={"block": block, "test": case.name, "clients": case.clients} | session.tag,
    )


def _mend(session: Session, block: int, case: Case, stopped: dict[str, Any]) -> None:
    session.thaw()
    where = {"block": block, "test": case.name, "row": stopped["row"]}
    session.revive(session.by_name(stopped["target"]), stopped["message"], **where)
    _open(session, block, case)


def _journal_row(session: Session, block: int, case: Case, reply: Reply, tally: Tally) -> None:
    """A row in which the host was disturbed counts like any other; that it was, and by what, is journaled with it."""
    figures = RowFigures.from_host(reply["host"])
    why = judge_row(figures, session.limits, tally.figures)
    tally.figures.append(figures)
    session.note(row_of(reply, why))
    session.progress.rows[session.part(block, case)] += 1


def _journal_latency(session: Session, block: int, case: Case, reply: Reply) -> None:
    measured = session.measured(case)
    for words in reply.get("accounting_notes", ()):
        session.remark(words)
    hdr = {name: text for name, text in reply.get("latency", {}).items() if name in measured}
    session.note(Latency(block, case.name, hdr, reply.get("error_examples", {})))


def _seed(seed: int, test: str, block: int) -> int:
    """The seed of a test's parameter streams in a block, the same for all targets and on every machine."""
    digest = hashlib.blake2b(f"{seed}/{test}/{block}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
