"""Claims held against results with known ratios."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dbversus.posts.scored import ClaimPart, ClaimStatus
from dbversus.posts.scoring import of_every_post
from dbversus.report.assessment import build_assessment, spoilt
from dbversus.report.model import Assessment
from dbversus.results.read import open_results

from ..report.pairs import Contender, write_pairs

POST = "2021-01-11-pg-vs-mysql-mem"
AS_PUBLISHED = (
    Contender("mysql:5.6.24", "mysql", "5.6.24"),
    Contender("postgres:11.13", "postgres", "11.13", time=1 / 0.98, cpu=1.1),
    Contender("mysql:8.0.33", "mysql", "8.0.33", time=1 / 0.7, cpu=1.4),
    Contender("postgres:13.1", "postgres", "13.1", time=1 / 1.0, cpu=1.0),
)


@pytest.fixture
def judged(tmp_path: Path) -> Callable[..., Assessment]:
    def write(contenders: tuple[Contender, ...], **more: Any) -> Assessment:
        return build_assessment(open_results(write_pairs(tmp_path / "results", contenders, **more)))

    return write


def claim(assessment: Assessment, number: str) -> ClaimPart:
    (post,) = assessment.posts
    return next(each for each in post.claims if each.name == f"{POST}/{number}")


def test_what_is_as_published_is_found_and_counted(judged: Callable[..., Assessment]) -> None:
    found = claim(judged(AS_PUBLISHED, spec={"posts": [POST]}), "12")
    assert found.status == ClaimStatus.FOUND
    assert found.count(ClaimStatus.FOUND) == 2
    old, new = (one for one in found.figures if one.test == "point-query")
    assert (old.new, old.old, old.published) == ("postgres:11.13", "mysql:5.6.24", 0.98)
    assert (new.new, new.old, new.published) == ("postgres:13.1", "mysql:8.0.33", 1.4)
    # neither of them is the base: the ratio is from blocks, with an interval
    assert new.low and new.ratio and new.high and new.low < new.ratio < new.high
    assert new.low < 1 / 0.7 < new.high and new.blocks == 4
    assert {one.status for one in found.figures if one.test != "point-query"} == {ClaimStatus.NOT_MEASURED}


def test_what_goes_the_other_way_is_not_found(judged: Callable[..., Assessment]) -> None:
    *others, _ = AS_PUBLISHED
    slower = (*others, Contender("postgres:13.1", "postgres", "13.1", time=2.0, cpu=2.0))
    found = claim(judged(slower, spec={"posts": [POST]}), "12")
    assert found.status == ClaimStatus.IN_PART
    assert [one.status for one in found.figures if one.ratio] == [ClaimStatus.FOUND, ClaimStatus.NOT_FOUND]


def test_one_block_and_one_load_decide_nothing(judged: Callable[..., Assessment]) -> None:
    assessment = judged(AS_PUBLISHED, blocks=1, spec={"posts": [POST]})
    for number in ("1", "12"):
        assert claim(assessment, number).status == ClaimStatus.UNDECIDED
        assert any(one.ratio for one in claim(assessment, number).figures)


def test_without_the_build_nothing_is_measured(judged: Callable[..., Assessment]) -> None:
    two = (AS_PUBLISHED[0], AS_PUBLISHED[2])
    found = claim(judged(two, spec={"posts": [POST]}), "12")
    assert found.status == ClaimStatus.NOT_MEASURED
    assert {one.new for one in found.figures} == {""}


def test_most_of_the_tests_speak_for_all(judged: Callable[..., Assessment]) -> None:
    found = claim(judged(AS_PUBLISHED, spec={"posts": [POST]}), "S2")
    mysql = [one for one in found.figures if one.said == "mostly up"]
    assert {one.test for one in mysql} == {"point-query", "update-index"}
    assert {one.status for one in mysql} == {ClaimStatus.FOUND}


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
    (post,) = build_assessment(open_results(folder)).posts
    point_query = next(part for part in post.claims if part.name.endswith("/12")).figures[0]
    assert (point_query.new, point_query.old) == ("mysql:8.0.33@cx6d", "mysql:5.6@cx6d")
    limit = next(part for part in post.claims if part.name.endswith("/S2")).figures[0]
    assert (limit.new, limit.old) == ("mysql:8.0.33@cx6d,dive200", "mysql:8.0.33@cx6d")


def test_only_a_post_that_is_repeated_is_held_against_results(judged: Callable[..., Assessment]) -> None:
    assert judged(AS_PUBLISHED).posts == ()


def test_a_post_that_nobody_knows_is_none(judged: Callable[..., Assessment]) -> None:
    assert judged(AS_PUBLISHED, spec={"posts": ["2020-01-01-none"]}).posts == ()


def test_other_experiments_have_what_they_measured_of_posts_in_memory(tmp_path: Path) -> None:
    results = open_results(write_pairs(tmp_path / "results", AS_PUBLISHED))
    assessment = build_assessment(results)
    parts = of_every_post(results, assessment.findings, spoilt(assessment.comparisons))
    assert POST in {part.name for part in parts}
    assert not any(part.name.endswith("-io") for part in parts)


def test_the_fewest_clients_are_those_of_the_post(judged: Callable[..., Assessment]) -> None:
    found = claim(judged(AS_PUBLISHED, spec={"posts": [POST]}, clients=[1, 2]), "12")
    assert found.status == ClaimStatus.NOT_MEASURED  # there is point-query, and no point-query@1
