"""What the report says of servers' logs."""

from dataclasses import replace

from dbversus.explain.conditions import log_causes
from dbversus.report.parts.notes.cause_words import condition_notes
from dbversus.results.records import Log, Logged
from dbversus.results.stored import Results

from ..stats.twin_results import Truth, twin_results


def test_lines_are_counted_over_blocks_and_two_examples_quoted() -> None:
    results: Results = twin_results(Truth(blocks=3, tests=1))
    base, *_ = results.targets
    records = (
        Log(0, "test0", {base.name: Logged(2, ["one", "two"])}),
        Log(2, "test0", {base.name: Logged(1, ["three"])}),
        Log(1, "scan", {base.name: Logged(9, ["other"])}),
    )
    found = condition_notes(log_causes(replace(results, records=(*results.records, *records)), "test0"))
    assert found == [f'{base.label} logged 3 lines in 2 of 3 blocks, such as "one" and "two"']
    assert log_causes(results, "test0") == []
