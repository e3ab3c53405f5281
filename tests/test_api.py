"""dbversus from Python: the example of docs/python.md, the lazy names, and what is refused."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dbversus

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = "\n".join(re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/python.md").read_text(), re.M | re.S))


@pytest.fixture(scope="module")
def experiment(open_folder: Path) -> dbversus.Experiment:
    """What the page measures; the page's code itself has run, in a fresh interpreter."""
    folder = open_folder
    done = subprocess.run(
        [sys.executable, "-c", EXAMPLE],
        cwd=folder,
        env={**os.environ, "DBVERSUS_HOME": str(folder / "home"), "DBVERSUS_HOST_LOCK": str(folder / "lock")},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    printed = done.stdout
    assert "operations on the base" in printed
    assert "update-index sqlite:bundled@wal,cache_64mb server_cpu_us_per_op" in printed
    assert printed.splitlines()[-1].startswith("unknown setting 'profil'; accepted: targets,")
    assert not (folder / "results/mistake").exists()
    return dbversus.read(folder / "results/caches")


@pytest.mark.e2e
def test_findings_are_those_of_the_report(experiment: dbversus.Experiment) -> None:
    stored = experiment.sql("SELECT test, metric, verdict, ratio FROM findings")

    assert stored == [
        {"test": one.test, "metric": one.metric, "verdict": str(one.verdict), "ratio": one.ratio}
        for one in experiment.findings
    ]
    assert {one.test for one in experiment.findings if one.judged} == {"point-query", "update-index"}


@pytest.mark.e2e
def test_slots_are_columns_of_one_length(experiment: dbversus.Experiment) -> None:
    slots = experiment.slots

    assert {len(column) for column in slots.values()} == {len(slots["test"])}
    assert set(slots["target"]) == {target.label for target in experiment.targets}
    per_second = slots["ops"] / (slots["elapsed_ns"] / 1e9)
    assert abs(per_second - slots["ops_per_second"]).max() < 1e-3


@pytest.mark.e2e
def test_pandas_and_arrow_have_the_same_rows(experiment: dbversus.Experiment) -> None:
    frame, table = experiment.findings.to_pandas(), experiment.findings.to_arrow()

    assert frame["test"].tolist() == table["test"].to_pylist() == [one.test for one in experiment.findings]
    assert table["ratio"].to_pylist() == [one.ratio for one in experiment.findings]
    assert len(experiment.slots.to_pandas()) == len(experiment.slots["test"])


@pytest.mark.e2e
def test_what_is_missing_is_named(experiment: dbversus.Experiment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    with pytest.raises(dbversus.UsageError, match=r"pandas is not installed; `pip install 'dbversus\[pandas\]'`"):
        experiment.slots.to_pandas()


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(dbversus.UsageError, match="expected a results directory"):
        dbversus.read(tmp_path)


def test_a_name_that_there_is_not_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="it has Cause, Comparison, DbversusError"):
        _ = dbversus.reed  # type: ignore[attr-defined]
