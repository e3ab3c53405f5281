"""Objects in reports: the order of lines, what is left out, and every format."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dbversus.report.formats import html, markdown
from dbversus.report.formats import json as json_format
from dbversus.report.formats.xlsx.sheets.every import of_sections
from dbversus.report.model import Assessment
from dbversus.report.sections.objects import (
    AT_END,
    MOST_LINES,
    OF_FIRST_BLOCK,
    PER_OP,
    Objects,
    across,
    objects_of,
    of_tests,
    reads_by_other_indexes,
)
from dbversus.report.words import no_other_plans
from dbversus.results.read import open_results
from dbversus.servers.objects import sources

from ...journals import DictJournal
from ...results.samples import HEADER

TEST = HEADER["tests"][0]
LABEL = HEADER["targets"][0]["label"]


def _record(block: int = 0, **more: Any) -> dict[str, Any]:
    return {"type": "objects", "block": block, "test": TEST, **more}


def _rise(block: int, **objects: dict[str, float]) -> dict[str, Any]:
    """What rose over 10 operations on the first target."""
    return _record(block, rise={"t0": {"index": objects}}, spanned_ops={"t0": 10})


def write(folder: Path) -> Path:
    """A test in which an index was read."""
    with DictJournal(folder) as journal:
        journal.append(HEADER)
        journal.append(_rise(0, a={"read_rows": 100.0}))
    return folder


def _part(folder: Path, *contents: dict[str, Any]) -> Objects | None:
    with DictJournal(folder) as journal:
        journal.append(HEADER)
        for content in contents:
            journal.append(content)
    return objects_of(open_results(folder), TEST)


def _of(folder: Path, *contents: dict[str, Any]) -> Objects:
    part = _part(folder, *contents)
    assert part is not None
    return part


def test_the_object_that_costs_most_comes_first(tmp_path: Path) -> None:
    cached = {"hit_pages": 1000.0, "read_rows": 100.0}
    part = _of(tmp_path, _rise(0, cheap=cached, dear={"read_pages": 40.0, "read_rows": 100.0}))
    assert [(line.object, line.figure) for line in part.per_op] == [
        ("dear", "read_pages"),
        ("dear", "read_rows"),
        ("cheap", "hit_pages"),
        ("cheap", "read_rows"),
    ]
    assert part.per_op[0].estimates[LABEL].value == 4.0


def test_trifles_and_what_comes_late_are_counted(tmp_path: Path) -> None:
    many = {f"i{n}": {"read_rows": 100.0 + n} for n in range(MOST_LINES + 5)}
    part = _of(tmp_path, _rise(0, **many, trifle={"read_rows": 0.9}))
    assert len(part.per_op) == MOST_LINES and part.left_out == 6
    assert "trifle" not in {line.object for line in part.per_op}
    assert "6 figures" in of_tests({TEST: part}, [LABEL]).of_tests[TEST].notes[0]


def test_a_figure_that_is_not_in_a_block_was_nothing_there(tmp_path: Path) -> None:
    part = _of(tmp_path, _rise(0, a={"read_rows": 100.0}, b={"read_rows": 100.0}), _rise(1, b={"read_rows": 100.0}))
    estimates = {line.object: line.estimates[LABEL] for line in part.per_op}
    assert (estimates["a"].value, estimates["a"].n) == (5.0, 2)
    assert (estimates["b"].value, estimates["b"].n) == (10.0, 2)


def test_what_is_asked_in_the_first_block_is_not_nothing_in_others(tmp_path: Path) -> None:
    sizes = {"size_bytes": 8192.0}
    first = _record(0, at_end={"t0": {"index": {"t.k": {**sizes, "cached_bytes": 4096.0}}}})
    part = _of(tmp_path, first, _record(1, at_end={"t0": {"index": {"t.k": sizes}}}))
    estimates = {line.figure: line.estimates[LABEL] for line in part.at_end}
    assert (estimates["cached_bytes"].value, estimates["cached_bytes"].n) == (4096.0, 1)
    assert (estimates["size_bytes"].value, estimates["size_bytes"].n) == (8192.0, 2)


@pytest.mark.parametrize("family", ["postgres", "mysql"])
def test_figures_of_the_first_block_are_those_of_its_sources(family: str) -> None:
    assert {figure for source in sources(family)["first"] for figure in source.figures} <= OF_FIRST_BLOCK


def test_of_several_groups_in_a_block_it_is_the_mean(tmp_path: Path) -> None:
    first, second = _rise(0, a={"read_rows": 100.0}), _rise(0, a={"read_rows": 300.0})
    part = _of(tmp_path, {**first, "group": "g0"}, {**second, "group": "g1"})
    assert (part.per_op[0].estimates[LABEL].value, part.per_op[0].estimates[LABEL].n) == (20.0, 1)


def test_gauges_come_before_sizes(tmp_path: Path) -> None:
    held = {"t0": {"index": {"t.k": {"size_bytes": 1e9}}, "server": {"debt": {"dead_rows": 1.0}}}}
    part = _of(tmp_path, _record(at_end=held))
    assert [(line.kind, line.figure) for line in part.at_end] == [("server", "dead_rows"), ("index", "size_bytes")]
    assert not part.per_op and not part.left_out


def test_what_could_not_be_asked_is_said_once(tmp_path: Path) -> None:
    lacking = {"t0": {"rows of indexes": "performance_schema is off"}}
    part = _of(tmp_path, _record(0, lacking=lacking), _record(1, lacking=lacking))
    assert part.lacking == (f"{LABEL}: rows of indexes: performance_schema is off",)


def test_a_test_of_which_nothing_is_known_has_no_part(tmp_path: Path) -> None:
    assert _part(tmp_path) is None


@pytest.mark.parametrize(
    ("figure", "unit", "words"),
    [
        ("hot_updated_rows", "rows", "hot updated, rows"),
        ("read_us", "us", "read, µs"),
        ("scans", "scans", "scans"),
        ("rows_not_vacuumed", "rows", "rows not vacuumed"),
    ],
)
def test_figures_are_said_in_words(tmp_path: Path, figure: str, unit: str, words: str) -> None:
    (line,) = _of(tmp_path, _rise(0, a={figure: 50.0})).per_op
    assert line.unit == unit and across(line, [LABEL])[1] == words


def test_every_report_has_them_and_escapes_names(tmp_path: Path, assessment: Assessment) -> None:
    held = {"t0": {"index": {"t.<b>k</b>": {"size_bytes": 8192.0}}}}
    part = _of(tmp_path, _rise(0, **{"t.<b>k</b>": {"read_rows": 123.0}}), _record(at_end=held))
    names = [test.name for test in assessment.tests[:2]]
    section = replace(of_tests(dict.fromkeys(names, part), [LABEL]), name="objects")
    shown = replace(assessment, sections=(section,))
    for report in (html.render(shown), markdown.render(shown)):
        assert PER_OP in report and AT_END in report
        assert "12.30" in report and "<b>k" not in report and "&lt;b&gt;k" in report
    of_json = json.loads(json_format.render(shown))["tests"][0]["objects"]
    assert of_json["per_op"][0]["estimates"][LABEL]["value"] == 12.3
    # what stands at the end and has not changed is said of the first test alone
    assert [len(table.rows) for table in section.tables] == [2, 1]
    assert [len(section.of_tests[name].tables) for name in names] == [2, 1]
    (sheet,) = of_sections(shown)
    assert sheet.name == "Objects"


@pytest.mark.parametrize(
    ("base", "mine", "differ"),
    [
        ({"a": {"read_rows": 2700.0}}, {"b": {"read_rows": 30.0}}, True),
        ({"a": {"read_rows": 2700.0}}, {"a": {"read_rows": 2500.0}}, False),
        ({"a": {"read_rows": 2700.0}, "b": {"read_rows": 300.0}}, {"a": {"read_rows": 2700.0}}, True),
        ({"a": {"read_rows": 2700.0}, "b": {"read_rows": 3.0}}, {"a": {"read_rows": 2700.0}}, False),
        ({"a": {"read_rows": 2700.0}}, {}, False),
    ],
    ids=["another", "the same", "one more", "a trifle", "one that tells none"],
)
def test_another_index_in_use_never_stands_beside_equal_plans(
    tmp_path: Path, base: dict[str, Any], mine: dict[str, Any], differ: bool
) -> None:
    """Whatever plans were told: an index that gave rows on one side alone was part of another plan."""
    with DictJournal(tmp_path) as journal:
        journal.append(HEADER)
        journal.append(_record(rise={"t0": {"index": base}, "t1": {"index": mine}}, spanned_ops={"t0": 10, "t1": 10}))
    found = reads_by_other_indexes(open_results(tmp_path))
    assert found == ((TEST,) if differ else ())
    words = no_other_plans(["postgres", "postgres"], found)
    assert ("No plan differs" in words) is not differ and (TEST in words) is differ
