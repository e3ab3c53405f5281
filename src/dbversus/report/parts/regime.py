"""In which regime a test that changes data was measured: on what data, and how much of its work the servers put off."""

from collections.abc import Mapping, Sequence

import numpy as np

from dbversus.report.figures import BlockFigures
from dbversus.results.read import Results
from dbversus.stats.metrics import CPU, DRAIN_CPU, DRAIN_WRITES

WRITES = "write_bytes_per_op"
PUT_OFF_SHARE = 0.05
"""Less of the CPU or of the bytes of an operation than this is not worth a word."""


def regime_notes(results: Results, test: str, absolute: BlockFigures) -> list[str]:
    """For tests that leave servers something to do; nothing for reads, and for results that do not have these figures."""
    if not any(row["test"] == test for row in results.drains):
        return []
    aged = test in results.header.aged
    data = (
        "aged data: changed throughout since the load, so that fresh pages no longer split"
        if aged
        else "data as it was loaded"
    )
    put_off = [
        words for target in results.targets if (words := _put_off(target.label, absolute.get((test, target.label), {})))
    ]
    rest = f"; put off until after the test, and charged to it as drain: {', '.join(put_off)}" if put_off else ""
    return [f"measured on {data}{rest}"]


def _put_off(label: str, figures: Mapping[str, Sequence[float]]) -> str:
    """`mysql:8.0 31 % of its CPU and 80 % of its bytes written`; empty where it is little."""
    shares = {"CPU": _share(figures, DRAIN_CPU, CPU), "bytes written": _share(figures, DRAIN_WRITES, WRITES)}
    words = [f"{share:.0%} of its {what}" for what, share in shares.items() if share > PUT_OFF_SHARE]
    return f"{label} {' and '.join(words)}" if words else ""


def _share(figures: Mapping[str, Sequence[float]], after: str, during: str) -> float:
    """Of what was done in all, the part that came after the test."""
    if not figures.get(after) or not figures.get(during):
        return 0.0
    later = float(np.mean(figures[after]))
    both = later + float(np.mean(figures[during]))
    return later / both if both > 0 else 0.0
