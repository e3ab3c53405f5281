"""What servers do beside answering: journaled by kind of work, and brought to its end after a test that changes data."""

import time
from collections import Counter

from dbversus.experiment.engine_client import EngineGone, Reply
from dbversus.experiment.session import Case, Session


def driven_ops(row: Reply) -> Counter[str]:
    """Operations by target that a row took, those of settle parts included: background work makes no difference."""
    return Counter({slot["target"]: slot["settle_ops"] + slot["ops"] for slot in row["slots"]})


def note_background(session: Session, block: int, case: Case, end: Reply, ops: Counter[str]) -> None:
    """Journals CPU of background work by kind, of the rows whose last line is `end` and which took `ops` operations."""
    lost = (end.get("stopped") or {}).get("target")
    targets = {
        name: {"ops": ops[name], "cpu_ns": cpu_ns}
        for name, cpu_ns in end.get("background", {}).items()
        if ops[name] and name != lost
    }
    if targets:
        session.note("background", block=block, test=case.name, targets=targets, **session.tag)


def drain(session: Session, block: int, case: Case, ops: Counter[str], *, journal: bool) -> None:
    """Lets every server that is up do, alone, what the test has left it to do; journals what that cost.

    `ops` are all operations by target that left something: since the server was started, or since the test began. A server
    that is not frozen while another is measured works at its own pace, so without freezing nothing is drained.
    """
    spec = session.spec
    if not case.test.changes_data or not spec.drain_s or not (spec.freeze or len(session.alive) == 1):
        return
    # one that is embedded works only while its client does
    processes = [target for target in session.alive if target.server.root_pid is not None]
    put_off_s = max((target.server.puts_off_s for target in processes), default=0.0)
    if spec.freeze:
        time.sleep(put_off_s)  # clocks go on in frozen servers: each takes up its work as soon as it is thawed
    idle_s = spec.drain_idle_s if spec.freeze else max(spec.drain_idle_s, put_off_s)
    limit_ms = max(1, round(spec.drain_s * 1000))
    idle_ms = min(limit_ms, max(1, round(idle_s * 1000)))
    found = {}
    for target in processes:
        try:
            reply = session.engine.call("drain", target=target.name, idle_ms=idle_ms, limit_ms=limit_ms)
        except EngineGone as error:
            session.renew_engine(str(error), block=block, test=case.name)
            return
        if target.server.is_running():
            figures = {name: value for name, value in reply.items() if name not in ("id", "done")}
            found[target.name] = {"ops": ops[target.name], **figures}
    if journal and found:
        session.note("drain", block=block, test=case.name, targets=found, **session.tag)
