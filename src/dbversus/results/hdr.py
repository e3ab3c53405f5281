"""Reads HdrHistograms as the engine writes them: the V2 encoding, deflated, in base64.

The format is that of the HdrHistogram libraries (`AbstractHistogram.encodeIntoByteBuffer` of the Java one): a header, then counts
by ascending value as ZigZag LEB128 numbers, where −n stands for n empty buckets.
"""

import base64
import binascii
import math
import struct
import zlib

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]

_COMPRESSED, _ENCODED = 0x1C849314, 0x1C849313
_OUTER = struct.Struct(">II")  # cookie, bytes that follow
_INNER = struct.Struct(
    ">IIIIQQd"
)  # cookie, bytes of counts, offset, significant digits, lowest and highest value, ratio
_MOST_BYTES = 64 << 20
"""Of counts: far more than the buckets of hours take. A few kilobytes could unpack to gigabytes."""
_BYTES_OF_COUNT = 8
"""At most: 56 bits. A ninth byte would hold counts that no run reaches."""


def decode(text: str) -> tuple[Integers, Integers]:
    """Values, ascending (each the highest of its bucket), and their counts. Raises ValueError for a damaged text."""
    try:
        return _decode(base64.b64decode(text, validate=True))
    except (binascii.Error, struct.error, zlib.error) as error:
        raise ValueError(str(error)) from error


def _decode(packed: bytes) -> tuple[Integers, Integers]:
    cookie, length = _OUTER.unpack_from(packed)
    _check_cookie(cookie, _COMPRESSED)
    if length != len(packed) - _OUTER.size:
        raise ValueError(f"{len(packed) - _OUTER.size} bytes instead of {length}")
    unpacking = zlib.decompressobj()
    payload = unpacking.decompress(packed[_OUTER.size :], _MOST_BYTES)
    if not unpacking.eof:
        raise ValueError(f"it is cut off, or unpacks to more than {_MOST_BYTES:,} bytes")
    cookie, length, _, digits, lowest, _, _ = _INNER.unpack_from(payload)
    _check_cookie(cookie, _ENCODED)
    if not (lowest >= 1 and digits <= 5 and length == len(payload) - _INNER.size):
        raise ValueError("a header that fits no histogram")
    numbers = _zigzag_numbers(np.frombuffer(payload, np.uint8, length, _INNER.size))
    steps = np.where(numbers < 0, -numbers, 1)
    indexes = np.cumsum(steps) - steps
    counted = numbers > 0
    return _highest_values(indexes[counted], digits, lowest), numbers[counted]


def _check_cookie(cookie: int, expected: int) -> None:
    if cookie != expected:
        raise ValueError(f"it starts with {cookie:#x} instead of {expected:#x}")


def _zigzag_numbers(data: npt.NDArray[np.uint8]) -> Integers:
    """Numbers of seven bits a byte, the lowest first; a byte below 128 ends one, and the lowest bit of all is the sign."""
    if not data.size:
        return np.empty(0, np.int64)
    ends = np.flatnonzero(data < 0x80)
    if not ends.size or ends[-1] != data.size - 1:
        raise ValueError("the last count is cut off")
    starts = np.concatenate(([0], ends[:-1] + 1))
    lengths = ends - starts + 1
    if lengths.max() > _BYTES_OF_COUNT:
        raise ValueError("a count is too large")
    places = np.arange(data.size) - np.repeat(starts, lengths)
    raw = np.add.reduceat((data & 0x7F).astype(np.int64) << (7 * places), starts)
    return (raw >> 1) ^ -(raw & 1)


def _highest_values(indexes: Integers, digits: int, lowest: int) -> Integers:
    """The highest value that is counted at each index: buckets double in width, each with the same number of steps."""
    half_bits = math.ceil(math.log2(2 * 10**digits)) - 1
    half = 1 << half_bits
    bucket = (indexes >> half_bits) - 1
    step = (indexes & (half - 1)) + np.where(bucket < 0, 0, half)
    shift = np.maximum(bucket, 0) + int(math.log2(lowest))
    values: Integers = ((step + 1) << shift) - 1
    return values
