"""What reports say of the data at the start of blocks."""

import dataclasses
import json
from typing import Any

import msgspec
from rich.console import Console

from dbversus.report.assessment import build_assessment
from dbversus.report.formats import html, markdown, text
from dbversus.report.formats import json as json_report
from dbversus.report.parts.notes.state import state_sentences
from dbversus.results.stored import Results

from ....journals import records_of
from ...synthetic import LABELS

COUNTED = {
    "sbtest1": {
        "rows": 100_000, "rows_counted": True, "lowest_id": 1, "highest_id": 100_000, "columns": [], "indexes": [],
        "statistics_rows": None,
    }
}  # fmt: skip
SHORT = "table.sbtest1 takes 7 bytes, block 1 had 9"


def _record(block: int, differs: dict[str, list[str]] | None = None, **table: Any) -> dict[str, Any]:
    tables = {"sbtest1": COUNTED["sbtest1"] | table}
    state = {"tables": tables, "sizes_bytes": {}, "debt": {}}
    return {
        "type": "state",
        "data": "loaded",
        "block": block,
        "targets": {"t0": state, "t1": state},
        "differs": differs or {},
    }


def _with(results: Results, *records: dict[str, Any], **header: Any) -> Results:
    first = msgspec.structs.replace(results.header, **header)
    return dataclasses.replace(results, records=(*results.records, *records_of(*records)), header=first)


def test_the_same_in_all_blocks_is_one_line(results: Results) -> None:
    found = state_sentences(_with(results, _record(0), _record(1), _record(1)))
    assert found == ("State: the same at the start of all 2 blocks (rows, structure, sizes, statistics, debt).",)
    assert "the one block" in state_sentences(_with(results, _record(0)))[0]


def test_estimated_rows_are_said_to_be(results: Results) -> None:
    assert "(rows by statistics, structure" in state_sentences(_with(results, _record(0, rows_counted=False)))[0]


def test_kept_data_is_compared_in_less(results: Results) -> None:
    (said,) = state_sentences(_with(results, _record(0), _record(1), restore="never"))
    assert "(structure, debt); data was restored once, and has aged since." in said


def test_nothing_is_said_where_nothing_was_looked_at(results: Results) -> None:
    assert state_sentences(results) == ()
    nothing: dict[str, Any] = {"tables": {}, "sizes_bytes": {}, "debt": {}}
    empty = {"type": "state", "data": "loaded", "block": 0, "targets": {"t0": nothing}, "differs": {}}
    assert state_sentences(_with(results, empty)) == ()


def test_every_report_names_the_difference_with_target_and_block(results: Results) -> None:
    differing = _with(results, _record(0), _record(2, {"t2": [SHORT]}), _record(2, {"t2": [SHORT]}), cache="cold")
    assessment = build_assessment(differing)
    difference, summary = assessment.data_state
    assert difference == f"State differs: {LABELS[2]}, block 3: {SHORT}."
    assert summary.startswith("State: all else was the same at the start of all 2 blocks")
    console = Console(width=200)
    with console.capture() as capture:
        text.render(assessment, console)
    assert "State differs: " in capture.get() and SHORT in capture.get().replace("\n", " ")
    assert "State differs: " in markdown.render(assessment) and "cold caches" in markdown.render(assessment)
    page = html.render(assessment)
    assert f"block 3: {SHORT}" in page and "<script>alert" not in page
    assert json.loads(json.dumps(json_report.as_json(assessment)))["data_state"] == list(assessment.data_state)
