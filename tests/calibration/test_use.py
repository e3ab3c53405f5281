"""What an experiment records of the calibrations that it stands on."""

import json
from pathlib import Path
from typing import Any

import pytest

from dbversus.calibration.store import save
from dbversus.calibration.use import calibration_fields
from dbversus.experiment.spec import ExperimentSpec, make_spec
from dbversus.stats.metrics import THROUGHPUT
from dbversus.suites.profiles import profile_choices

from .samples import FACTS, HERE, calibration, figures, spread


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DBVERSUS_HOME", str(tmp_path))
    return tmp_path


def spec(**choices: Any) -> ExperimentSpec:
    return make_spec(profile_choices("standard") | {"targets": ["postgres:16", "postgres:17"]} | choices)


def fields(asked: ExperimentSpec, *dbms: str) -> dict[str, Any]:
    said: list[str] = []
    found = calibration_fields(asked, dbms or ("postgres", "postgres"), FACTS, said.append)
    assert not said
    return found


def test_nothing_is_known_of_a_new_host_and_nothing_is_wanted_with_the_flag() -> None:
    assert fields(spec()) == {"calibration": [], "test_margins": {}}
    save(calibration())
    assert fields(spec(calibration=False)) == {"calibration": None}


def test_a_brief_of_the_newest_and_the_margins_that_are_wider() -> None:
    save(calibration())
    found = fields(spec())
    (brief,) = found["calibration"]
    assert brief["id"] == calibration().id
    assert (brief["tests"], brief["false_alarms"]["share"], brief["margins"]) == (2, 0.02, True)
    assert found["test_margins"] == {"update-index": {THROUGHPUT: 0.08}}
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize("coarser", [{"rows": 20}, {"slot_ms": 40.0}, {"clients": [4]}, {"suite": "durability"}])
def test_a_calibration_of_another_measurement_is_cited_but_widens_no_margin(coarser: dict[str, Any]) -> None:
    save(calibration(**coarser))
    found = fields(spec())
    assert [brief["margins"] for brief in found["calibration"]] == [False]
    assert found["test_margins"] == {}


def test_of_several_dbms_the_noisier_decides() -> None:
    save(calibration())
    noisier = figures().model_copy(update={"spreads": [spread("update-index", THROUGHPUT, 0.05, 0.2)]})
    save(calibration(id="mysql", dbms="mysql", figures=noisier))
    found = fields(spec(), "postgres", "mysql", "sqlite")
    assert [brief["dbms"] for brief in found["calibration"]] == ["postgres", "mysql"]
    assert found["test_margins"] == {"update-index": {THROUGHPUT: 0.2}}


def test_a_damaged_file_is_told() -> None:
    bad = save(calibration()).with_name("bad.json")
    bad.write_text("{")
    said: list[str] = []
    assert calibration_fields(spec(), ["postgres"], FACTS, said.append)["calibration"]
    assert len(said) == 1 and str(bad) in said[0]
    assert HERE.key == bad.parent.name


def test_in_sequential_order_no_margin_is_widened() -> None:
    save(calibration())
    assert fields(spec(order="sequential"))["test_margins"] == {}


def test_few_blocks_widen_no_margin() -> None:
    save(calibration(figures=figures().model_copy(update={"blocks": 4})))
    assert fields(spec())["test_margins"] == {}
