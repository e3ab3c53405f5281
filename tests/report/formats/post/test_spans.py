"""Ratios in words: few are listed, many are a range, and no range hides an outlier."""

import pytest

from dbversus.report.formats.post.spans import Named, of_counts, span, two_decimals


def named(*values: float) -> list[Named]:
    return [(f"test-{number}", value) for number, value in enumerate(values, 1)]


def words(*values: float) -> str:
    found = span(named(*values))
    first = f"{found.middle} {found.where}".strip()
    return ", but ".join([first, *(text for text, _ in found.apart)])


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ((0.826,), "0.83"),
        ((0.66, 0.65), "0.66 and 0.65"),
        ((0.591, 0.589), "0.59 in both"),
        ((0.73, 1.01, 1.25), "0.73, 1.01 and 1.25"),
        ((0.75, 0.75, 0.751), "0.75 in all 3"),
        ((0.85, 0.87, 0.86, 0.88), "0.85 to 0.88"),
        ((0.741, 0.739, 0.744, 0.743), "0.74 in 4 tests"),
        ((0.74, 0.71, 0.59, 0.24), "0.59 to 0.74, but 0.24 in test-4"),
        ((0.7, 1.61, 0.76, 0.75, 0.75), "0.70 to 0.76, but 1.61 in test-2"),
        ((2.75, 1.44, 2.21, 2.24, 2.23), "2.21 to 2.24, but 1.44 in test-2, but 2.75 in test-1"),
        ((1.0, 1.0, 1.0, 1.0, 1.0, 3.0, 4.0), "1.00 in 5 tests, but 3.00 to 4.00 in test-6 and test-7"),
    ],
)
def test_words(values: tuple[float, ...], said: str) -> None:
    assert words(*values) == said


@pytest.mark.parametrize(
    "values", [(0.74, 0.71, 0.59, 0.24), (0.5, 0.99, 1.0, 1.01, 1.0, 7.0, 9.0), (1.0, 1.2, 1.4, 1.6)]
)
def test_every_ratio_lies_in_what_is_said_of_it(values: tuple[float, ...]) -> None:
    found = span(named(*values))
    apart = {name for text, _ in found.apart for name in dict(named(*values)) if name in text}
    low, high = (float(text) for text in (found.middle.split(" to ") * 2)[:2])
    assert all(low <= value <= high for name, value in named(*values) if name not in apart)


def test_figures_are_counted() -> None:
    found = span(named(1.0, 1.0, 1.0, 1.0, 1.0, 3.0, 4.0, 0.2))
    assert found.figures == 1 and found.apart == (("0.20 in test-8", 1), ("3.00 to 4.00 in test-6 and test-7", 2))


@pytest.mark.parametrize(
    ("value", "said"), [(0.0, "0"), (0.00357, "0.00357"), (0.1, "0.10"), (63.0, "63.00"), (640.2, "640.20")]
)
def test_no_ratio_is_rounded_to_nothing(value: float, said: str) -> None:
    assert two_decimals(value) == said


@pytest.mark.parametrize(
    ("value", "said"), [(0.0, "0"), (0.00357, "<0.01"), (0.0357, "0.0357"), (63.0, "63.00"), (45_110.0, ">100")]
)
def test_ratios_of_counts_to_next_to_nothing_have_no_size(value: float, said: str) -> None:
    assert of_counts(value) == said
    assert span(named(value), of_counts).middle == said
