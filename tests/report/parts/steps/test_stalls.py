"""Stalls in reports: a note, figures per block, and a table of `show --sql`."""

from dbversus.report.assessment import build_assessment, query
from dbversus.report.parts.steps import stalls

from ..each_test.test_timeline import SECOND_NS, series_results

GOOD = (100, 2, SECOND_NS)
NOTHING = (0, 0, SECOND_NS)


def test_a_stall_is_said_with_its_place_and_length() -> None:
    results = series_results([GOOD, GOOD, GOOD], [GOOD, NOTHING, NOTHING, GOOD, GOOD])
    label = results.base.label
    said = f"{label} stood still: no operation ended in 2.0 of 8.0 s (1 stall, the longest 2.0 s, in block 2)"
    assert stalls.notes(results, "test0") == [said]
    assert stalls.block_figures(results)["test0", label] == {
        stalls.LONGEST.name: [0.0, 2.0],
        stalls.STALLED.name: [0.0, 40.0],
    }
    [(columns, rows)] = query(results, "SELECT block, stalls, stalled_s, longest_s FROM stalls ORDER BY block")
    assert (columns, rows) == (["block", "stalls", "stalled_s", "longest_s"], [(0, 0, 0.0, 0.0), (1, 1, 2.0, 2.0)])

    (test,) = build_assessment(results).tests
    assert said in test.notes
    (figure,) = [figure for figure in test.figures if figure.metric == stalls.LONGEST.name]
    assert (figure.estimates[label].value, figure.estimates[label].n, figure.unit) == (1.0, 2, "s")


def test_without_a_stall_nothing_is_said() -> None:
    results = series_results([GOOD, GOOD])
    assert stalls.notes(results, "test0") == []
    (test,) = build_assessment(results).tests
    assert not [figure for figure in test.figures if figure.metric in {metric.name for metric in stalls.METRICS}]
