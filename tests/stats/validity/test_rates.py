"""Rates that were missed, and where the figures beside them do not count."""

from pathlib import Path

import pytest

from dbversus.results.read import open_results
from dbversus.stats.validity.rates import Rate, missed_rates, spoiled_by_rates

from ...report.synthetic import LABELS, Truth, write_results
from ...report.test_assessment import with_rates

MISSED, HELD = (Rate(done, 500.0, 500.0, 0.95) for done in (474.0, 475.0))


def test_a_missed_rate_spoils_the_closed_loops_beside_it_and_these_alone() -> None:
    readers = {"a": Rate(900.0), "b": Rate(900.0)}
    assert spoiled_by_rates([readers, {"a": MISSED, "b": HELD}]) == {"a"}
    assert spoiled_by_rates([{"b": Rate(900.0)}, {"a": MISSED}]) == set()


@pytest.mark.parametrize("unknown", [Rate(0.0, 0.0), Rate(0.0, 0.0, 0.0, 0.95), Rate(1.0, 2.0, 2.0)])
def test_where_nothing_was_asked_for_nothing_is_missed(unknown: Rate) -> None:
    assert not unknown.is_missed


def test_stored_results_tell_which_target_missed_a_rate(tmp_path: Path) -> None:
    folder = write_results(tmp_path / "results", targets=2, truths=(Truth("mixed", 28), Truth("alone", 30)))
    assert missed_rates(open_results(folder)) == {}
    with_rates(folder, "mixed", {"t0": 500, "t1": 300})
    assert missed_rates(open_results(folder)) == {"mixed": {LABELS[1]}}
