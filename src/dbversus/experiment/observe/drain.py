"""What servers have put off is brought to its end: by their clocks before a test, and after one that changes data."""

import time
from collections import Counter
from collections.abc import Iterable

import msgspec

from dbversus.experiment.observe.scene import Scene
from dbversus.experiment.plan.strikes import strikes
from dbversus.experiment.rig.engine import EngineGone, Reply
from dbversus.experiment.rig.rig import Rig, Target
from dbversus.results.records import Drain, DrainFigures
from dbversus.results.records.usage import ServerUsage

# What one strike of a clock brings is over after so long, or goes on while the test runs, as it would without us.
STRIKE_IDLE_MS = 100
STRIKE_LIMIT_MS = 500


def start_clocks_together(scene: Scene) -> None:
    """Lets what servers do by their clocks happen in all of them at once, before the rows: so it comes again in all at once.

    Else one takes up its purge at the third row of a test and another at the eleventh, and the test is not the same for both.
    """
    rig, case = scene.rig, scene.case
    put_off_s = _put_off_s(rig.alive)
    if scene.replay or not (case.test.changes_data and rig.spec.freeze and put_off_s):
        return
    rig.freeze()
    time.sleep(put_off_s)
    rig.thaw()
    for target in _processes(rig):
        _let_go(rig, target, STRIKE_IDLE_MS, STRIKE_LIMIT_MS)


def drain(scene: Scene) -> None:
    """Lets every server that is up do, alone, what the test has left it to do; journals what that cost.

    The operations that left something are all that were driven since the server was started, or since the test began. A server
    that is not frozen while another is measured works at its own pace, so without freezing nothing is drained.
    """
    rig = scene.rig
    if not scene.case.test.changes_data:
        return
    try:
        found = _until_idle(rig)
    except EngineGone as error:
        rig.renew_engine(str(error), **scene.where)
        return
    if found:
        figures = {name: msgspec.structs.replace(drained, ops=scene.driven[name]) for name, drained in found.items()}
        rig.note(Drain(*scene.place, figures, **rig.tag))


def drain_replays(rig: Rig) -> None:
    """Lets them do what replayed tests have left, all of it at once, so that it does not fall on the test that comes next."""
    if rig.undrained:
        rig.freeze()
        _until_idle(rig)
        rig.undrained = False


def _until_idle(rig: Rig) -> dict[str, DrainFigures]:
    """What servers did that are running still, by name; nothing where none is drained. Raises EngineGone."""
    spec, processes = rig.spec, _processes(rig)
    if not processes or not spec.drain_s or not (spec.freeze or len(rig.alive) == 1):
        return {}
    put_off_s = _put_off_s(processes)
    idle_s = spec.drain_idle_s if spec.freeze else max(spec.drain_idle_s, put_off_s)
    limit_ms = max(1, round(spec.drain_s * 1000))
    idle_ms = min(limit_ms, max(1, round(idle_s * 1000)))
    found: dict[str, DrainFigures] = {}
    frozen_at_s = dict.fromkeys((target.name for target in processes), time.monotonic())
    for _ in range(strikes(put_off_s, spec.freeze)):
        for target in processes:
            if spec.freeze:  # clocks go on in frozen servers: each takes up its work as soon as it is thawed
                time.sleep(max(0.0, frozen_at_s[target.name] + put_off_s - time.monotonic()))
            reply = _let_go(rig, target, idle_ms, limit_ms)
            frozen_at_s[target.name] = time.monotonic()
            before = found.pop(target.name, None)
            if target.server.is_running():
                figures = msgspec.convert({**reply, "ops": 0}, DrainFigures)
                found[target.name] = _sum(before, figures) if before else figures
    return found


def _let_go(rig: Rig, target: Target, idle_ms: int, limit_ms: int) -> Reply:
    """Until it is idle; what it did."""
    return rig.engine.call("drain", target=target.name, idle_ms=idle_ms, limit_ms=limit_ms)


def _sum(before: DrainFigures, more: DrainFigures) -> DrainFigures:
    """What a server did in both; whether it is idle in the end."""
    counters = (*ServerUsage.__struct_fields__, "elapsed_ns")
    both = {name: (getattr(before, name), getattr(more, name)) for name in counters}
    sums = {name: None if None in values else sum(values) for name, values in both.items()}
    background = Counter(before.background or {}) + Counter(more.background or {})
    return msgspec.structs.replace(more, **sums, background=dict(background))


def _processes(rig: Rig) -> list[Target]:
    """Servers that work while no client does, unlike embedded ones."""
    return [target for target in rig.alive if target.server.root_pid is not None]


def _put_off_s(targets: Iterable[Target]) -> float:
    return max((target.server.deferred_work_s for target in targets), default=0.0)
