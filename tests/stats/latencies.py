"""Response times of operations, as the `latency` records of a journal."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from hdrh.histogram import HdrHistogram

from dbversus.results.records import Block
from dbversus.results.stored import Results

from ..journals import records_of

HIGHEST_NS = 3_600_000_000_000

Times = Callable[[int, str, str], npt.NDArray[np.float64]]
"""Block, test and target's name → response times of all operations, ns."""


def encoded(times_ns: npt.NDArray[np.float64]) -> str:
    """As the engine writes them, within 0.1 %."""
    histogram = HdrHistogram(1, HIGHEST_NS, 3)
    for value, count in zip(*np.unique(np.round(times_ns, -2).astype(int), return_counts=True), strict=True):
        histogram.record_value(int(value), int(count))
    text: bytes = histogram.encode()
    return text.decode()


def with_latencies(results: Results, times: Times) -> Results:
    """The results with a histogram for each test, target and block."""
    blocks = [record.block for record in results.of_type(Block)]
    records: list[dict[str, Any]] = [
        {
            "type": "latency",
            "block": block,
            "test": test,
            "hdr": {target.name: encoded(times(block, test, target.name)) for target in results.targets},
        }
        for block in blocks
        for test in results.tests[1:]
    ]
    return replace(results, records=(*results.records, *records_of(*records)))
