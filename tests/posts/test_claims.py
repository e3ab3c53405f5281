"""The claims of published posts: all are there, and each names what it is checked with."""

from collections import Counter

import pytest

from dbversus.errors import UsageError
from dbversus.experiment.asked.bundled import find_experiment
from dbversus.experiment.asked.spec import read_choices
from dbversus.posts.claims import Stands, list_posts, load_post
from dbversus.suites.load import load_suite

CHECKS = {"yes": 36, "direction": 190, "no": 71}
NOT_OF_A_TEST = {"load"}


def test_all_posts_have_their_claims_each_once() -> None:
    claims = [(name, claim) for name in list_posts() for claim in load_post(name).claims]
    assert len(list_posts()) == 18
    assert Counter(claim.check for _, claim in claims) == CHECKS
    assert len({(name, claim.id) for name, claim in claims}) == sum(CHECKS.values()) == 297


@pytest.mark.parametrize("name", list_posts())
def test_a_claim_says_how_it_is_checked_or_why_not(name: str) -> None:
    post = load_post(name)
    suite = load_suite(read_choices(find_experiment(f"posts/{name}"))["suite"])
    for claim in post.claims:
        assert (claim.check == "no") == bool(claim.why), claim.id
        if claim.check == "no":
            continue
        assert bool(claim.look) != bool(claim.figures), claim.id
        for figure in claim.figures:
            assert bool(figure.published) or bool(figure.says), claim.id
            assert len(figure.published) in (0, len(figure.tests)) or figure.says == "mean"
            assert figure.lacking or {figure.new, figure.old} <= post.builds.keys(), claim.id
            for test in figure.tests:
                named = test.partition("@")[0]
                assert named in NOT_OF_A_TEST or suite.select(named).tests, (claim.id, test)


@pytest.mark.parametrize("name", list_posts())
def test_every_build_that_stands_for_one_is_in_the_experiment(name: str) -> None:
    targets = read_choices(find_experiment(f"posts/{name}"))["targets"]
    for build, stands in load_post(name).builds.items():
        fitting = [
            text
            for text in targets
            if stands.fits(
                (parts := text.partition("@"))[0].partition(":")[0],
                parts[0].rpartition(":")[2].rpartition("/")[2],
                frozenset(parts[2].split(",")),
            )
        ]
        assert fitting, build


def test_a_line_of_a_table_is_said_by_its_figures() -> None:
    (scan,) = (claim for claim in load_post("2021-01-20-postgres-io").claims if claim.id == "17")
    assert scan.words == "scan: throughput 13.1 ÷ 11.10 1.14; throughput 12.4 ÷ 11.10 1.14; cpu 13.1 ÷ 11.10 0.87"
    assert all(claim.words for name in list_posts() for claim in load_post(name).claims)


def test_an_unknown_post_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match=r"no claims of a post '2021-01-10-pg'\. Did you mean '2021-01-10-pg-mem'"):
        load_post("2021-01-10-pg")


@pytest.mark.parametrize(
    ("stands", "fits"),
    [
        (Stands("mysql", "8.0", frozenset()), True),
        (Stands("mysql", "8.0.3", frozenset()), False),
        (Stands("mysql", "8.0.33", frozenset({"dive200"})), True),
        (Stands("mysql", "", frozenset({"dive10"})), False),
        (Stands("", "", frozenset()), True),
        (Stands("postgres", "", frozenset()), False),
    ],
)
def test_what_stands_for_a_build(stands: Stands, fits: bool) -> None:
    assert stands.fits("mysql", "8.0.33", frozenset({"cx6d", "dive200"})) == fits
