"""Plans of tests that changed: what brings an old one back is the target to try, and is asked for once."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dbversus.campaign.finding import replanned as module
from dbversus.campaign.finding.asked import Change, Experiment
from dbversus.campaign.finding.replanned import replanned, why_not
from dbversus.campaign.replanning.plans import Plans, Replanned, Restoring
from dbversus.errors import UsageError
from dbversus.experiment.asked.spec import ExperimentSpec, make_spec
from dbversus.explain.planner import plan_change, trials

TARGETS = ["postgres:13.23", "postgres:14.24@work_mem=8MB"]
CHANGES = (Change("joined@4", 1, plan=True), Change("other", 1, plan=True))
MEMOIZE = Restoring(tuple(trials("postgres", ("13.23", "14.24"), {}, {"enable_memoize": "on"})))
SORT = Restoring(tuple(trials("postgres", ("13.23", "14.24"), {}, {"enable_sort": "on"})))


def _spec(**choices: object) -> ExperimentSpec:
    return make_spec({"targets": TARGETS, "table_size": 1000} | choices)


def _statement(test: str, restoring: Sequence[Restoring]) -> Replanned:
    plans = ("Seq Scan on t", "Memoize\n  ->  Seq Scan on t")
    change = plan_change(*plans, "postgres")
    return Replanned(test, f"{test}/s", plans, change, restoring=tuple(restoring), tried=20)


def _replan(monkeypatch: pytest.MonkeyPatch, newer: int) -> list[ExperimentSpec]:
    asked: list[ExperimentSpec] = []

    def found(spec: ExperimentSpec, *_: object, **__: object) -> Plans:
        asked.append(spec)
        statements = [_statement("joined", [one]) for one in (SORT, MEMOIZE, MEMOIZE)]
        return Plans(("old", "new"), newer, [*statements, _statement("other", [])], {})

    monkeypatch.setattr(module, "replan", found)
    return asked


def _found(directory: Path, changes: Sequence[Change] = CHANGES) -> tuple[Sequence[Change], Sequence[str]]:
    display: Any = None
    return replanned(directory, Experiment(_spec(), changes), changes, display, wait=False)


def test_the_setting_that_brings_most_statements_back_is_tried_and_what_is_known_is_not_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = _replan(monkeypatch, newer=1)
    (joined, other), told = _found(tmp_path)
    assert joined.replanned == "postgres:14.24@work_mem=8MB,enable_memoize=off" and other.replanned == ""
    assert "enable_memoize=off brings the plan of old back" in told[1] and "no setting of new was found" in told[-1]
    (spec,) = asked
    assert (spec.targets, spec.tests) == (TARGETS, "joined,other")
    assert _found(tmp_path) == ((joined, other), told) and len(asked) == 1
    _found(tmp_path, [Change("third", 1, plan=True)])
    assert len(asked) == 2


def test_nothing_is_tried_on_the_base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _replan(monkeypatch, newer=0)
    found, _ = _found(tmp_path)
    assert not any(change.replanned for change in found)


def test_a_torn_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "measured").mkdir()
    (tmp_path / "measured/plans-1.json").write_text('{"tests": [')
    with pytest.raises(UsageError, match=r"plans-1\.json cannot be read: .*; delete it to compare plans again"):
        _found(tmp_path)


def test_it_is_said_why_plans_are_not_compared() -> None:
    assert why_not(Experiment(_spec(), CHANGES), CHANGES) == ""
    assert "has another plan on another build" in why_not(Experiment(_spec(), ()), ())
    assert "several sizes" in why_not(Experiment(_spec(table_size=[1000, 2000]), CHANGES), CHANGES)
