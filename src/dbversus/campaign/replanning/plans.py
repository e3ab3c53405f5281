"""Plans of two targets without measuring: both are loaded and started, all statements explained, and settings tried.

`explain --plans` shows what comes of it.
"""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dbversus.builds.target import parse_target, split_name
from dbversus.campaign.screening.factors import written
from dbversus.dbms.flavour import NOT_EXPLAINED
from dbversus.dbms.known import family_name
from dbversus.dbms.versions import in_range, is_version, version_key
from dbversus.errors import RunError, UsageError
from dbversus.experiment.asked.spec import ExperimentSpec
from dbversus.experiment.observe.servers import explainable
from dbversus.experiment.plan.estimate import estimate
from dbversus.experiment.plan.progress import Progress
from dbversus.experiment.rig.ready import closing, make_ready
from dbversus.experiment.rig.rig import Display, Rig, Target
from dbversus.experiment.rig.stage import set_stage
from dbversus.experiment.rig.start import start_block
from dbversus.explain.operators import Difference
from dbversus.explain.planner import Kind, PlanChange, Trial, items_of, plan_change, trials
from dbversus.suites.model import LOADED
from dbversus.units import count_of

GENERIC_PLAN = " (generic plan)"
"""Behind the name of a statement: of a prepared one, planned without its values."""
MOST_TOGETHER = 3
"""Settings that are tried together where none does by itself."""
MOST_SHOWN = 3
"""Settings that bring a plan back: so many are named."""
EXPLAIN_S, TRIALS_S, START_S = 0.05, 3.0, 10.0
"""What is expected of a statement, of trials for it, and of the start of servers."""


@dataclass(frozen=True)
class Restoring:
    """Settings that together bring the old plan back: one, or where no single one does, the fewest that were found."""

    trials: tuple[Trial, ...]

    @property
    def items(self) -> list[str]:
        return items_of(self.trials)


@dataclass(frozen=True)
class Replanned:
    """A statement on both targets.

    `plans`: of the base and of the other; `refused`: why there is no plan on one of them, else empty. `restoring`: what brings
    the older server's plan back on the newer one, likeliest first; `tried`: how many settings were.
    """

    test: str
    statement: str
    plans: tuple[str, str] = ("", "")
    change: PlanChange | None = None
    refused: str = ""
    restoring: tuple[Restoring, ...] = ()
    tried: int = 0

    @property
    def differs(self) -> bool:
        return self.change is not None and self.change.kind in (Kind.INDEX, Kind.SHAPE)


@dataclass(frozen=True)
class Plans:
    """`newer`: place of the target on which settings were tried. `left_out`: by test, why nothing of it was explained."""

    labels: tuple[str, str]
    newer: int
    found: list[Replanned]
    left_out: dict[str, str]


@dataclass(frozen=True)
class _Asked:
    """A statement with literal values on one target."""

    target: Target
    sql: str
    session_sql: Sequence[str]

    def plan(self, before: Sequence[str] = ()) -> str:
        return self.target.server.plan(self.sql, [*self.session_sql, *before])


def check_plans(spec: ExperimentSpec) -> None:
    """Raises UsageError with one sentence where the plans of the two targets cannot be compared."""
    one, other = (parse_target(text) for text in spec.targets)
    if one.dbms != other.dbms:
        raise UsageError(
            f"--plans compares plans of one DBMS; {one.dbms} and {other.dbms} have words of their own for the same thing."
        )
    if len(spec.table_sizes) > 1:
        raise UsageError("--plans takes one --table-size; a plan depends on it.")


def replan(spec: ExperimentSpec, display: Display, *, wait: bool) -> Plans:
    """Raises UsageError before anything is started, RunError when a target is lost; nothing is left but snapshots."""
    check_plans(spec)
    with (
        tempfile.TemporaryDirectory(prefix="dbversus-") as folder,
        set_stage(spec, display, wait=wait, is_measured=False) as stage,
    ):
        display.expect(_expected_s(spec))
        rig = stage.rig(lambda _: None, Path(folder), Progress(), display)
        with closing(rig):
            make_ready(rig)
            start_block(rig, 0, LOADED if rig.suite.needs_rows else rig.suite.phases[0].data)
            rig.thaw_all()
            if len(rig.alive) < len(rig.targets):
                raise RunError(rig.dead_end or "One of the two targets could not be started.")
            return _compared(rig)


def _expected_s(spec: ExperimentSpec) -> float:
    suite = spec.read_suite()
    statements = sum(len(test.statements) for test in suite.reported_tests)
    return estimate(spec, suite).load_s + START_S + statements * 2 * EXPLAIN_S


def _compared(rig: Rig) -> Plans:
    base, other = rig.targets
    newer = 0 if _is_older(other, base) else 1
    asked = [_asked(rig, target) for target in rig.targets]
    names = list(dict.fromkeys(name for of_target in asked for name in of_target))
    found: list[Replanned] = []
    for name in names:
        rig.display.doing(f"explaining {name}")
        one = _replanned(name, *(of_target.get(name) for of_target in asked))
        if not name.endswith(GENERIC_PLAN) or _tells_more(one, found[-1]):
            found.append(one)
    differing = [number for number, one in enumerate(found) if one.differs]
    rig.display.expect(len(differing) * TRIALS_S)
    for done, number in enumerate(differing):
        rig.display.doing(f"trying settings for {found[number].statement}")
        rig.display.expect((len(differing) - done) * TRIALS_S)
        found[number] = _tried(found[number], [of_target[found[number].statement] for of_target in asked], newer)
    return Plans((base.label, other.label), newer, found, _left_out(rig, {one.test for one in found}))


def _tells_more(generic: Replanned, custom: Replanned) -> bool:
    """Whether another generic plan is not just what the plan for values shows as well."""
    if generic.change is None or generic.change.kind is Kind.SAME:
        return False
    return custom.change is None or custom.change.words != generic.change.words


def _asked(rig: Rig, target: Target) -> dict[str, _Asked]:
    """Statements with values as literals, and beside them those that PostgreSQL prepares, as planned for whichever values."""
    found: dict[str, _Asked] = {}
    has_generic = family_name(target.server.dbms) == "postgres" and in_range(target.build.version, "12", "")
    for name, one, own in explainable(rig, target, single=True):
        found[name] = _Asked(target, one.sql, own)
        if has_generic and rig.spec.mode == "prepared" and one.values:
            before = [f"PREPARE explained AS {one.numbered}", "SET plan_cache_mode = force_generic_plan"]
            sql = f"EXECUTE explained({', '.join(one.values)})"
            found[f"{name}{GENERIC_PLAN}"] = _Asked(target, sql, [*own, *before])
    return found


def _left_out(rig: Rig, explained: set[str]) -> dict[str, str]:
    """Test → why none of its statements was explained."""
    tests = [test for test in rig.suite.reported_tests if test.name not in explained and not test.loads]
    return {
        test.name: "needs what other tests change" if test.builds_on else "servers have no plan of its statements"
        for test in tests
    }


def _is_older(one: Target, other: Target) -> bool:
    versions = (one.build.version, other.build.version)
    return all(map(is_version, versions)) and version_key(versions[0]) < version_key(versions[1])


def _replanned(name: str, base: _Asked | None, other: _Asked | None) -> Replanned:
    test = name.rpartition("/")[0].partition("/")[0]
    if base is None or other is None:
        return Replanned(test, name, refused="one of the two does not run it")
    plans = []
    for one in (base, other):
        try:
            plans.append(one.plan())
        except RunError as error:
            return Replanned(test, name, refused=f"{one.target.label}: {error}")
        if plans[-1].startswith(NOT_EXPLAINED):
            return Replanned(test, name, refused=f"{one.target.label} does not explain such statements")
    return Replanned(test, name, (plans[0], plans[1]), plan_change(plans[0], plans[1], base.target.server.dbms))


def _tried(one: Replanned, asked: Sequence[_Asked], newer: int) -> Replanned:
    """With what brings the plan of the older one back."""
    mine, theirs = asked[newer], asked[1 - newer]
    versions = (theirs.target.build.version, mine.target.build.version)
    settings = (theirs.target.server.settings(), mine.target.server.settings())
    chosen = trials(mine.target.server.dbms, versions, *settings)
    if one.statement.endswith(GENERIC_PLAN):
        chosen = [trial for trial in chosen if trial.name != "plan_cache_mode"]
    found = restoring(mine, one.plans[1 - newer], chosen)
    return Replanned(one.test, one.statement, one.plans, one.change, restoring=found, tried=len(chosen))


def restoring(asked: _Asked, wanted: str, chosen: Sequence[Trial]) -> tuple[Restoring, ...]:
    """Settings that give the plan `wanted`: all that do so singly; else some together, each of which came nearer to it.

    What collects statistics anew is tried only where nothing else does.
    """
    for some in ([one for one in chosen if not one.known.analyze], [one for one in chosen if one.known.analyze]):
        lefts = {one: _left(asked, wanted, (one,)) for one in some}
        if singly := [one for one, left in lefts.items() if left == 0]:
            return tuple(Restoring((one,)) for one in singly)
    together = _together(asked, wanted, [one for one in chosen if not one.known.analyze])
    return (Restoring(together),) if together else ()


def _together(asked: _Asked, wanted: str, chosen: Sequence[Trial]) -> tuple[Trial, ...]:
    """Empty where even these do not bring it back."""
    taken: tuple[Trial, ...] = ()
    left = _left(asked, wanted, ())
    while left and len(taken) < MOST_TOGETHER:
        names = {one.name for one in taken}
        lefts = {one: _left(asked, wanted, (*taken, one)) for one in chosen if one.name not in names}
        best = min(lefts, key=lambda one: lefts[one], default=None)
        if best is None or lefts[best] >= left:
            return ()
        taken, left = (*taken, best), lefts[best]
    return taken if left == 0 else ()


def _left(asked: _Asked, wanted: str, chosen: Sequence[Trial]) -> float:
    """How many operators differ from the wanted plan; infinite where a setting is refused."""
    dbms = asked.target.server.dbms
    try:
        plan = asked.plan([sql for one in chosen for sql in one.sql(dbms)])
    except RunError:
        return float("inf")
    left = plan_change(wanted, plan, dbms).difference
    return _size(left)


def _size(left: Difference) -> int:
    return len(left.gone) + len(left.new)


def trial_targets(targets: Sequence[str], newer: int, found: Restoring) -> list[str]:
    """The two targets, and the newer one with the settings that bring the old plan back."""
    _, target = split_name(targets[newer])
    build = target.partition("@")[0]
    switch = "optimizer_switch"
    items = found.items
    names = {item.partition("=")[0] for item in items}
    kept = []
    for item in parse_target(targets[newer]).configs:
        name, _, value = item.partition("=")
        if name not in names:
            kept.append(item)
        elif name == switch:
            items = [f"{switch}={value},{one.partition('=')[2]}" if one.startswith(switch) else one for one in items]
    # the older one is the base: what is asked is whether the change against it goes away
    base = targets[1 - newer]
    return [base, targets[newer], written(build, [*kept, *items])]


def brought_back(plans: Plans, one: Replanned) -> Iterator[str]:
    """What brings the old plan back, where the two differ."""
    if not one.differs:
        return
    newer, older = plans.labels[plans.newer], plans.labels[1 - plans.newer]
    if not one.restoring:
        yield f"no setting of {newer} was found that brings the plan of {older} back ({one.tried} tried)"
        return
    first, *others = one.restoring
    known = first.trials[0]
    new = f": {known.known.means}, new in {known.new_in}" if known.new_in and len(first.trials) == 1 else ""
    yield f"{' with '.join(first.items)} brings the plan of {older} back{new}"
    if others:
        shown = [" with ".join(other.items) for other in others[:MOST_SHOWN]]
        more = f" and {len(others) - len(shown)} more" if len(others) > len(shown) else ""
        yield f"so does {', '.join(shown)}{more}"


def told(plans: Plans) -> str:
    """`3 of 18 statements have another plan.`"""
    explained = [one for one in plans.found if not one.refused and not one.statement.endswith(GENERIC_PLAN)]
    differing = sum(one.differs for one in explained)
    return f"{count_of(len(explained), 'statement')} explained, {differing} of them with another plan in shape."
