import json
from pathlib import Path

import pytest

from dbversus.report.assessment import build_assessment
from dbversus.report.parts.experiment.trials import measured_trials, trials_among
from dbversus.results.read import open_results
from dbversus.results.schema import JOURNAL
from dbversus.stats.comparison import compare
from dbversus.stats.judge import judge

from ...synthetic import LABELS, write_results

TRIED = f"{LABELS[1]}@work_mem=16MB"


def with_trial(folder: Path, base: str = LABELS[0], name: str = "trial-1") -> Path:
    """Results of two targets, with an experiment beside them in which the second one was tried with a setting."""
    write_results(folder, targets=2)
    journal = write_results(folder / "measured/1" / name, targets=3) / JOURNAL
    header, *rest = journal.read_text().splitlines()
    record = json.loads(header)
    record["targets"][0]["label"] = base
    record["targets"][2]["label"] = TRIED
    journal.write_text("\n".join([json.dumps(record), *rest]) + "\n")
    (journal.parent / "slots.parquet").unlink(missing_ok=True)
    return folder


@pytest.mark.parametrize("name", ["trial-1", "confirm", "confirm-2"])
def test_trials_are_of_the_test_and_the_target_that_were_tried(name: str, tmp_path: Path) -> None:
    """Those of what a screen found are trials, too."""
    found = measured_trials(open_results(with_trial(tmp_path / "results", name=name)))
    assert {target for _, target in found} == {LABELS[1]}
    trials = found["range-notcovered-si", LABELS[1]]
    assert {trial.settings for trial in trials} == {"work_mem=16MB"}
    assert all(trial.change.target == LABELS[1] and trial.after.target == TRIED for trial in trials)


def test_what_was_tried_against_another_base_is_passed_over(tmp_path: Path) -> None:
    assert not measured_trials(open_results(with_trial(tmp_path / "results", base="postgres:9.6")))


def test_configs_of_a_screen_are_no_trials(tmp_path: Path) -> None:
    assert not measured_trials(open_results(with_trial(tmp_path / "results", name="screen")))


def test_results_without_any_have_none(tmp_path: Path) -> None:
    assert not measured_trials(open_results(write_results(tmp_path / "plain", targets=2)))


def test_a_build_that_is_gone_is_in_nobodys_way(tmp_path: Path) -> None:
    """Reports are read on other hosts, too: the text of a target is taken apart without looking for its build."""
    folder = with_trial(tmp_path / "results", base="postgres:13.1")
    journals = (folder / JOURNAL, folder / "measured/1/trial-1" / JOURNAL)
    for journal in journals:
        journal.write_text(journal.read_text().replace(f'"{LABELS[1]}', '"postgres:/gone/pg17'))
        (journal.parent / "slots.parquet").unlink(missing_ok=True)
    found = measured_trials(open_results(folder))
    assert {trial.settings for trials in found.values() for trial in trials} == {"work_mem=16MB"}


def test_a_damaged_trial_is_told_and_costs_the_report_nothing_else(tmp_path: Path) -> None:
    folder = with_trial(tmp_path / "results")
    journal = folder / "measured/1/trial-1" / JOURNAL
    journal.write_text("no journal\n")
    assessment = build_assessment(open_results(folder))
    assert assessment.explanations
    (said,) = [note for one in assessment.sections if one.name == "functions" for note in one.notes]
    assert str(journal.parent) in said


def with_settings(folder: Path, *asked: tuple[str, str, dict[str, str]]) -> list[str]:
    """Results of targets of these binaries, names and settings; the trials of the second one."""
    journal = write_results(folder, targets=3) / JOURNAL
    header, *rest = journal.read_text().splitlines()
    record = json.loads(header)
    for target, (checksum, label, settings) in zip(record["targets"], asked, strict=True):
        target |= {"checksum": checksum, "label": label, "rendered": {"name": "c", "settings": settings}}
    journal.write_text("\n".join([json.dumps(record), *rest]) + "\n")
    (folder / "slots.parquet").unlink(missing_ok=True)
    results = open_results(folder)
    of_test = [one for one in compare(results, judge(results)) if one.test == "range-notcovered-si"]
    tried = list(trials_among(results, results.targets[1], of_test))
    assert all((one.change.target, one.after.target) == (asked[1][1], asked[2][1]) for one in tried)
    return sorted({trial.settings for trial in tried})


OLD = ("1", "postgres:13.1", {"jit": "off"})
BARE = ("2", "postgres:17.11", {"jit": "off"})
JIT = ("2", "postgres:17.11@jit=on", {"jit": "on"})
MORE = ("2", "postgres:17.11@jit=on,work_mem=9MB", {"jit": "on", "work_mem": "9MB"})
SIMILAR = ("2", "postgres:17.11@jit=once", {"jit": "once"})


@pytest.mark.parametrize(
    ("base", "target", "other", "settings"),
    [
        (OLD, JIT, BARE, ["jit=off"]),  # it is put back
        (OLD, JIT, MORE, ["work_mem=9MB"]),  # it may bring an older version's behaviour back
        (OLD, JIT, SIMILAR, []),  # neither of the two
        (OLD, JIT, ("3", "postgres:17.12", {"jit": "off"}), []),  # another build
        (BARE, MORE, JIT, ["work_mem not set"]),
        (BARE, JIT, MORE, []),  # of one build, what neither has cannot be why they differ
    ],
)
def test_targets_of_one_build_are_trials_of_each_other(
    base: tuple[str, str, dict[str, str]],
    target: tuple[str, str, dict[str, str]],
    other: tuple[str, str, dict[str, str]],
    settings: list[str],
    tmp_path: Path,
) -> None:
    assert with_settings(tmp_path / "results", base, target, other) == settings
