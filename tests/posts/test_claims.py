"""Claims as data: what a figure says, and what stands for a build."""

import pytest

from dbversus.posts.claims import Figure, Stands
from dbversus.posts.reading import list_posts, load_post


def figure(*published: float, unit: str = "ratio") -> Figure:
    tests = ["scan"] * max(1, len(published))
    shape = {"new": "b", "old": "a", "metric": "cpu", "tests": tests, "published": list(published), "unit": unit}
    return Figure.model_validate(shape)


def test_a_line_of_a_table_is_said_by_its_figures() -> None:
    (scan,) = (claim for claim in load_post("2021-01-20-postgres-io").claims if claim.id == "17")
    assert scan.words == "scan: throughput 13.1 ÷ 11.10 1.14; throughput 12.4 ÷ 11.10 1.14; cpu 13.1 ÷ 11.10 0.87"
    assert all(claim.words for name in list_posts() for claim in load_post(name).claims)


@pytest.mark.parametrize(
    ("published", "unit", "ratios", "decimals"),
    [
        ((0.8,), "ratio", [0.8], 2),  # printed as 0.80
        ((0.145, 0.14), "ratio", [0.145, 0.14], 3),
        ((57.0, 133.0), "%", [0.57, 1.33], 2),
        ((57.5,), "%", [0.575], 3),
    ],
)
def test_a_printed_value_has_a_precision(
    published: tuple[float, ...], unit: str, ratios: list[float], decimals: int
) -> None:
    one = figure(*published, unit=unit)
    assert one.ratios == pytest.approx(ratios) and one.decimals == decimals


def test_the_version_of_a_build_is_in_its_name_or_beside_it() -> None:
    named, beside = load_post("2021-01-19-scan"), load_post("2024-09-24-durability")
    assert (named.version_of("MySQL 5.6.49"), named.version_of("MyRocks")) == ("5.6.49", "")
    assert beside.version_of("bl0_sync0_dw1") == "8.0.39"


def test_the_first_server_is_meant_where_none_is_named() -> None:
    post = load_post("2024-09-24-durability")
    small, medium = (figure for figure in post.claims[0].figures)
    assert [post.server_of(each).clients for each in (small, medium)] == [1, 12]
    assert [post.is_of_another(each) for each in (small, medium)] == [False, True]


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
