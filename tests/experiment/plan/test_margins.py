"""What an experiment records of the calibrations that it stands on."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from dbversus.calibration.store import save
from dbversus.campaign.calibrating.kinds import Kind
from dbversus.campaign.calibrating.plan import calibration_spec
from dbversus.experiment.asked.spec import ExperimentSpec, make_spec
from dbversus.experiment.plan.margins import calibration_fields, rows_per_block
from dbversus.results.records import CalibrationBrief
from dbversus.stats.metrics import THROUGHPUT
from dbversus.suites.profiles import profile_choices

from ...calibration.samples import DAY_S, FACTS, HERE, RUN_S, calibration, figures, spread


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DBVERSUS_HOME", str(tmp_path))
    return tmp_path


def spec(**choices: Any) -> ExperimentSpec:
    measured = {"rows": 60, "seconds": 5, "slot_ms": 50, "warm_up_ms": 5}
    return make_spec(profile_choices("standard") | measured | {"targets": ["postgres:16", "postgres:17"]} | choices)


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
    assert brief.id == calibration().id
    assert (brief.tests, brief.false_alarms.share, brief.margins) == (2, 0.02, True)
    assert found["test_margins"] == {"update-index": {THROUGHPUT: 0.08}}
    assert msgspec.convert(msgspec.to_builtins(brief), CalibrationBrief) == brief


@pytest.mark.parametrize(
    "coarser",
    [{"rows_per_block": 29}, {"rows_per_block": None}, {"slot_ms": 40.0}, {"clients": [4]}, {"suite": "durability"}],
)
def test_a_calibration_of_another_measurement_is_cited_but_widens_no_margin(coarser: dict[str, Any]) -> None:
    save(calibration(**coarser))
    found = fields(spec())
    assert [brief.margins for brief in found["calibration"]] == [False]
    assert found["test_margins"] == {}


def test_of_several_dbms_the_noisier_decides() -> None:
    save(calibration())
    noisier = figures().model_copy(update={"spreads": [spread("update-index", THROUGHPUT, 0.05, 0.2)]})
    save(calibration(id="mysql", dbms="mysql", figures=noisier))
    found = fields(spec(), "postgres", "mysql", "sqlite")
    assert [brief.dbms for brief in found["calibration"]] == ["postgres", "mysql"]
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


@pytest.mark.parametrize("later", [{"profile": "quick", "slot_ms": 40.0}, {"clients": [4]}])
def test_margins_are_those_of_the_newest_that_gives_any_and_the_newest_is_cited(later: dict[str, Any]) -> None:
    narrow = figures().model_copy(update={"spreads": [spread("update-index", THROUGHPUT, 0.05, 0.06)]})
    save(calibration(id="oldest", at_unix_s=RUN_S - 9 * DAY_S, figures=narrow))
    save(calibration())
    save(calibration(id="later", at_unix_s=RUN_S - DAY_S, figures=narrow, **later))
    found = fields(spec())
    assert [(brief.id, brief.margins) for brief in found["calibration"]] == [("later", False)]
    assert found["test_margins"] == {"update-index": {THROUGHPUT: 0.08}}


@pytest.mark.parametrize(
    ("choices", "rows"),
    [
        ({}, 43),
        ({"targets": ["postgres:17"] * 3}, 29),
        ({"targets": ["postgres:17"] * 5, "at_once": 3}, 29),
        ({"seconds": 60}, 60),
        ({"rows": 24}, 24),
        ({"slot_ms": 100}, 23),
    ],
)
def test_rows_are_those_that_a_block_has_time_for(choices: dict[str, Any], rows: int) -> None:
    assert rows_per_block(spec(**choices)) == rows


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("inject", [Kind.NONE, Kind.CPU])
def test_a_calibration_measures_as_many_rows_as_a_comparison_of_two(quick: bool, inject: Kind) -> None:
    made = calibration_spec("postgres:17", quick, None, inject, {})
    compared = make_spec(
        profile_choices("quick" if quick else "standard") | {"targets": ["postgres:16", "postgres:17"]}
    )
    assert rows_per_block(made) == rows_per_block(compared)


def test_more_rows_than_were_calibrated_get_no_margins_from_it() -> None:
    save(calibration())
    assert fields(spec(seconds=6))["test_margins"] == {}
    assert fields(spec(targets=["postgres:17"] * 3))["test_margins"] != {}
