"""The names of cases with numbers of clients."""

import pytest

from dbversus.stats.across import clients
from dbversus.stats.across.clients import case_of, pooled_name


@pytest.mark.parametrize(
    ("name", "case"),
    [("scan@4", ("scan", 4)), ("scan", None), ("odd@name", None), ("a@b@16", ("a@b", 16)), ("scan@all", None)],
)
def test_the_name_of_a_case(name: str, case: tuple[str, int] | None) -> None:
    assert case_of(name) == case


def test_the_test_of_a_case_and_all_of_them() -> None:
    assert (clients.test_of("scan@4"), clients.test_of("scan")) == ("scan", "scan")
    assert pooled_name("scan") == "scan@all"
