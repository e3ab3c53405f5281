"""Latency histograms: HdrHistogram texts and logs, merged and asked for percentiles."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dbversus.errors import RunError
from dbversus.results import hdr


@dataclass(frozen=True)
class Latency:
    """Operations by latency: `values_ns` ascending (each the highest value of its bucket), `counts` beside them."""

    values_ns: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]

    @property
    def count(self) -> int:
        return int(self.counts.sum())

    def percentiles_ns(self, percents: Sequence[float]) -> list[int]:
        """Smallest recorded value that at least that percentage of operations stay at or below; needs `count` > 0."""
        ranks = np.maximum(np.ceil(np.asarray(percents) / 100 * self.count), 1)
        indexes = np.searchsorted(np.cumsum(self.counts), ranks)
        return [int(value) for value in self.values_ns[np.minimum(indexes, len(self.values_ns) - 1)]]


def decode(text: str, what: str) -> Latency:
    """A base64 HdrHistogram (V2, deflated). Raises RunError naming `what` when it is damaged."""
    try:
        return Latency(*hdr.decode(text))
    except ValueError as error:
        raise RunError(f"{what}: damaged latency histogram ({error}); expected HdrHistogram V2, base64.") from error


def merge(parts: Iterable[Latency]) -> Latency:
    """Sums histograms, whatever their ranges."""
    parts = list(parts)
    if not parts:
        return Latency(np.empty(0, np.int64), np.empty(0, np.int64))
    values, where = np.unique(np.concatenate([part.values_ns for part in parts]), return_inverse=True)
    counts = np.zeros(len(values), np.int64)
    np.add.at(counts, where, np.concatenate([part.counts for part in parts]))
    return Latency(values, counts)


def log_text(entries: Iterable[tuple[int, float, str]]) -> str:
    """An HdrHistogram log (format 1.2): entries are block, unix time in s, base64 histogram; the tag is the block."""
    lines = [
        "#[Latency in ns, one histogram per block]",
        "#[Histogram log format version 1.2]",
        '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
    ]
    for block, at_s, text in entries:
        latency = decode(text, f"block {block}")
        longest = int(latency.values_ns[-1]) if latency.count else 0
        lines.append(f"Tag=block-{block},{at_s:.3f},0.000,{longest},{text}")
    return "\n".join(lines) + "\n"


def read_log(path: Path) -> dict[int, Latency]:
    """Block → histogram, of a log written by `log_text`; several histograms of one block are summed."""
    blocks: dict[int, Latency] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith("Tag=block-"):
            continue
        tag, *_, text = line.split(",")
        block = int(tag.removeprefix("Tag=block-"))
        latency = decode(text, f"{path}, line {number}")
        blocks[block] = merge([blocks[block], latency]) if block in blocks else latency
    return blocks
