"""In which regime a test that changes data was measured: on what data, for how long, and how much work servers put off."""

from collections.abc import Mapping, Sequence

import numpy as np

from dbversus.report.figures import BlockFigures
from dbversus.results.records import Slots
from dbversus.results.stored import Results
from dbversus.stats.metrics import CPU, DRAIN_CPU, DRAIN_WRITES

WRITES = "write_bytes_per_op"
DRIVEN_S = "driven_s"
PUT_OFF_SHARE = 0.05
"""Less of the CPU or of the bytes of an operation than this is not worth a word."""
LONG_S = 300
"""A test that lasts so long has seen what a short one does not (docs/evidence/aged-data.md)."""
LATER = "checkpoints of a full log and long histories come later (--profile sustained has more of them)"


def regime_notes(results: Results, test: str, absolute: BlockFigures) -> list[str]:
    """For tests that leave servers something to do; nothing for reads, and for results that do not have these figures."""
    lead_in = _lead_in(results, test)
    if not lead_in and not any(row["test"] == test for row in results.drains):
        return []
    aged = test in results.header.aged
    data = (
        "aged data: changed throughout since the load, so that fresh pages no longer split"
        if aged
        else "data as it was loaded"
    )
    figures = {target.label: absolute.get((test, target.label), {}) for target in results.targets}
    put_off = [words for label, of_target in figures.items() if (words := _put_off(label, of_target))]
    rest = f"; put off until after the test, and charged to it as drain: {', '.join(put_off)}" if put_off else ""
    length = lead_in or _length(list(figures.values()))
    return [f"measured on {data}{length}{rest}"]


def _lead_in(results: Results, test: str) -> str:
    """How long servers were driven before, where that was for the sake of the regime."""
    seconds = max((plan.lead_in_s for plan in results.of_type(Slots) if plan.test == test), default=0)
    return f", in every block after a lead-in of {seconds:g} s on the slowest target, uncounted" if seconds else ""


def _length(of_targets: Sequence[Mapping[str, Sequence[float]]]) -> str:
    """How long each server was driven in a block, and what comes later than that."""
    seconds = [each for figures in of_targets for each in figures.get(DRIVEN_S, ())]
    if not seconds or min(seconds) >= LONG_S:
        return ""
    least, most = f"{min(seconds):.2g}", f"{max(seconds):.2g}"
    span = least if least == most else f"{least} to {most}"
    return f"; each server was driven for {span} s per block: {LATER}"


def driven_figures(results: Results) -> dict[tuple[str, str], dict[str, list[float]]]:
    """(test, target label) → DRIVEN_S → seconds of each block."""
    query = """
        SELECT test, target, sum(elapsed_ns) / 1e9 FROM slots
        WHERE elapsed_ns > 0 GROUP BY test, target, block ORDER BY block"""
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    for test, target, seconds in results.slot_rows(query):
        found.setdefault((test, target), {}).setdefault(DRIVEN_S, []).append(seconds)
    return found


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
