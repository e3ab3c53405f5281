"""Rows in which a target did nothing; and what other work on the host does to verdicts, which is nothing."""

import numpy as np

from dbversus.results.layout import lay_out
from dbversus.stats.headline import headline
from dbversus.stats.judging.verdicts import assess
from dbversus.stats.metrics import CPU, PRIMARY, THROUGHPUT
from dbversus.stats.model import Finding, Verdict
from dbversus.stats.validity.idle import withhold_idle
from dbversus.stats.values.blocks import block_values

from ..slots import Slots, make_slots


def judged(slots: Slots) -> dict[tuple[str, str], Finding]:
    findings = withhold_idle(assess(block_values(lay_out(slots, "a")), PRIMARY), lay_out(slots, "a"))
    return {(finding.test, finding.metric): finding for finding in findings}


def busy(slots: Slots, share: int) -> Slots:
    """Every so-manieth row disturbed; what slows a whole row down slows both targets."""
    slots["disturbed"] = slots["row"] % share == 0
    slots["ops"] = np.where(slots["disturbed"], slots["ops"] * 0.6, slots["ops"])
    slots["server_cpu_ns"] = np.where(slots["disturbed"], slots["server_cpu_ns"] * 0.6, slots["server_cpu_ns"])
    return slots


def test_rows_that_were_all_disturbed_are_judged() -> None:
    findings = judged(busy(make_slots(tests=6, blocks=4, rows=36), 1))
    assert {finding.verdict for (_, metric), finding in findings.items() if metric in (CPU, THROUGHPUT)} == {
        Verdict.EQUIVALENT
    }


def test_a_change_on_a_busy_host_is_found() -> None:
    slots = busy(make_slots(tests=6, blocks=6, rows=36), 2)
    slots["server_cpu_ns"] = slots["server_cpu_ns"] * np.where(
        (slots["test"] == "t0") & (slots["target"] == "b"), 1.1, 1
    )
    assert judged(slots)["t0", CPU].verdict is Verdict.REGRESSION


def test_a_target_that_mostly_does_nothing_is_not_judged() -> None:
    slots = make_slots(tests=3, blocks=4, rows=10)
    slots["ops"] = np.where((slots["test"] == "t0") & (slots["row"] > 3) & (slots["target"] == "b"), 0.0, slots["ops"])
    findings = judged(slots)
    assert findings["t0", CPU].verdict is Verdict.UNDECIDED
    assert findings["t0", CPU].note == "in 60% of the rows a target did nothing at all"
    assert "in 60% of the rows a target did nothing at all" in headline([findings["t0", CPU]])[1]
    assert findings["t1", CPU].verdict is Verdict.EQUIVALENT
