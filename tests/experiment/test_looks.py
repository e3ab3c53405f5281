"""Who has a say in whether a test is decided."""

from pathlib import Path
from typing import Any

import pytest

from dbversus.experiment.looks import newly_decided
from dbversus.stats.metrics import PRIMARY
from dbversus.stats.model import Finding, Verdict

from .fakes import make_rig


def _findings(test: str, target: str, verdict: Verdict) -> list[Finding]:
    known: dict[str, Any] = {"ratio": 1.0, "low": 0.99, "high": 1.01, "p_value": 0.5, "q_value": 0.5, "block_sd": 0.01}
    known |= {"confidence": 0.98, "margin": 0.03, "smallest_visible_change": 0.02, "degrees_of_freedom": 9.0}
    return [
        Finding(test=test, target=target, metric=metric.name, verdict=verdict, blocks=4, **known) for metric in PRIMARY
    ]


def _judged_as(findings: list[Finding], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dbversus.experiment.looks.open_results", lambda directory: directory)
    monkeypatch.setattr("dbversus.stats.judge.judge", lambda results: findings)


def test_a_target_that_left_the_run_keeps_no_test_from_being_retired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = make_rig(tmp_path, targets=3)
    label, gone = rig.targets[1].label, rig.targets[2].label
    findings = [
        *_findings("point-query", label, Verdict.EQUIVALENT),
        *_findings("point-query", gone, Verdict.UNDECIDED),
        *_findings("update-index", label, Verdict.UNDECIDED),
    ]
    _judged_as(findings, monkeypatch)
    contest = rig.contest
    assert newly_decided(contest, tmp_path) == []
    contest.progress.out["t2"] = "no room"
    assert newly_decided(contest, tmp_path) == ["point-query"]
    contest.progress.looks[4] = ["point-query"]
    assert contest.undecided == ["update-index"] and newly_decided(contest, tmp_path) == []


def test_nor_does_one_that_is_not_measured_in_it_for_its_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = make_rig(tmp_path, targets=3)
    right, wrong = rig.targets[1].label, rig.targets[2].label
    findings = [
        *_findings("point-query", right, Verdict.EQUIVALENT),
        *_findings("point-query", wrong, Verdict.UNDECIDED),
        *_findings("update-index", right, Verdict.EQUIVALENT),
        *_findings("update-index", wrong, Verdict.UNDECIDED),
    ]
    _judged_as(findings, monkeypatch)
    for test in ("point-query", "update-index"):
        rig.progress.checked[test, ""] = {"t0": True, "t1": True, "t2": False}
    assert newly_decided(rig.contest, tmp_path) == ["point-query"]
