"""Load figures in every report: own ones with their time, shared data without figures."""

import json
from dataclasses import replace
from io import StringIO
from typing import Any

import msgspec
import pytest
from rich.console import Console

from dbversus.report.assessment import build_assessment, query
from dbversus.report.formats import html, markdown, text
from dbversus.report.formats import json as json_report
from dbversus.report.formats.xlsx.sheets.setup import loads as loads_sheet
from dbversus.report.model import Assessment, LoadFigure
from dbversus.report.parts.experiment.loads import loads_note, origin_text
from dbversus.results.read import open_results
from dbversus.results.records import Load, LoadFigures
from dbversus.results.stored import Results

from ...synthetic import LABELS, write_results

SHARED = f"shares the data of {LABELS[0]}"


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return open_results(write_results(tmp_path_factory.mktemp("loads") / "r", targets=3, rows=4, blocks=2))


def with_loads(results: Results, **changes: dict[str, Any]) -> Results:
    """The same results, load records of some targets changed."""
    records = [
        msgspec.structs.replace(record, **changes.get(record.target, {})) if isinstance(record, Load) else record
        for record in results.records
    ]
    return replace(results, records=tuple(records))


def sharing(results: Results) -> Results:
    when = {"earlier": True, "loaded_at": "2026-07-01T12:00:00+00:00"}
    return with_loads(results, t1={**when, "figures": None, "shares": LABELS[0]}, t2=when)


def printed(assessment: Assessment) -> str:
    out = StringIO()
    text.render(assessment, Console(file=out, width=200))
    return out.getvalue()


def test_shared_data_is_no_load_and_no_comparison(plain: Results) -> None:
    assessment = build_assessment(sharing(plain))
    base, shared, earlier = assessment.loads
    assert shared.shares == LABELS[0] and shared.rate_ratio is None and shared.rows_per_s is None
    assert base.rows_per_s and earlier.rate_ratio == pytest.approx(410 / 428)
    assert f"{LABELS[1]} {SHARED}" in printed(assessment)
    (row,) = [line for line in markdown.render(assessment).splitlines() if SHARED in line]
    assert row.count("–") == 6
    assert SHARED in html.render(assessment)
    told = json.loads(json.dumps(json_report.as_json(assessment), allow_nan=False, default=str))["load"][1]
    assert (told["shares"], told["rows_per_s"], told["rate_ratio"]) == (LABELS[0], None, None)
    assert not [item for item in assessment.findings if item.test == "load" and item.target == LABELS[1]]


def test_targets_that_share_data_are_told_together(plain: Results) -> None:
    shared = {"figures": None, "shares": LABELS[0]}
    (line,) = [
        one for one in printed(build_assessment(with_loads(plain, t1=shared, t2=shared))).splitlines() if "n = 1" in one
    ]
    assert line.endswith(f"{LABELS[1]} and {LABELS[2]} share the data of {LABELS[0]}.")


def test_a_table_that_begins_empty_has_no_load(plain: Results) -> None:
    empty = {"figures": LoadFigures(rows=0, elapsed_ns=5_000_000)}
    assessment = build_assessment(with_loads(plain, t0=empty, t1={"figures": None, "shares": LABELS[0]}, t2=empty))
    assert not assessment.loads
    assert "rows/s" not in printed(assessment)


def test_a_load_of_another_time_says_so_wherever_it_is_compared(plain: Results) -> None:
    assessment = build_assessment(sharing(plain))
    assert (
        assessment.loads[2].note
        == "n = 1, and loads of other times are compared: 2026-07-01 12:00 UTC against this run"
    )
    out = printed(assessment)
    assert "loaded in 2026-07-01" not in out and "loaded 2026-07-01 12:00 UTC" in out
    for report in (out, markdown.render(assessment), html.render(assessment)):
        assert "Loads of different times are compared here" in report
    again = build_assessment(plain)
    assert {load.note for load in again.loads} == {"", "n = 1"}
    assert "different times" not in printed(again)


def test_sql_has_whose_data_it_is_and_from_when(plain: Results) -> None:
    ((columns, rows),) = query(
        sharing(plain), "SELECT target, shares, loaded_at, elapsed_ns FROM loads ORDER BY target"
    )
    assert columns[1] == "shares"
    assert rows[1] == (LABELS[1], LABELS[0], "2026-07-01T12:00:00+00:00", None)


def test_one_load_in_an_older_journal_is_not_printed_for_two_targets(plain: Results) -> None:
    of_base = plain.of_type(Load)[0].figures
    assert isinstance(of_base, LoadFigures)
    repeated = {"figures": of_base, "earlier": True}
    out = printed(build_assessment(with_loads(plain, t1=repeated)))
    assert f"{LABELS[1]} {SHARED}" in out and "+0.0" not in out


def test_data_of_ones_own_from_a_run_with_other_settings_has_its_time() -> None:
    load = LoadFigure("postgres:17", "sbtest1", True, "2026-07-01T12:00:00Z", shares="postgres:17")
    words = "has data loaded 2026-07-01 12:00 UTC, with other settings that act at run time"
    assert origin_text(load) == words


def test_copies_of_a_table_are_one_line_with_its_own_ratio(plain: Results) -> None:
    """The load of a catalogue of 50 equal tables was 50 lines, all with the ratio of the whole load."""
    others = [record for record in plain.records if not isinstance(record, Load)]

    def load(target: str, table: str, rows: int, ms: int) -> Load:
        return Load(
            target,
            table,
            False,
            figures=LoadFigures(rows=rows, elapsed_ns=ms * 1_000_000, server_cpu_ns=ms * 500_000),
        )

    copies = [
        load(target, f"thing{number}", 100, ms * number)
        for target, ms in (("t0", 1), ("t1", 4))
        for number in (1, 2, 3)
    ]
    alone = [load("t0", "q2", 10, 1), load("t1", "q2", 10, 2), load("t0", "big", 1000, 1), load("t1", "big", 1000, 1)]
    results = replace(plain, records=(*others, *copies, *alone))
    found = {(one.target, one.table): one for one in build_assessment(results).loads}
    assert [table for _, table in found] == ["thing1 to thing3", "thing1 to thing3", "q2", "q2", "big", "big"]
    of_copies = found[LABELS[1], "thing1 to thing3"]
    assert of_copies.rows == 300 and of_copies.seconds == pytest.approx(0.024)
    ratios = [found[LABELS[1], table].rate_ratio for table in ("thing1 to thing3", "q2", "big")]
    assert ratios == [pytest.approx(0.25), pytest.approx(0.5), pytest.approx(1.0)]
    assert [found[LABELS[1], table].cpu_ratio for table in ("thing1 to thing3", "q2")] == [
        pytest.approx(4),
        pytest.approx(2),
    ]
    assert all(one.rate_ratio is None for (label, _), one in found.items() if label == LABELS[0])


@pytest.mark.parametrize("is_judged", [False, True])
def test_where_the_load_is_a_test_reports_say_that_it_has_a_verdict(plain: Results, is_judged: bool) -> None:
    assessment = build_assessment(plain)
    header = msgspec.structs.replace(assessment.header, spec={**assessment.header.spec, "judge_load": is_judged})
    assessment = replace(assessment, header=header)
    note = loads_note(assessment)
    assert ("that is the test load, which has both" in note) is is_judged
    assert ("no verdict" in note) is not is_judged
    told = html.render(assessment), markdown.render(assessment), str(loads_sheet.sheet(assessment))
    assert [note in one for one in told] == [True, True, True]
    lines = [line for line in printed(assessment).splitlines() if "(n = 1)" in line]
    assert [line.startswith("first load of ") for line in lines] == [is_judged]
