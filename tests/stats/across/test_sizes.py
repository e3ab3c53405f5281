"""The names of cases with sizes of tables."""

import pytest

from dbversus.stats.across.sizes import interaction_name, size_of


@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("scan@10m", ("scan", 10_000_000)),
        ("scan.pre@100k@4", ("scan.pre@4", 100_000)),
        ("scan@1500rows", ("scan", 1500)),
        ("scan@4", None),
        ("scan", None),
        ("scan@all", None),
    ],
)
def test_the_name_of_a_case(name: str, case: tuple[str, int] | None) -> None:
    assert size_of(name) == case


def test_the_name_of_one_size_over_another() -> None:
    assert interaction_name("scan@4", 10_000_000, 1500) == "scan@4@10m/1500rows"
