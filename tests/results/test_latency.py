import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given, settings
from hypothesis import strategies as st

from dbversus.errors import RunError
from dbversus.results.latency import decode, merge

from .samples import histogram


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 10**11), min_size=1, max_size=40), st.floats(0.1, 100))
def test_percentiles_equal_those_of_the_library(values: list[int], percent: float) -> None:
    text = histogram(values)
    [mine] = decode(text, "x").percentiles_ns([percent])
    library = HdrHistogram.decode(text).get_value_at_percentile(percent)
    # the library rounds the rank half up, so at a boundary it may name the value before
    exact = np.sort(values)[max(int(np.ceil(percent / 100 * len(values))) - 1, 0)]
    assert mine == pytest.approx(exact, rel=2e-3)
    assert library <= mine


def test_merging_adds_counts_whatever_the_ranges() -> None:
    wide = HdrHistogram(1, 10**12, 3)
    for value in (1000, 5_000_000_000):
        wide.record_value(value)
    merged = merge([decode(histogram([1000, 2000]), "x"), decode(wide.encode().decode(), "y")])
    assert merged.count == 4
    assert merged.counts.tolist()[:2] == [2, 1]
    assert merge([]).count == 0


@pytest.mark.parametrize("text", ["", "HIST", "HISTFAAA", "!!!!", "aGVsbG8gd29ybGQ="])
def test_damaged_texts_are_told(text: str) -> None:
    with pytest.raises(RunError, match="damaged latency histogram"):
        decode(text, "block 3")
