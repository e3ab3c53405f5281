"""Claims held against results with known ratios."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dbversus.importing.run import import_results
from dbversus.posts.reading import load_post
from dbversus.posts.rule import Published, Status
from dbversus.posts.run import run_of
from dbversus.posts.scored import ScoredClaim, ScoredFigure, ScoredPost, middle
from dbversus.posts.scoring import nearest_alone, of_every_post, score
from dbversus.report.assessment import judged_of
from dbversus.report.judged import Judged
from dbversus.report.sections.claims import posts_of
from dbversus.results.read import open_results

from ..report.pairs import Contender, write_pairs, wrong_answer

POST = "2021-01-11-pg-vs-mysql-mem"
AS_PUBLISHED = (
    Contender("mysql:5.6.24", "mysql", "5.6.24"),
    Contender("postgres:11.13", "postgres", "11.13", time=1 / 0.98, cpu=1.1),
    Contender("mysql:8.0.33", "mysql", "8.0.33", time=1 / 0.7, cpu=1.4),
    Contender("postgres:13.1", "postgres", "13.1", time=1 / 1.0, cpu=1.0),
)


@pytest.fixture
def judged(tmp_path: Path) -> Callable[..., Judged]:
    def write(contenders: tuple[Contender, ...], **more: Any) -> Judged:
        return judged_of(open_results(write_pairs(tmp_path / "results", contenders, **more)))

    return write


def claim(judged_results: Judged, number: str) -> ScoredClaim:
    (post,) = posts_of(judged_results)
    return next(each for each in post.claims if each.name == f"{POST}/{number}")


def test_what_is_as_published_is_found(judged: Callable[..., Judged]) -> None:
    found = claim(judged(AS_PUBLISHED, spec={"posts": [POST]}), "12")
    assert found.count(Status.FOUND) == 2
    old, new = (one for one in found.figures if one.test == "point-query")
    assert (old.new, old.old, old.published) == ("postgres:11.13", "mysql:5.6.24", 0.98)
    assert (new.new, new.old, new.published) == ("postgres:13.1", "mysql:8.0.33", 1.4)
    # neither of them is the base: the ratio is from blocks, with an interval
    assert new.low and new.ratio and new.high and new.low < new.ratio < new.high
    assert new.low < 1 / 0.7 < new.high and new.blocks == 4
    assert (old.differences, new.differences) == ("11.13 for 11.10, 5.6.24 for 5.6.49", "8.0.33 for 8.0.21")


def test_what_was_not_measured_is_not_shown_and_counts(judged: Callable[..., Judged]) -> None:
    judged_results = judged(AS_PUBLISHED, spec={"posts": [POST]})
    found = claim(judged_results, "12")
    missing = [one for one in found.figures if one.ratio is None]
    assert {(one.status, one.note) for one in missing} == {(Status.NOT_SHOWN, "not in the experiment")}
    assert found.status == Status.NOT_SHOWN
    (post,) = posts_of(judged_results)
    assert post.counts.total() == sum(max(1, len(each.figures)) for each in post.claims)


def test_what_goes_the_other_way_is_refuted(judged: Callable[..., Judged]) -> None:
    *others, _ = AS_PUBLISHED
    slower = (*others, Contender("postgres:13.1", "postgres", "13.1", time=2.0, cpu=2.0))
    found = claim(judged(slower, spec={"posts": [POST]}), "12")
    assert [one.status for one in found.figures if one.ratio] == [Status.FOUND, Status.REFUTED]


def test_a_smaller_change_is_weaker(judged: Callable[..., Judged]) -> None:
    found = claim(judged(AS_PUBLISHED, spec={"posts": [POST]}), "8")
    (one,) = (one for one in found.figures if one.published == 3.93)
    assert (one.status, one.size, one.words) == (Status.SAME_DIRECTION, "weaker", "same direction, weaker")


def test_one_block_and_one_load_are_scored_by_size(judged: Callable[..., Judged]) -> None:
    judged_results = judged(AS_PUBLISHED, blocks=1, spec={"posts": [POST]})
    for number, statuses in (("1", [Status.NOT_SHOWN, Status.SAME_DIRECTION]), ("12", [Status.FOUND, Status.FOUND])):
        measured = [one for one in claim(judged_results, number).figures if one.ratio]
        assert [one.status for one in measured] == statuses
        assert {one.note for one in measured} == {"1 block: by size, without an interval"}


def test_an_interrupted_experiment_is_scored_as_far_as_it_goes(judged: Callable[..., Judged]) -> None:
    judged_results = judged(AS_PUBLISHED, blocks=3, spec={"posts": [POST]}, looks=[4, 8])
    measured = [one for one in claim(judged_results, "12").figures if one.ratio]
    assert {one.status for one in measured} == {Status.NOT_SHOWN}
    assert [one.note for one in measured] == ["3 of 4 blocks", "3 of 4 blocks"]


def test_without_a_target_for_a_build_its_figures_are_not_shown(judged: Callable[..., Judged]) -> None:
    two = (AS_PUBLISHED[0], AS_PUBLISHED[2])
    found = claim(judged(two, spec={"posts": [POST]}), "12")
    assert {one.new for one in found.figures} == {""}
    assert {one.note for one in found.figures} == {
        "nothing here stands for PostgreSQL 11.10",
        "nothing here stands for PostgreSQL 13.1",
    }


def test_most_of_the_tests_are_one_figure(judged: Callable[..., Judged]) -> None:
    found = claim(judged(AS_PUBLISHED, spec={"posts": [POST]}), "S2")
    (mysql,) = (one for one in found.figures if one.said == "mostly up")
    assert (mysql.test, mysql.status, mysql.ratio) == ("most of 2 tests", Status.FOUND, None)
    assert [(part.test, part.status) for part in mysql.parts] == [
        ("point-query", Status.FOUND),
        ("update-index", Status.FOUND),
    ]


def test_wrong_answers_are_not_held_against_a_post(tmp_path: Path) -> None:
    folder = write_pairs(tmp_path / "results", AS_PUBLISHED, spec={"posts": [POST]})
    wrong_answer(folder, "point-query", "t3", ["t0", "t1", "t2", "t3"])
    found = claim(judged_of(open_results(folder)), "12")
    (one,) = (one for one in found.figures if one.published == 1.4)
    assert (one.status, one.note) == (Status.NOT_SHOWN, "answers were wrong, or the server failed")


def test_another_number_of_clients_is_not_comparable(judged: Callable[..., Judged]) -> None:
    found = claim(judged(AS_PUBLISHED, spec={"posts": [POST]}, clients=[8]), "12")
    assert (found.status, {one.note for one in found.figures}) == (Status.NOT_COMPARABLE, {"1 client there, 8 here"})


def test_of_several_numbers_of_clients_that_of_the_post_counts(judged: Callable[..., Judged]) -> None:
    found = claim(judged(AS_PUBLISHED, spec={"posts": [POST]}, clients=[1, 2]), "12")
    assert found.status == Status.NOT_SHOWN  # there is point-query, and no point-query@1


def test_data_in_memory_is_not_held_against_data_that_is_larger(judged: Callable[..., Judged]) -> None:
    found = claim(judged(AS_PUBLISHED, spec={"posts": [POST]}, memory=2**29), "12")
    assert {one.note for one in found.figures} == {"data in memory there, larger than memory here"}


def test_a_build_that_cannot_be_had_takes_its_claims_along(tmp_path: Path) -> None:
    two = (Contender("mysql:5.6.24", "mysql", "5.6.24"), Contender("mysql:8.0.12", "mysql", "8.0.12", time=1.5))
    post = "2017-11-20-innodb-io"
    folder = write_pairs(tmp_path / "results", two, spec={"posts": [post]}, memory=2**29)
    (scored,) = posts_of(judged_of(open_results(folder)))
    figures = next(each for each in scored.claims if each.number == "14").figures
    lacking = [one for one in figures if one.status == Status.NOT_COMPARABLE]
    assert {one.note for one in lacking} == {"5.0.96 cannot be had"} and len(lacking) == 4
    refuted = {one.server: one.status for one in figures if one.ratio}
    assert refuted == {"i3 NUC": Status.REFUTED, "i5 NUC": Status.REFUTED}


def found_of(server: str, published: float, ratio: float) -> ScoredFigure:
    printed = Published.printed(published, 2)
    return ScoredFigure(
        *("update-index", "throughput", "mysql:8.0.12", "mysql:5.6.24", published, "", ratio, 1.08, 1.42, 4),
        Status.FOUND,
        server=server,
        published_low=printed.low,
        published_high=printed.high,
    )


@pytest.mark.parametrize(
    ("ratio", "statuses"),
    [
        (1.3, ["found", "same direction, stronger"]),
        (1.1, ["same direction, weaker", "found"]),
    ],
)
def test_one_figure_finds_only_the_nearer_of_two_that_contradict_each_other(ratio: float, statuses: list[str]) -> None:
    near, far = found_of("i3 NUC", 1.3, ratio), found_of("i5 NUC", 1.1, ratio)
    post = ScoredPost("p", "", (ScoredClaim("p/1", "", Status.FOUND, (near, far)),))
    (scored,) = nearest_alone([post])
    figures = scored.claims[0].figures
    assert [one.words for one in figures] == statuses
    (lost,) = (one for one in figures if one.status != Status.FOUND)
    assert "which is nearer" in lost.note and scored.claims[0].status == Status.SAME_DIRECTION


def test_values_that_agree_may_both_be_found() -> None:
    post = ScoredPost(
        "p", "", (ScoredClaim("p/1", "", Status.FOUND, (found_of("a", 1.3, 1.3), found_of("b", 1.25, 1.3))),)
    )
    (scored,) = nearest_alone([post])
    assert [one.status for one in scored.claims[0].figures] == [Status.FOUND, Status.FOUND]


def test_of_several_targets_that_with_the_fewest_other_configs_stands_for_a_build(tmp_path: Path) -> None:
    labels = ("mysql:5.6@cx6d", "mysql:8.0.15@cx6d", "mysql:8.0.33@cx6d", "mysql:8.0.33@cx6d,dive200")
    contenders = tuple(
        Contender(label, "mysql", label.partition("@")[0].partition(":")[2], time=1 + number)
        for number, label in enumerate(labels)
    )
    configs = {f"t{number}": label.partition("@")[2] for number, label in enumerate(labels)}
    folder = write_pairs(tmp_path / "results", contenders, spec={"posts": ["2021-01-04-innodb-take2"]})
    journal = folder / "journal.jsonl"
    first, rest = journal.read_text().split("\n", 1)
    header = json.loads(first)
    header["targets"] = [one | {"config": configs[one["name"]]} for one in header["targets"]]
    journal.write_text(f"{json.dumps(header)}\n{rest}")
    (post,) = posts_of(judged_of(open_results(folder)))
    point_query = next(part for part in post.claims if part.number == "12").figures[0]
    assert (point_query.new, point_query.old) == ("mysql:8.0.33@cx6d", "mysql:5.6@cx6d")
    limit = next(part for part in post.claims if part.number == "S2").figures[0]
    assert (limit.new, limit.old) == ("mysql:8.0.33@cx6d,dive200", "mysql:8.0.33@cx6d")


def test_only_a_post_that_is_repeated_is_held_against_results(judged: Callable[..., Judged]) -> None:
    assert posts_of(judged(AS_PUBLISHED)) == ()


def test_a_post_that_nobody_knows_is_none(judged: Callable[..., Judged]) -> None:
    assert posts_of(judged(AS_PUBLISHED, spec={"posts": ["2020-01-01-none"]})) == ()


def test_other_experiments_have_what_they_measured_of_posts_in_memory(tmp_path: Path) -> None:
    results = open_results(write_pairs(tmp_path / "results", AS_PUBLISHED))
    judged_results = judged_of(results)
    parts = of_every_post(results, judged_results.findings, judged_results.spoilt)
    assert POST in {part.name for part in parts}
    assert not any(part.name.endswith("-io") for part in parts)


@pytest.mark.parametrize(
    ("statuses", "status"),
    [
        ([Status.FOUND, Status.FOUND, Status.REFUTED], Status.FOUND),
        ([Status.FOUND, Status.REFUTED], Status.REFUTED),
        ([Status.FOUND, Status.SAME_DIRECTION, Status.OPPOSITE, Status.REFUTED], Status.OPPOSITE),
        ([Status.FOUND, Status.NOT_COMPARABLE, Status.NOT_COMPARABLE], Status.FOUND),
        ([Status.NOT_COMPARABLE], Status.NOT_COMPARABLE),
        ([], Status.NOT_COMPARABLE),
    ],
)
def test_a_claim_is_what_its_middle_figure_is(statuses: list[Status], status: Status) -> None:
    assert middle(statuses) == status


def test_what_the_author_published_of_his_own_runs_is_found_by_size(tmp_path: Path) -> None:
    source = Path(__file__).parents[1] / "data/imported/reference/published/durability-2024-09.csv"
    import_results([source], tmp_path / "results")
    (scored,) = score(run_of(open_results(tmp_path / "results"), [], set()), [load_post("2024-09-24-durability")])
    assert (scored.counts[Status.FOUND], scored.counts.total()) == (70, 70)
    assert {one.note for _, one in scored.figures()} >= {"imported: by size, without an interval"}
