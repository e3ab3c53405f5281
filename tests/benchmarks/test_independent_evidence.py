"""Block values in a file are judged as they were in their folders, and those of real runs by the rules of the day."""

import importlib
import lzma
import sys
from collections import defaultdict
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from dbversus.errors import UsageError
from dbversus.results.read import open_results
from dbversus.stats.calibration.evaluate import share
from dbversus.stats.judge import judge
from dbversus.stats.metrics import CPU, IO_BYTES, THROUGHPUT
from dbversus.stats.model import Verdict

from ..journals import records_of
from ..left_out import not_meant_for
from ..stats.intervals import contradictions
from ..stats.twin_results import Truth as TwinTruth
from ..stats.twin_results import twin_results

evidence: Any = importlib.import_module("independent_runs.evidence")
independent: Any = importlib.import_module("independent")
kept: Any = importlib.import_module("independent_runs.kept")
outcome: Any = importlib.import_module("independent_runs.outcome")
plan: Any = importlib.import_module("independent_runs.plan")
tables: Any = importlib.import_module("independent_runs.tables")

ROOT = Path(__file__).parents[2]
RUNS = ROOT / "tests/data/runs"
REAL = ROOT / "docs/results/independent.parquet"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
STORED = {
    "quick-sqlite-001": "sqlite-demo-steal",
    "standard-postgres-001": "postgres-11-13",
    "busy-postgres-001": "postgres-settings-busy",
}
MOST_RUNS_WITH_AN_ALARM = 0.05


def unpacked(folder: Path, *names: str) -> Path:
    """Stored runs as `measure` leaves them in a folder."""
    for name in names:
        (folder / name).mkdir(parents=True)
        (folder / name / "journal.jsonl").write_bytes(lzma.decompress((RUNS / f"{STORED[name]}.jsonl.xz").read_bytes()))
        (folder / f"{name}.commits").write_text(f"{COMMIT}\n")
    return folder


@pytest.mark.parametrize("name", STORED)
def test_findings_of_the_file_are_those_of_the_folder(name: str, tmp_path: Path) -> None:
    evidence.keep(tmp_path / "runs.parquet", [unpacked(tmp_path / "runs", name)])
    (run,) = evidence.read_evidence(tmp_path / "runs.parquet")
    of_file = {finding.key: finding for finding in evidence.findings_of(run)}
    of_folder = {one.key: one for one in judge(open_results(tmp_path / "runs" / name)) if one.judged and one.blocks}
    assert of_file.keys() == of_folder.keys() and len(of_file) >= 20
    # no slots, no say on whose IO it was (nor on rows in which nothing was done: there are none here)
    same = [key for key, finding in of_folder.items() if not finding.is_unpaid]
    assert len(same) >= 0.9 * len(of_folder) and {key[2] for key in of_folder.keys() - same} <= {IO_BYTES}
    for key in same:
        mine, theirs = (
            (found.verdict, found.ratio, found.low, found.high, found.q_value)
            for found in (of_file[key], of_folder[key])
        )
        assert mine == theirs, key


def test_the_table_of_the_file_is_that_of_the_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, file = unpacked(tmp_path / "runs", *STORED), tmp_path / "runs.parquet"
    for words in (["keep", file, folder], ["judge", file]):
        monkeypatch.setattr(sys, "argv", ["independent.py", *map(str, words)])
        independent.main()
    said = capsys.readouterr().out
    assert said.endswith(f"{tables.ABOUT_JUDGED_ANEW}Measured by the source of {COMMIT} (3 runs).\n")
    of_folder = {one.run.name: one for one in outcome.read_outcomes([folder])}
    of_file = {one.run.name: one for one in map(evidence.judged_anew, evidence.read_evidence(file))}
    assert of_file.keys() == of_folder.keys() == set(STORED)
    for name, found in of_file.items():
        assert (found.day, found.host, found.minutes, found.errors) == (
            of_folder[name].day,
            of_folder[name].host,
            of_folder[name].minutes,
            of_folder[name].errors,
        )
        assert [(one.test, one.asked, one.truth) for one in found.tests] == [
            (one.test, one.asked, one.truth) for one in of_folder[name].tests
        ]
    assert tables.report([of_file["busy-postgres-001"]]) == tables.report([of_folder["busy-postgres-001"]])


def test_a_file_keeps_what_is_in_it_and_has_no_run_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "runs.parquet"
    evidence.keep(file, [unpacked(tmp_path / "first", "quick-sqlite-001")])
    evidence.keep(file, [unpacked(tmp_path / "second", "quick-sqlite-001", "busy-postgres-001")])
    found = evidence.read_evidence(file)
    assert [(run.run, run.commits) for run in found] == [
        ("quick-sqlite-001", [COMMIT]),
        ("busy-postgres-001", [COMMIT]),
    ]
    assert "left out" not in capsys.readouterr().err
    again = tmp_path / "second/quick-sqlite-001/journal.jsonl"
    again.write_text(again.read_text().replace(f'"at_unix_ns":{found[0].began}', f'"at_unix_ns":{found[0].began + 1}'))
    evidence.keep(file, [tmp_path / "second"])
    assert evidence.read_evidence(file) == found
    assert "has another quick-sqlite-001" in capsys.readouterr().err


def test_what_was_added_and_what_no_value_bears_is_kept(tmp_path: Path) -> None:
    folder, file = unpacked(tmp_path / "runs", "standard-postgres-001"), tmp_path / "runs.parquet"
    evidence.keep(file, [folder])
    (run,) = evidence.read_evidence(file)
    first, second, *others = run.tests
    tests = [replace(first, asked=0.05, truth=0.04), replace(second, verdict="failed"), *others]
    changed = replace(
        run,
        tests=tests,
        truths=[evidence.Truth(first.test, 0, 0.04)],
        margins=[evidence.Margin(first.test, CPU, 4.0)],
        undrained=[evidence.Undrained(first.test, run.copy, CPU)],
    )
    evidence.write_evidence([changed], file)
    assert evidence.read_evidence(file) == [changed]
    found, plain = evidence.judged_anew(changed), evidence.judged_anew(run)
    assert (found.tests[0].asked, found.tests[0].truth, found.tests[0].cpu.margin) == (0.05, 0.04, 4.0)
    assert found.tests[1].verdict is Verdict.FAILED
    assert found.errors[first.test][0] == pytest.approx(plain.errors[first.test][0] - 0.04)
    assert found.errors[first.test][1] == plain.errors[first.test][1]


def test_what_was_truly_added_goes_through_the_file(tmp_path: Path) -> None:
    """Of three targets, only the last is counted."""
    shares = {f"test{number}": 0.05 for number in range(3)}
    twins = twin_results(TwinTruth(blocks=4), spec={"inject": {"2": {"cpu": shares}}}, looks=[4])
    ended = records_of(
        {"type": "finished", "reason": "looks used up", "at_unix_ns": twins.header.at_unix_ns + 60 * 10**9}
    )
    results = replace(twins, records=(*twins.records, *ended))
    of_folder = outcome.outcome_of(plan.Run("standard", "postgres", 1), results)
    file = tmp_path / "runs.parquet"
    evidence.write_evidence([evidence.kept_run(of_folder, results, [COMMIT])], file)
    (of_file,) = map(evidence.judged_anew, evidence.read_evidence(file))
    assert [test.asked for test in of_folder.tests] == [0.05] * 3 + [0.0] * 3
    assert all(test.truth > 0.01 and test.findings for test in of_folder.tests)
    assert tables.report([of_file]) == tables.report([of_folder])
    assert of_file.errors == of_folder.errors


def test_what_is_no_file_of_it_is_refused(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.parquet"
    damaged.write_text("no Parquet")
    with pytest.raises(UsageError, match=r"damaged\.parquet is damaged, or no file of `keep`"):
        evidence.read_evidence(damaged)
    with pytest.raises(UsageError, match="is not there"):
        evidence.read_evidence(tmp_path / "missing.parquet")
    with pytest.raises(UsageError, match=r"does not end in \.parquet"):
        evidence.keep(tmp_path / "runs.csv", [tmp_path])
    with pytest.raises(UsageError, match="no finished run"):
        evidence.keep(tmp_path / "runs.parquet", [tmp_path])
    with pytest.raises(UsageError, match="mistyped is no folder"):
        evidence.keep(tmp_path / "runs.parquet", [tmp_path / "mistyped"])
    with pytest.raises(UsageError, match="is a file of `keep`"):
        kept.outcomes_in([damaged])


def test_runs_of_another_name_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "runs.parquet"
    evidence.keep(file, [unpacked(tmp_path / "runs", "quick-sqlite-001")])
    (run,) = evidence.read_evidence(file)
    assert list(asdict(run)) == list(evidence._COLUMNS)
    evidence.write_evidence([replace(run, run="quick-001")], file)
    with pytest.raises(UsageError, match="'quick-001' names no run"):
        evidence.read_evidence(file)


def test_rules_of_the_day_hold_on_the_runs_that_are_kept() -> None:
    """IO aside, of which some is withheld only where there are slots."""
    if not REAL.exists():
        not_meant_for(f"a tree without {REAL.relative_to(ROOT)}, where `benchmarks/independent.py keep` puts real runs")
    runs = evidence.read_evidence(REAL)
    assert all(run.commits for run in runs)
    assert [words for run in runs for words in contradictions(evidence.findings_of(run))] == []
    alarmed: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for found in map(evidence.judged_anew, runs):
        alarms = [one for test in found.equal for one in test.alarms if one.metric in (CPU, THROUGHPUT)]
        alarmed[found.group].append(bool(alarms))
    too_many = {
        group: hits for group, hits in alarmed.items() if share(sum(hits), len(hits)).low > MOST_RUNS_WITH_AN_ALARM
    }
    assert too_many == {}
