"""Calibrations on disk: whole or not at all, older ones kept, bad files told and left alone."""

import json
from pathlib import Path

import pytest

from dbversus.calibration.model import Host, host_of
from dbversus.calibration.store import load_all, newest, save
from dbversus.errors import RunError

from .samples import DAY_S, FACTS, HERE, RUN_S, calibration


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DBVERSUS_HOME", str(tmp_path))
    return tmp_path


def test_what_is_kept_is_found_again() -> None:
    assert load_all(HERE).calibrations == []
    path = save(calibration())
    assert path.parent.name == HERE.key
    assert [other.name for other in path.parent.iterdir()] == [path.name]
    assert load_all(host_of(FACTS)).calibrations == [calibration()]


def test_older_ones_are_kept_and_the_newest_counts() -> None:
    older = calibration(id="older", at_unix_s=RUN_S - 30 * DAY_S)
    other = calibration(id="other", dbms="mysql", at_unix_s=RUN_S)
    for one in (calibration(), older, other):
        save(one)
    stored = load_all(HERE)
    assert [one.id for one in stored.calibrations] == ["other", calibration().id, "older"]
    assert newest(stored.calibrations, HERE, "postgres") == calibration()
    assert newest(stored.calibrations, HERE, "sqlite") is None


def test_other_machines_are_others_and_another_kernel_comes_after_our_own() -> None:
    other_kernel = HERE.model_copy(update={"kernel": "6.2.0"})
    save(calibration(id="newer", host=other_kernel, at_unix_s=RUN_S))
    save(calibration(id="elsewhere", host=Host(machine_id="f", kernel=HERE.kernel, cpu=HERE.cpu)))
    stored = load_all(HERE)
    assert [one.id for one in stored.calibrations] == ["newer"]
    assert newest(stored.calibrations, HERE, "postgres") is not None
    save(calibration())
    assert newest(load_all(HERE).calibrations, HERE, "postgres") == calibration()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "is damaged"),
        ("[]", "is damaged"),
        ('{"calibration_schema": 1, "id": "x"}', "is damaged"),
        ('{"calibration_schema": 7}', "has schema 7; this dbversus reads up to 1"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_in_a_sentence_and_left_alone(content: str, words: str) -> None:
    good = save(calibration())
    bad = good.with_name("bad.json")
    bad.write_text(content)
    stored = load_all(HERE)
    assert stored.calibrations == [calibration()]
    (note,) = stored.notes
    assert str(bad) in note and words in note and "\n" not in note
    assert bad.read_text() == content


def test_a_file_of_a_later_version_with_more_in_it_is_read() -> None:
    path = save(calibration())
    content = json.loads(path.read_text()) | {"weather": "fair"}
    path.write_text(json.dumps(content))
    assert load_all(HERE).calibrations == [calibration()]


def test_a_file_of_an_earlier_version_with_less_in_it_is_read() -> None:
    path = save(calibration())
    content = json.loads(path.read_text()) | {"rows": 60}
    del content["rows_per_block"], content["figures"]["changed_as_measured"]
    path.write_text(json.dumps(content))
    (older,) = load_all(HERE).calibrations
    assert (older.rows_per_block, older.figures.changed_as_measured) == (None, None)


def test_nothing_half_written_stays(home: Path) -> None:
    place = home / "calibrations" / HERE.key / f"{calibration().id}.json"
    place.mkdir(parents=True)
    with pytest.raises(RunError, match="cannot be written"):
        save(calibration())
    assert [path.name for path in place.parent.iterdir()] == [place.name]


def test_a_run_that_is_evaluated_again_replaces_its_own_file() -> None:
    save(calibration())
    path = save(calibration(dbversus="0.2.0"))
    assert [one.dbversus for one in load_all(HERE).calibrations] == ["0.2.0"]
    assert len(list(path.parent.iterdir())) == 1
