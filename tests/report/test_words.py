import pytest

from dbversus.report.words import NBSP, change, interval, listing, number, ratio


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0"), (None, "–"), (float("nan"), "–"), (0.0123456, "0.01235"), (12.3456, "12.35"), (1234.5, "1,234"),
     (123_456.0, "123,500"), (999.96, "1,000.0"), (0.3, "0.3000"), (-4.5, "-4.500")],
)  # fmt: skip
def test_number_has_four_significant_digits(value: float | None, shown: str) -> None:
    assert number(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(1.081, f"+8.1{NBSP}%"), (0.88, f"−12.0{NBSP}%"), (1.36, f"+36{NBSP}%"), (3.21, "×3.21"), (None, "–")],
)
def test_change(value: float | None, shown: str) -> None:
    assert change(value) == shown


def test_listing_shortens() -> None:
    assert listing(["a"]) == "a"
    assert listing(["a", "b", "c"]) == "a, b and c"
    assert listing(list("abcdefgh"), most=4) == "a, b, c and 5 more"


def test_ratio_and_interval() -> None:
    assert ratio(1.0834) == "1.083"
    assert interval(0.99, 1.2) == "[0.990, 1.200]"
    assert interval(None, 1.2) == ""
