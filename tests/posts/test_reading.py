"""Files of claims: those of all posts are there and read; each mistake in one is told with its line."""

from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.experiment.asked.bundled import find_experiment
from dbversus.experiment.asked.spec import read_choices
from dbversus.posts.reading import list_posts, load_post, read_post

CLAIMS = 297

EXPERIMENT = """\
posts = ["made-up"]
suite = "scan"
targets = ["postgres:11", "postgres:13"]
"""
GOOD = """\
post = "made-up"
title = "A post that nobody wrote"

[servers]
small = { clients = 1, rows = 1000 }

[builds]
"11.10" = "postgres:11"
"13.1" = { here = "postgres:13@x5", compiler = "gcc 9.3" }

[[claims]]
id = "1"
figures = [
  { new = "13.1", old = "11.10", metric = "throughput", tests = ["scan"], published = [1.16] },
]
"""


def write_post(folder: Path, claims: str = GOOD, experiment: str | None = EXPERIMENT) -> Path:
    path = folder / "claims/made-up.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(claims)
    if experiment is not None:
        (folder / "made-up.toml").write_text(experiment)
        (folder / "made-up-large.toml").write_text(experiment)
    return path


def test_all_posts_have_their_claims_each_once() -> None:
    claims = [(name, claim.id) for name in list_posts() for claim in load_post(name).claims]
    assert len(list_posts()) == 18
    assert len(claims) == len(set(claims)) == CLAIMS


@pytest.mark.parametrize("name", list_posts())
def test_every_build_that_stands_for_one_is_in_the_experiment(name: str) -> None:
    targets = read_choices(find_experiment(f"posts/{name}"))["targets"]
    for called, build in load_post(name).builds.items():
        fitting = [
            text
            for text in targets
            if build.stands.fits(
                (parts := text.partition("@"))[0].partition(":")[0],
                parts[0].rpartition(":")[2].rpartition("/")[2],
                frozenset(parts[2].split(",")),
            )
        ]
        assert fitting or build.lacking, called


def test_an_unknown_post_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match=r"no claims of a post '2021-01-10-pg'\. Did you mean '2021-01-10-pg-mem'"):
        load_post("2021-01-10-pg")


def test_a_post_of_ones_own_is_read(tmp_path: Path) -> None:
    post = read_post(write_post(tmp_path))
    assert (post.name, post.builds["11.10"].here, post.builds["13.1"].compiler) == ("made-up", "postgres:11", "gcc 9.3")


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        (
            '["scan"]',
            '["scam"]',
            14,
            r"unknown test 'scam'\. Did you mean 'scan'.* Accepted: load, and names and globs",
        ),
        ('"throughput"', '"latency"', 14, r"metric is 'latency': input should be 'throughput', 'cpu', 'read_bytes'"),
        ('"13.1", old', '"13.2", old', 14, r"unknown build '13\.2'.*Accepted: those of \[builds\], 11\.10, 13\.1"),
        ("[1.16]", '[1.16], unit = "ms"', 14, r"unit is 'ms': input should be 'ratio' or '%'"),
        ("[1.16]", '[1.16], server = "big"', 14, r"unknown server 'big'.*Accepted: those of \[servers\], small"),
        (
            "[1.16]",
            '[1.16], experiment = "made-up-small"',
            14,
            r"unknown experiment 'made-up-small'\. Did you mean 'made-up-",
        ),
        (
            "rows = 1000",
            'rows = 1000, experiment = "other"',
            5,
            r"unknown experiment 'other'\. Accepted: made-up-large",
        ),
        ("[1.16]", "[1.16, 1.2]", 14, r"published has another number of values than there are tests: 2 for 1"),
        ("[1.16]", "[0.0]", 14, r"published.0 is 0\.0: input should be greater than 0"),
        (", published = [1.16]", "", 14, r"neither `published` nor `says`"),
        ('"postgres:11"', '"postgers:11"', 8, r"unknown DBMS 'postgers' in 'postgers:11'\. Did you mean 'postgres'"),
        ('"postgres:11"', '"postgres:eleven"', 8, r"'eleven' in 'postgres:eleven' is no version; e\.g\. 8\.0"),
        ("13@x5", "13@x55", 9, r"unknown config 'x55' in 'postgres:13@x55'\."),
        ('here = "postgres:13@x5"', 'version = "13.1"', 9, r"build '13\.1' needs one of `here`.*and `lacking`"),
        ('post = "made-up"', 'post = "made-out"', 1, r"post is 'made-out'; the file's name says 'made-up'"),
        ("rows = 1000", "rows = 1000, rack = 2", 5, r"unknown key 'rack'"),
        (
            "[[claims]]",
            '[[claims]]\nid = "1"\nlook = "at it"\n[[claims]]',
            15,
            r"two claims are called 1; each needs an id",
        ),
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path: Path, old: str, new: str, line: int, words: str) -> None:
    assert old in GOOD
    path = write_post(tmp_path, GOOD.replace(old, new))
    with pytest.raises(UsageError, match=rf"made-up\.toml:{line}: .*{words}"):
        read_post(path)


def test_claims_fall_out_with_the_builds_that_their_figures_need(tmp_path: Path) -> None:
    post = read_post(write_post(tmp_path))
    assert [post.claims_of(*build) for build in (("postgres", "13.1"), ("postgres", "apt/11.22"))] == [["1"], ["1"]]
    assert post.claims_of("postgres", "12.6") == post.claims_of("mysql", "13.1") == []


def test_a_claim_without_figures_says_why(tmp_path: Path) -> None:
    path = write_post(tmp_path, GOOD + '\n[[claims]]\nid = "2"\nsays = "more or less"\n')
    with pytest.raises(UsageError, match=r":17: claim 2 has no `figures`; without them it needs `look` or `lacking`"):
        read_post(path)


def test_a_post_without_its_experiment_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"made-up\.toml, the experiment of the post, is not there"):
        read_post(write_post(tmp_path, experiment=None))


def test_inline_settings_of_a_target_are_no_names_of_configs(tmp_path: Path) -> None:
    post = read_post(write_post(tmp_path, GOOD.replace("@x5", "@x5,work_mem=4MB")))
    assert post.builds["13.1"].stands.configs == {"x5", "work_mem=4MB"}


def test_figures_may_be_of_an_experiment_beside_the_posts_own(tmp_path: Path) -> None:
    beside = 'rows = 1000 }\nlarge = { clients = 1, rows = 9000, experiment = "made-up-large" }'
    post = read_post(
        write_post(tmp_path, GOOD.replace("rows = 1000 }", beside).replace("[1.16]", '[1.16], server = "large"'))
    )
    assert post.experiments == ["made-up", "made-up-large"]
