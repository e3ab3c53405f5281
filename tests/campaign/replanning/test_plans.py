"""Settings are tried until the wanted plan is there; what tests them is a target of its own."""

from collections.abc import Sequence
from typing import Any

from dbversus.campaign.replanning.plans import Replanned, Restoring, _tells_more, restoring, trial_targets
from dbversus.errors import RunError
from dbversus.explain.planner import Trial, plan_change, trials

WANTED = "Sort\n  ->  Seq Scan on t"


class FakeServer:
    dbms = "postgres"

    def __init__(self, needs: Sequence[str]):
        """`needs`: settings of which each takes one operator away that is too much."""
        self.needs = needs

    def plan(self, sql: str, session_sql: Sequence[str] = ()) -> str:
        if any("enable_refused" in text for text in session_sql):
            raise RunError("unrecognized configuration parameter")
        too_much = [name for name in self.needs if not any(name in text for text in session_sql)]
        return WANTED + "".join(f"\n  ->  Materialize\n  ->  Seq Scan on {name}" for name in too_much)


class Asked:
    def __init__(self, needs: Sequence[str]):
        self.target: Any = type("T", (), {"server": FakeServer(needs)})()

    def plan(self, before: Sequence[str] = ()) -> str:
        found: str = self.target.server.plan("SELECT 1", before)
        return found


def _trials(*names: str) -> list[Trial]:
    return trials("postgres", ("13", "17"), {}, dict.fromkeys(names, "on"))


def _items(found: Sequence[Restoring]) -> list[list[str]]:
    return [one.items for one in found]


def _restoring(needs: Sequence[str], chosen: Sequence[Trial]) -> list[list[str]]:
    asked: Any = Asked(needs)
    return _items(restoring(asked, WANTED, chosen))


def test_a_setting_that_brings_the_plan_back_is_found_and_refused_ones_are_passed_over() -> None:
    chosen = _trials("enable_refused", "enable_sort", "enable_memoize")
    assert _restoring(["enable_memoize"], chosen) == [["enable_memoize=off"]]


def test_two_settings_are_found_together() -> None:
    chosen = _trials("enable_sort", "enable_memoize", "jit")
    assert _restoring(["enable_memoize", "jit"], chosen) == [["enable_memoize=off", "jit=off"]]


def test_nothing_is_found_where_one_part_stays() -> None:
    assert _restoring(["enable_memoize", "something_else"], _trials("enable_sort", "enable_memoize")) == []


def test_the_trial_keeps_what_the_newer_target_has() -> None:
    found = Restoring(tuple(_trials("enable_memoize")))
    targets = ["postgres:13", "new=postgres:17@work_mem=8MB,enable_memoize=on"]
    assert trial_targets(targets, 1, found) == [*targets, "postgres:17@work_mem=8MB,enable_memoize=off"]


def test_switches_are_added_to_those_of_the_target() -> None:
    found = Restoring(tuple(trials("mysql", ("5.7", "8.0"), {}, {"optimizer_switch": "mrr=on,semijoin=on"})))
    target = "mysql:8.0@'optimizer_switch=icp=off,bka=off'"
    *_, tried = trial_targets(["mysql:5.7", target], 1, found)
    assert tried == "mysql:8.0@'optimizer_switch=icp=off,bka=off,mrr=off,semijoin=off'"


def test_a_generic_plan_is_shown_where_it_tells_more() -> None:
    other, same = (
        plan_change(WANTED, "Sort\n  ->  Index Scan using a on t", "postgres"),
        plan_change(WANTED, WANTED, "postgres"),
    )
    custom, generic = Replanned("t", "t/s", change=other), Replanned("t", "t/s (generic plan)", change=other)
    assert not _tells_more(generic, custom)
    assert _tells_more(generic, Replanned("t", "t/s", change=same))
    assert not _tells_more(Replanned("t", "t/s (generic plan)", change=same), custom)
