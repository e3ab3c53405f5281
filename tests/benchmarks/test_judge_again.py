"""Stored runs judged again: one line for each, or for each test, and what has changed since an earlier judgement."""

import copy
import importlib
import json
import lzma
import sys
from pathlib import Path
from typing import Any

import pytest

from dbversus.errors import UsageError
from dbversus.stats.metrics import CPU, IO_BYTES, THROUGHPUT

judge_again: Any = importlib.import_module("judge_again")

RUN = Path(__file__).parents[1] / "data/runs/sqlite-demo-steal.jsonl.xz"
SAID = {
    "headline": "regression",
    CPU: {"verdict": "regression", "ratio": 1.0512, "low": 1.03, "high": 1.07},
    THROUGHPUT: {"verdict": "unstable", "ratio": 0.9, "low": None, "high": None},
    IO_BYTES: {"verdict": "equivalent", "ratio": None, "low": None, "high": None},
}
JUDGED = {"one": {"scan": SAID, "insert": {"headline": "failed"}}}


def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: str | Path) -> str:
    monkeypatch.setattr(sys, "argv", ["judge_again.py", *map(str, words)])
    judge_again.main()
    return capsys.readouterr().out


def test_a_run_of_an_old_schema_is_judged_and_nothing_changes_by_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / RUN.name.partition(".")[0]
    folder.mkdir()
    (folder / "journal.jsonl").write_bytes(lzma.decompress(RUN.read_bytes()))
    before = folder.parent / "before.json"
    before.write_text(run(capsys, monkeypatch, folder, "--json"))
    judged = json.loads(before.read_text())
    assert list(judged) == ["sqlite-demo-steal"] and len(judged["sqlite-demo-steal"]) == 12
    # a folder of runs is as good as the run
    line = run(capsys, monkeypatch, folder.parent).splitlines()[2]
    assert line.startswith("| sqlite-demo-steal | 12 | ")
    assert run(capsys, monkeypatch, folder, "--against", before) == "Nothing has changed.\n"


def test_a_line_for_each_run_and_for_each_test() -> None:
    (line,) = judge_again.runs_table(JUDGED).splitlines()[2:]
    assert line == "| one | 2 | 1 regression, 1 failed | 1 regression | 1 unstable |"
    first, second = judge_again.tests_table(JUDGED).splitlines()[2:]
    assert first == "| one | scan | regression | 1.051 [1.030, 1.070] regression | 0.900 unstable | equivalent |"
    assert second == "| one | insert | failed | – | – | – |"


def test_only_what_is_shown_otherwise_has_changed() -> None:
    now: Any = copy.deepcopy(JUDGED)
    now["one"]["scan"][CPU]["ratio"] = 1.0511  # the same in three digits
    assert list(judge_again.changes(JUDGED, now)) == []
    now["one"]["scan"] |= {"headline": "equivalent"}
    now["one"]["scan"][CPU] |= {"verdict": "equivalent", "ratio": 1.01}
    del now["one"]["insert"]
    now["two"] = JUDGED["one"]
    assert list(judge_again.changes(JUDGED, now)) == [
        ["one", "scan", "headline", "regression", "equivalent"],
        ["one", "scan", CPU, "1.051 [1.030, 1.070] regression", "1.010 [1.030, 1.070] equivalent"],
        ["one", "insert", "headline", "failed", "–"],
    ]


def test_what_is_no_run_and_no_judgement_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"is no results folder and holds none"):
        judge_again.judge_all([tmp_path])
    (tmp_path / "list.json").write_text("[]")
    for name in ("list.json", "missing.json"):
        with pytest.raises(UsageError, match="name what --json printed"):
            judge_again.read_judged(tmp_path / name)
