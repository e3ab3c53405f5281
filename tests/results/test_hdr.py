"""Our decoder beside the library that wrote the texts."""

import base64
import struct
import zlib

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given, settings
from hypothesis import strategies as st

from dbversus.results import hdr

Recorded = st.lists(st.tuples(st.integers(1, 10**12), st.integers(1, 2**40)), max_size=30)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(Recorded, st.integers(1, 4), st.sampled_from([1, 2, 1000, 1024]))
def test_values_and_counts_are_those_of_the_library(recorded: list[tuple[int, int]], digits: int, lowest: int) -> None:
    histogram = HdrHistogram(lowest, 2 * 10**12, digits)
    for value, count in recorded:
        histogram.record_value(value, count)
    values, counts = hdr.decode(histogram.encode().decode())
    expected = [(item.value_iterated_to, item.count_at_value_iterated_to) for item in histogram.get_recorded_iterator()]
    assert list(zip(values.tolist(), counts.tolist(), strict=True)) == expected


def _text(payload: bytes) -> str:
    packed = zlib.compress(payload)
    return base64.b64encode(struct.pack(">II", 0x1C849314, len(packed)) + packed).decode()


def _payload(counts: bytes, *, cookie: int = 0x1C849313, length: int | None = None) -> bytes:
    size = len(counts) if length is None else length
    return struct.pack(">IIIIQQd", cookie, size, 0, 3, 1, 10**12, 1.0) + counts


def test_an_empty_histogram_has_no_values() -> None:
    values, counts = hdr.decode(_text(_payload(b"")))
    assert values.size == counts.size == 0


def test_empty_buckets_are_skipped() -> None:
    # ZigZag: 5 stands for -3, three empty buckets; 4 for a count of 2
    values, counts = hdr.decode(_text(_payload(bytes([5, 4]))))
    assert values.tolist() == [3] and counts.tolist() == [2] and counts.dtype == np.int64


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "buffer of at least 8 bytes"),
        ("HIST", "buffer of at least 8 bytes"),
        ("!!!!", "base64"),
        ("aGVsbG8gd29ybGQ=", "instead of 0x1c849314"),
        (base64.b64encode(struct.pack(">II", 0x1C849314, 4) + b"abc").decode(), "3 bytes instead of 4"),
        (base64.b64encode(struct.pack(">II", 0x1C849314, 3) + b"abc").decode(), "incorrect header check"),
        (_text(b"short"), "buffer of at least 40 bytes"),
        (_text(_payload(b"", cookie=7)), "instead of 0x1c849313"),
        (_text(_payload(b"\x02", length=9)), "a header that fits no histogram"),
        (_text(_payload(b"\x80")), "the last count is cut off"),
        (_text(_payload(b"\x80" * 8 + b"\x01")), "a count is too large"),
    ],
)
def test_damage_is_named(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        hdr.decode(text)
