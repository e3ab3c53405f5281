"""What a run shows beyond its post: a real one, of which few figures are claimed."""

import math
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from dbversus.posts.reading import read_post
from dbversus.posts.rule import Status
from dbversus.posts.run import PostRun, Reason, run_of
from dbversus.posts.scored import ScoredClaim, ScoredFigure, ScoredPost
from dbversus.posts.scoring import score
from dbversus.posts.unseen import Unseen, unseen
from dbversus.results.stored import Results
from dbversus.stats.judge import judge
from dbversus.stats.metrics import CPU, THROUGHPUT

from .test_kept import results  # noqa: F401, a fixture
from .test_reading import GOOD, write_post

OURS = GOOD.replace("@x5", "")


@pytest.fixture
def run(results: Results) -> PostRun:  # noqa: F811
    return run_of(results, judge(results), set())


def _unseen(run: PostRun, folder: Path, figures: str = "") -> Unseen:
    post = read_post(write_post(folder, OURS.replace("\n]", f"\n  {figures}\n]", 1)))
    return unseen(run, score(run, [post])[0])


@pytest.mark.parametrize(("metric", "is_told"), [("", True), (CPU, True), (THROUGHPUT, False)])
def test_a_part_of_one_metric_is_no_reason_of_another(run: PostRun, tmp_path: Path, metric: str, is_told: bool) -> None:
    told = replace(run, reasons=[Reason("scan", "postgres:13", "Likely cause: none that was planted.", metric)])
    (of_cpu,) = [one for one in _unseen(told, tmp_path).changes if one.finding.test == "scan"]
    assert of_cpu.finding.metric == CPU and bool(of_cpu.why) is is_told


def test_changes_that_no_figure_is_about_come_largest_first_with_their_reasons(run: PostRun, tmp_path: Path) -> None:
    told = replace(run, reasons=[Reason("scan", "postgres:13", "Likely cause: none that was planted.")])
    found = _unseen(told, tmp_path)
    places = [(one.finding.test, one.finding.metric) for one in found.changes]
    sizes = [abs(math.log(one.finding.ratio or 1)) for one in found.changes]
    assert ("scan", THROUGHPUT) not in places and ("scan", CPU) in places
    assert sizes == sorted(sizes, reverse=True)
    assert {one.finding.test for one in found.changes if one.why} == {"scan"}


def test_of_several_numbers_of_clients_a_figure_is_about_that_of_its_server(run: PostRun, tmp_path: Path) -> None:
    rows = [replace(one, test=f"{one.test}@1") for one in run.rows]
    header = msgspec.structs.replace(run.header, clients=[1, 8])
    many = replace(run, header=header, tests=[f"{test}@1" for test in run.tests], rows=rows, whole=[], trends=[])
    places = [(one.finding.test, one.finding.metric) for one in _unseen(many, tmp_path).changes]
    assert ("scan@1", THROUGHPUT) not in places and ("scan@1", CPU) in places


def test_what_a_figure_over_many_tests_is_about_is_claimed(run: PostRun, tmp_path: Path) -> None:
    many = '{ new = "13.1", old = "11.10", metric = "cpu", tests = ["*"], says = "mostly not up" },'
    assert all(one.finding.metric != CPU for one in _unseen(run, tmp_path, many).changes)
    assert _unseen(run, tmp_path, many).ratios == _unseen(run, tmp_path).ratios + 8


def test_widths_are_of_the_figures_that_a_run_was_scored_by(run: PostRun, tmp_path: Path) -> None:
    (post,) = score(run, [read_post(write_post(tmp_path, OURS))])
    other = replace(
        run, header=msgspec.structs.replace(run.header, command="dbversus run posts/2021-01-19-scan-compilers")
    )
    assert other.experiment != run.experiment
    assert unseen(run, post).ratios and not unseen(other, post).ratios
    assert len(unseen(other, post).changes) == len(unseen(run, post).changes)


def test_a_place_whose_figures_do_not_count_has_no_changes(run: PostRun, tmp_path: Path) -> None:
    assert _unseen(replace(run, spoilt=[(test, "postgres:13") for test in run.tests]), tmp_path).changes == ()


@pytest.mark.parametrize(("published", "is_none"), [(1.2, True), (0.8, True), (1.02, False), (None, False)])
def test_a_published_change_is_none_where_the_whole_interval_is_within_the_margin(
    published: float | None, is_none: bool, run: PostRun
) -> None:
    ours = 0.989, 0.977, 1.001, 8, Status.REFUTED
    insert = ScoredFigure("insert", "throughput", "postgres:13", "postgres:11", published, "", *ours)
    wide = replace(insert, test="update-one", low=0.94)
    post = ScoredPost("p", "t", (ScoredClaim("p/1", "", Status.REFUTED, (insert, wide)),))
    assert unseen(run, post).none == ((insert,) if is_none else ())
