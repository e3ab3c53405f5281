"""Ratios of a run: of the load, done once or in every block, and of tests by what claims call them."""

from dataclasses import replace

import numpy as np
import pytest

from dbversus.posts.measured import Measured, matches
from dbversus.posts.run import PostRun, RunTarget
from dbversus.results.records import Experiment
from dbversus.stats.metrics import THROUGHPUT
from dbversus.stats.model import IDLE, UNSETTLED, BlockValue, Finding, Verdict

OLD, NEW, OTHER = (RunTarget(label, "postgres", label, "") for label in ("11", "13", "17"))


def run(*rows: BlockValue, looks: tuple[int, ...] = (3,)) -> PostRun:
    header = Experiment(schema=2, targets=[], tests=["load", "scan"], looks=list(looks))
    return PostRun(header, [OLD, NEW, OTHER], ["load", "scan"], 3, 2, False, list(rows), [], [], [], [], [])


def blocks(test: str, target: str, metric: str, *values: float) -> list[BlockValue]:
    return [BlockValue(test, target, metric, block, value, 10) for block, value in enumerate(values)]


def test_a_load_that_was_done_once_has_no_interval() -> None:
    measured = Measured(run(*blocks("load", "13", "load_rows_per_s", 0.1)))
    ours = measured.ours("load", NEW, OLD, "throughput")
    assert ours and ours.ends is None and ours.note == "1 block: by size, without an interval"


def test_a_load_that_blocks_repeat_is_like_any_test() -> None:
    measured = Measured(run(*blocks("load", "13", "throughput_ops_per_s", 0.1, 0.101, 0.099)))
    ours = measured.ours("load", NEW, OLD, "throughput")
    assert ours and ours.ends and ours.note == ""


def test_a_ratio_of_two_others_is_held_back_before_the_first_look() -> None:
    rows = [
        *blocks("scan", "13", "throughput_ops_per_s", 0.1, 0.101, 0.099),
        *blocks("scan", "17", "throughput_ops_per_s", 0.3, 0.301, 0.299),
    ]
    for looks, way, note in (((3,), 1, ""), ((4,), None, "3 of 4 blocks")):
        ours = Measured(run(*rows, looks=looks)).ours("scan", OTHER, NEW, "throughput")
        assert ours and (ours.way, ours.note) == (way, note)
        assert ours.ratio.value == pytest.approx(2.718281828**0.2, rel=1e-3)


def test_a_ratio_is_turned_round_where_the_old_build_is_no_base() -> None:
    measured = Measured(run(*blocks("scan", "13", "throughput_ops_per_s", 0.1, 0.101, 0.099)))
    there, back = (measured.ours("scan", *pair, "throughput") for pair in ((NEW, OLD), (OLD, NEW)))
    assert there and back and there.ends and back.ends
    assert there.ends == pytest.approx((-back.ends[1], -back.ends[0])) and there.way == -(back.way or 0)


def test_among_many_tests_a_figure_is_still_one_question() -> None:
    """With the family of 61 tests nothing is decided; the interval of the one that was asked for excludes no change."""
    chance = np.random.default_rng(3)
    others = [blocks(f"t{n}", "13", "throughput_ops_per_s", *chance.normal(0, 0.06, 3)) for n in range(60)]
    asked = blocks("scan", "13", "throughput_ops_per_s", 0.04, 0.16, 0.1)
    ours = Measured(run(*asked, *(row for one in others for row in one))).ours("scan", NEW, OLD, "throughput")
    assert ours and ours.ends and ours.ends[0] > 0
    assert (ours.way, ours.holds, ours.note) == (1, True, "unstable")


OPEN = Finding(
    "scan", "13", THROUGHPUT, Verdict.UNDECIDED, 1.1, 1.03, 1.17, 0.95, 3, 0.01, 0.3, 0.05, None, None, None
)  # fmt: skip


@pytest.mark.parametrize(
    ("finding", "way"),
    [
        (OPEN, 1),
        (replace(OPEN, ratio=0.9, low=0.85, high=0.96), -1),
        (replace(OPEN, ratio=1.01, low=0.98, high=1.04), 0),
        (replace(OPEN, low=0.99), None),
        (replace(OPEN, whole_work=Verdict.REGRESSION), None),
        (replace(OPEN, note=f"{UNSETTLED}: later"), None),
        (replace(OPEN, note=IDLE), None),
        (replace(OPEN, first_look=4), None),
        (replace(OPEN, verdict=Verdict.NO_STEADY_STATE), None),
        (replace(OPEN, verdict=Verdict.SMALL_CHANGE), 0),
    ],
)
def test_an_open_verdict_leaves_it_to_the_interval_where_nothing_speaks_against_it(
    monkeypatch: pytest.MonkeyPatch, finding: Finding, way: int | None
) -> None:
    monkeypatch.setattr("dbversus.posts.measured.judged", lambda _: [finding])
    ours = Measured(run()).ours("scan", NEW, OLD, "throughput")
    assert ours and ours.way == way


@pytest.mark.parametrize(
    ("test", "glob", "fits"),
    [("scan", "*", True), ("load", "*", False), ("load@1", "*@1", False), ("load", "load", True), ("scan", "s*", True)],
)
def test_the_load_goes_by_its_own_name_alone(test: str, glob: str, fits: bool) -> None:
    assert matches(test, glob) == fits


def test_of_a_place_whose_answers_were_wrong_there_is_no_ratio() -> None:
    rows = blocks("scan", "13", "throughput_ops_per_s", 0.1, 0.101, 0.099)
    spoilt = replace(run(*rows), spoilt=[("scan", "13")])
    assert Measured(spoilt).ours("scan", NEW, OLD, "throughput") is None
