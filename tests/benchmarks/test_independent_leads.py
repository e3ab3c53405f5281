"""Leads of equal copies: changes are counted, and those with a lead are named."""

import importlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dbversus.errors import UsageError
from dbversus.explain.cause import Cause, Explanation, Kind
from dbversus.explain.pair import Pair
from dbversus.results.read import open_results
from dbversus.stats.metrics import CPU
from tests.journals import DictJournal
from tests.report.pairs import Contender, write_pairs

leads: Any = importlib.import_module("independent_runs.leads")


def _run(folder: Path, **more: float) -> Path:
    copy = Contender("postgres:17#2", "postgres", "17.11", **more)
    run = write_pairs(folder / "quick-postgres-001", (Contender("postgres:17", "postgres", "17.11"), copy))
    with DictJournal(run) as journal:
        journal.append({"type": "finished", "reason": "looks"})
    return run


def test_changes_of_copies_are_counted(tmp_path: Path) -> None:
    _run(tmp_path, time=1.3)
    assert leads.leads_table([tmp_path]) == "runs: 1, changes in them: 2, with a cause or lead: 0"


def test_a_change_with_a_lead_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _run(tmp_path)
    causes = (Cause(Kind.BACKGROUND, "scan", "copy", "background.purge", 10.0, 90.0, "µs/op", 9.0, 0.8, share=0.8),)
    told = (
        Explanation("scan", "copy", "base", CPU, 1.5, None, causes),
        Explanation("load", "copy", "base", CPU, 1.5, None, ()),
    )
    monkeypatch.setattr(leads, "build_assessment", lambda _: SimpleNamespace(explanations=told))
    counted, _, *table = leads.leads_table([tmp_path]).splitlines()
    assert counted == "runs: 1, changes in them: 2, with a cause or lead: 1"
    assert len(table) == 3 and "quick-postgres-001" in table[-1] and "background: purge" in table[-1]


def test_copies_are_taken_for_other_builds(tmp_path: Path) -> None:
    results = open_results(_run(tmp_path))
    other = leads.as_other_builds(results)
    pair = Pair(other.header, other.targets[0], other.targets[1], (0, 1))
    assert not pair.are_the_same and not pair.same_build


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none is no folder; name one that"):
        leads.leads_table([tmp_path / "none"])
