"""Long runs beside short ones: what is late, and which directions differ."""

import argparse
import importlib
import lzma
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dbversus.errors import UsageError
from dbversus.stats.metrics import CPU, THROUGHPUT
from dbversus.stats.model import Finding, Verdict

long_writes: Any = importlib.import_module("long_writes")

OLD = long_writes.Course("insert", "old", [100.0] * 3 + [200.0] * 5, [10.0] * 8, [4096.0] * 8)
NEW = replace(OLD, target="new", ops_per_s=[50.0] * 3 + [300.0] * 5, cpu_us_per_op=[10.1] * 8)


def _finding(metric: str, ratio: float) -> Finding:
    return Finding(
        "insert", "new", metric, Verdict.REGRESSION, ratio, ratio, ratio, 0.95, 4, 0.0, 0.0, 0.03, None, None, None
    )


@pytest.mark.parametrize(("throughput", "said"), [(0.5, "differs"), (1.4, "")])
def test_a_direction_is_that_of_the_second_half(throughput: float, said: str) -> None:
    findings = {CPU: _finding(CPU, 1.2), THROUGHPUT: _finding(THROUGHPUT, throughput)}
    (row,) = long_writes.pair_rows([OLD, NEW], {("insert", "old", "new"): findings})
    assert row[:2] == ["insert", "old → new"]
    assert row[2:6] == ["1.01", "1.01", "1.20 regression", ""]  # 1 % is no direction
    assert row[6:10] == ["–", "–", "–", ""]  # an older file
    assert row[10:] == ["0.50", "1.50", f"{throughput:.2f} regression", said]


def test_the_foreground_has_a_direction_of_its_own() -> None:
    old, new = (replace(one, foreground_us_per_op=[cost] * 8) for one, cost in ((OLD, 8.0), (NEW, 10.0)))
    findings = {long_writes.FOREGROUND: _finding(long_writes.FOREGROUND, 0.9)}
    (row,) = long_writes.pair_rows([old, new], {("insert", "old", "new"): findings})
    assert row[6:10] == ["1.25", "1.25", "0.90 regression", "differs"]


def test_pairs_without_a_comparison_are_left_out() -> None:
    assert list(long_writes.pair_rows([OLD, NEW], {})) == []


def test_ten_minutes_are_one_pass_without_a_pause() -> None:
    spec = long_writes.spec_of(["postgres:17"], "insert", 10, 1000, "split")
    assert spec.order == "sequential" and spec.looks == [1] and spec.alone
    assert spec.rows * spec.write_slot_ms == 600_000 and spec.warm_up_ms == 0


def test_in_turns_each_target_has_its_ten_minutes() -> None:
    spec = long_writes.spec_of(["mysql:5.6", "mariadb:10.11"], "insert", 10, 1000, "split")
    assert spec.order == "interleaved" and not spec.alone
    assert spec.rows * spec.write_slot_ms == 600_000 and spec.seconds >= 2 * 600


def test_courses_in_turns_are_taken_apart(tmp_path: Path) -> None:
    run = Path(__file__).parents[1] / "data/runs/postgres-11-13.jsonl.xz"
    (tmp_path / "both").mkdir()
    (tmp_path / "both/journal.jsonl").write_bytes(lzma.decompress(run.read_bytes()))
    one, other = long_writes.courses(tmp_path)
    assert one.target != other.target and len(one.ops_per_s) == len(other.ops_per_s) > 0
    assert one.ops_per_s != other.ops_per_s


def test_what_was_exported_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known = [replace(one, foreground_us_per_op=[8.0] * 8) for one in (OLD, NEW)]
    monkeypatch.setattr(long_writes, "_measured", lambda _: known)
    long_writes.export(argparse.Namespace(folder=tmp_path, no_head=False))
    (tmp_path / "courses.csv").write_text(capsys.readouterr().out)
    assert long_writes.courses(tmp_path / "courses.csv") == known


@pytest.mark.parametrize("file", ["long-writes.csv", "long-writes-busy.csv", "long-writes-one-core.csv"])
def test_the_files_of_docs_are_read(file: str) -> None:
    found = long_writes.courses(Path(__file__).parents[2] / "docs/results" / file)
    assert found and all(len(one.ops_per_s) >= 30 for one in found)
    assert all(one.foreground_us_per_op for one in found) == (file == "long-writes-one-core.csv")


def test_findings_of_a_comparison_are_by_test_and_pair(tmp_path: Path) -> None:
    run = Path(__file__).parents[1] / "data/runs/postgres-11-13.jsonl.xz"
    (tmp_path / "journal.jsonl").write_bytes(lzma.decompress(run.read_bytes()))
    found = long_writes.short_findings([tmp_path])
    (place,) = [each for each in found if each[0] == "scan"]
    assert found[place].keys() == set(long_writes.METRICS) and found[place][CPU].ratio < 0.9


def test_a_file_that_is_no_export_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(UsageError, match="does not begin with test,target,slot"):
        long_writes.courses(tmp_path / "other.csv")
