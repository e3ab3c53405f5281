"""Every table of a report has its sheet, with the numbers of the assessment as numbers."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dbversus.report.figures import estimate
from dbversus.report.formats.xlsx.means import MEAN_OVER
from dbversus.report.formats.xlsx.sheets.per_test import statements
from dbversus.report.model import (
    Assessment,
    Course,
    RolePart,
    Second,
    ServerEvent,
    StatementPart,
    Step,
    StepCell,
    StepsPart,
)
from dbversus.report.pairs import of_experiment
from dbversus.report.sections import events as server_events
from dbversus.report.sections import objects
from dbversus.report.sections import roles as of_roles
from dbversus.report.sections.summary import of_steps
from dbversus.report.table import MEAN, Table
from dbversus.report.words import SIGNS
from dbversus.results.read import open_results
from dbversus.stats.metrics import CPU, IO_BYTES, THROUGHPUT
from dbversus.stats.model import SPOILT, Verdict

from ...pairs import write_pairs
from ...parts.each_test.test_roles import CLOSED, failing
from ...synthetic import FAILED_TEST, HOSTILE, LABELS, SERVER_WORDS, WRONG_TEST
from .conftest import Written, content_of
from .reading import Lines, header_of, lines_of, open_book, texts_of, titles_of

SHORT = {CPU: "CPU/op", THROUGHPUT: "throughput", IO_BYTES: "IO/op"}


def means_in(book: Any, name: str) -> Lines:
    """The lines of geometric means under a table, with what their formulas came to; each with how many tests it is over."""
    sheet = book[name]
    titles, found = titles_of(sheet), []
    for row in range(header_of(sheet) + 1, sheet.max_row):
        if sheet.cell(row, 1).value == MEAN:
            assert sheet.cell(row + 1, 1).value == MEAN_OVER
            own, over = ([cell.value for cell in sheet[place]] for place in (row, row + 1))
            counts = {f"{title} over": count for title, count in zip(titles, over, strict=False)}
            found.append(dict(zip(titles, own, strict=False)) | counts)
    return found


def same(*values: float | None) -> tuple[Any, ...]:
    """As the file has them: with 16 digits."""
    return tuple(None if value is None else pytest.approx(value, rel=1e-14) for value in values)


def geometric(values: list[float]) -> Any:
    return pytest.approx(math.exp(math.fsum(map(math.log, values)) / len(values)))


def test_the_overview_comes_first_and_names_all_sheets(assessment: Assessment, book: Any) -> None:
    first, *others = book.sheetnames
    assert first == "Overview"
    texts = texts_of(book[first])
    assert texts[0] == assessment.title
    assert {*assessment.sentences, assessment.calibration, assessment.command, *assessment.not_measured} <= set(texts)
    assert {*LABELS, *others} <= set(texts)
    assert any(text.startswith("The host was disturbed in") for text in texts)
    assert "Synthetic CPU @ 3.0 GHz" in texts


def test_the_overview_counts_verdicts(assessment: Assessment, book: Any) -> None:
    rows = {row[0]: row[1:3] for row in book["Overview"].iter_rows(values_only=True) if row[0]}
    for verdict in {item.verdict for item in assessment.comparisons}:
        counts = tuple(facts.verdict_counts.get(verdict, 0) for facts in assessment.candidates)
        assert rows[f"{SIGNS[verdict]} {verdict}"] == counts


def test_every_comparison_has_a_line_with_its_ratios(assessment: Assessment, book: Any) -> None:
    lines = {(line["test"], line["target"]): line for line in lines_of(book["Verdicts"])}
    assert len(lines) == len(assessment.comparisons)
    for item in assessment.comparisons:
        line = lines[item.test, item.target]
        assert line["verdict"] == f"{SIGNS[item.verdict]} {item.verdict}"
        for metric, short in SHORT.items():
            found = item.findings.get(metric)
            expected = (found.ratio, found.low, found.high) if found else (None, None, None)
            assert tuple(line[f"{short} {end}"] for end in ("ratio", "ratio low", "ratio high")) == same(*expected)
            shown = found if item.verdict not in SPOILT else None
            assert line[f"{short} is"] == (f"{SIGNS[shown.verdict]} {shown.verdict}" if shown else None)


def test_a_colour_has_its_word_in_the_same_line(book: Any) -> None:
    sheet = book["Verdicts"]
    places = {cell.value: cell.column for cell in sheet[header_of(sheet)]}
    found = 0
    for row in range(header_of(sheet) + 1, header_of(sheet) + 25):
        for short in SHORT.values():
            ratio, word = (sheet.cell(row, places[f"{short} {end}"]) for end in ("ratio", "is"))
            if ratio.fill.fgColor.rgb not in ("00000000", None):
                found += 1
                assert word.fill.fgColor.rgb == ratio.fill.fgColor.rgb and word.value
    assert found


def test_verdicts_have_geometric_means_of_what_counts(assessment: Assessment, content: bytes) -> None:
    lines = means_in(open_book(content, values=True), "Verdicts")
    kinds = {test.name: test.group for test in assessment.tests}
    assert len(lines) == len(assessment.candidates) * (1 + len(set(kinds.values())))
    for line in lines:
        counted = [
            item.findings[CPU].ratio or 0.0
            for item in assessment.comparisons
            if item.target == line["target"] and line["kind"] in (None, kinds[item.test])
            if item.verdict not in (Verdict.WRONG_RESULT, Verdict.FAILED)
        ]
        assert line["CPU/op ratio"] == geometric(counted)
        assert line["CPU/op ratio over"] == len(counted)
    out = {
        line["test"]: line["in means"]
        for line in lines_of(open_book(content)["Verdicts"])
        if line["target"] == LABELS[1]
    }
    assert out[WRONG_TEST] == "no" and out["update-index"] == "yes"


def test_targets_stand_side_by_side_with_a_mean_of_each(assessment: Assessment, content: bytes) -> None:
    book = open_book(content)
    assert book.sheetnames[2:5] == ["Ratios of CPU per op", "Ratios of throughput", "Ratios of IO per op"]
    lines = {line["test"]: line for line in lines_of(book["Ratios of CPU per op"])}
    for item in assessment.comparisons:
        line, found = lines[item.test], item.findings.get(CPU)
        own = line[f"{item.target} ratio"], line[f"{item.target} ratio low"]
        if item.verdict in (Verdict.WRONG_RESULT, Verdict.FAILED):
            assert own == (None, None) and line[f"{item.target} is"] == f"{SIGNS[item.verdict]} {item.verdict}"
        else:
            assert found and own == same(found.ratio, found.low)
    first, *of_kinds = means_in(open_book(content, values=True), "Ratios of CPU per op")
    ratios = [line[f"{LABELS[1]} ratio"] for line in lines.values() if line[f"{LABELS[1]} ratio"]]
    assert first[f"{LABELS[1]} ratio"] == geometric(ratios) and first[f"{LABELS[1]} ratio over"] == len(ratios)
    assert [mean["kind"] for mean in of_kinds] == list(dict.fromkeys(test.group for test in assessment.tests))


def test_failures_are_in_the_servers_words(book: Any) -> None:
    (line,) = lines_of(book["What went wrong"])
    assert (line["target"], line["from here on"], line["in its own words"]) == (LABELS[2], "out", SERVER_WORDS)
    assert FAILED_TEST in line["where"]


def test_every_figure_has_a_line_per_target(assessment: Assessment, book: Any) -> None:
    lines = {(line["test"], line["figure"], line["target"]): line for line in lines_of(book["Figures"])}
    for test in assessment.tests:
        for figure in test.figures:
            for label, known in figure.estimates.items():
                line = lines[test.name, figure.title, label]
                assert (line["n"], line["unit"]) == (known.n, figure.unit)
                assert (line["value"], line["value low"], line["value high"]) == same(
                    known.value, known.low, known.high
                )
                found = figure.findings.get(label)
                assert (line["ratio"],) == same(found.ratio if found else None)


def test_efficiency_has_the_references_names_and_our_intervals(assessment: Assessment, content: bytes) -> None:
    lines = {(line["test"], line["target"]): line for line in lines_of(open_book(content)["Efficiency"])}
    test = next(test for test in assessment.tests if test.name == "update-index")
    figures = {figure.metric: figure for figure in test.figures}
    line, base = (lines["update-index", LABELS[place]] for place in (1, 0))
    cpu = figures[CPU].estimates[LABELS[1]]
    assert (line["cpu/o, µs"], line["cpu/o low, µs"], line["cpu/o high, µs"]) == same(cpu.value, cpu.low, cpu.high)
    user, of_base = figures["server_user_us_per_op"].estimates[LABELS[1]], figures[CPU].estimates[LABELS[0]]
    assert (line["user, µs"], base["cpu/o, µs"]) == same(user.value, of_base.value)
    assert (line["cpu/o ratio low"], base["cpu/o ratio"]) == same(figures[CPU].findings[LABELS[1]].low, None)
    assert not any("disk" in title or "machine" in title for title in line)
    means = means_in(open_book(content, values=True), "Efficiency")
    assert [mean["target"] for mean in means] == list(LABELS[1:])
    assert means[0]["o/s ratio over"] == sum(item.target == LABELS[1] for item in assessment.comparisons) - 1


def test_response_times_have_percentiles_and_buckets(assessment: Assessment, book: Any) -> None:
    lines = {(line["test"], line["target"]): line for line in lines_of(book["Response times"])}
    for test in assessment.tests:
        for label, latency in test.latency.items():
            line = lines[test.name, label]
            known = latency.percentiles_us[99.0]
            assert (line["p99, µs"], line["p99 low, µs"]) == same(known.value, known.low)
            assert line["operations"] == latency.count
            assert sum(line[title] or 0 for title in line if title.endswith(", %")) == pytest.approx(100)


def test_settings_and_plans_stand_side_by_side(book: Any) -> None:
    settings = {line["setting"]: line for line in lines_of(book["Settings"])}
    assert [settings["jit"][label] for label in LABELS] == ["off", "on", "on"]
    assert [settings["wal_compression"][label] for label in LABELS] == ["not known here", "not known here", HOSTILE]
    assert (settings["jit"]["known to"], settings["wal_compression"]["known to"]) == ("all", "some")
    first, second = lines_of(book["Plans"])
    assert first[LABELS[0]].startswith("Index Scan") and first[LABELS[1]].startswith("Bitmap Heap Scan")
    assert second[LABELS[0]].strip() == "Index Cond: (k = ?)"


def test_loads_servers_host_and_disturbance(assessment: Assessment, book: Any) -> None:
    load = lines_of(book["Load"])[1]
    assert (load["target"], load["rows"]) == (LABELS[1], 100_000)
    assert (load["rows/s ratio"],) == same(assessment.loads[1].rate_ratio)
    servers = lines_of(book["Servers"])
    assert {"target": LABELS[0], "what": "size, bytes", "name": "log", "value": 16_777_216} in servers
    assert any(HOSTILE in str(line["value"]) for line in servers if line["what"] == "end of the log")
    assert {"fact": "cpu.cores", "value": "2"} in lines_of(book["Host"])
    rows = {line["test"]: line for line in lines_of(book["Disturbance"])}
    for test in assessment.tests:
        assert (rows[test.name]["disturbed"],) == same(test.disturbance.disturbed_share)


def test_notes_are_told_of_their_tests_and_targets(assessment: Assessment, book: Any) -> None:
    lines = [tuple(line.values()) for line in lines_of(book["Notes"])]
    for item in assessment.comparisons:
        assert {(item.test, item.target, note) for note in item.notes} <= set(lines)


def test_a_single_target_has_figures_and_no_verdicts(of_kind: Written) -> None:
    _, content = of_kind("alone")
    book = open_book(content)
    assert not any(name.startswith(("Verdicts", "Ratios")) for name in book.sheetnames) and "Figures" in book.sheetnames
    assert "One target was measured, so there is nothing to compare." in texts_of(book["Overview"])
    assert not means_in(book, "Efficiency")


def test_generations_have_gold_and_silver_and_means_by_formula(of_kind: Written, tmp_path: Path) -> None:
    _, content = of_kind("pairs")
    found = of_experiment(open_results(write_pairs(tmp_path / "results")))
    assert found
    book = open_book(content)
    *tests, load = lines_of(book["Generations"])
    for line, item in zip(tests, found.shifts.judged, strict=True):
        for metric, short in ((THROUGHPUT, "qps"), (CPU, "cpu/o")):
            for side in ("old", "new", "shift"):
                ratio = getattr(item.changes[metric], side)
                ends = [line[f"{short} {side} {end}"] for end in ("ratio", "ratio low", "ratio high")]
                assert tuple(ends) == same(ratio.value, ratio.low, ratio.high)
        assert (line["gold"], line["silver"], line["in qps mean"]) == ("gold ▼", "silver ▼", "yes")
    assert (load["test"], load["in qps mean"], load["qps old ratio low"]) == ("load", "no", None)
    (mean,) = means_in(open_book(content, values=True), "Generations")
    for metric, short in ((THROUGHPUT, "qps"), (CPU, "cpu/o")):
        for side in ("old", "new", "shift"):
            ours = getattr(found.shifts.means[metric], side)
            assert mean[f"{short} {side} ratio"] == pytest.approx(ours.value, rel=1e-12)
            assert (mean[f"{short} {side} ratio low"], mean[f"{short} {side} ratio high"]) == same(ours.low, ours.high)
            assert mean[f"{short} {side} ratio over"] == 2


def test_gold_and_silver_are_colours_with_a_word(of_kind: Written) -> None:
    sheet = open_book(of_kind("pairs")[1])["Generations"]
    places = {cell.value: cell.column for cell in sheet[2]}
    for metal, shift in (("gold", "qps shift ratio"), ("silver", "cpu/o shift ratio")):
        word, ratio = sheet.cell(3, places[metal]), sheet.cell(3, places[shift])
        assert word.fill.fgColor.rgb == ratio.fill.fgColor.rgb != "00000000"
        assert word.value.startswith(metal)


def test_a_matrix_has_tests_as_lines_and_every_figure(of_kind: Written) -> None:
    assessment, content = of_kind("pairs")
    (matrix,) = (one.content for one in assessment.sections if one.name == "matrix")
    book = open_book(content)
    line = lines_of(book["Matrix"])[0]
    cells = matrix["rows"][3]["cells"]
    ratio = cells["point-query"]["ratio"]
    assert line["test"] == "point-query"
    assert (line["mysql:8.0 ratio"], line["mysql:8.0 ratio low"]) == same(ratio["value"], ratio["low"])
    assert len(lines_of(book["Matrix figures"])) == len(matrix["rows"]) * len(matrix["tests"])
    (mean,) = means_in(open_book(content, values=True), "Matrix")
    ratios = [cells[test]["ratio"]["value"] for test in matrix["tests"]]
    assert mean["mysql:8.0 ratio"] == geometric(ratios)


def test_more_clients(of_kind: Written) -> None:
    assessment, content = of_kind("scaleup")
    content_of_section = next(one.content for one in assessment.sections if one.name == "scaleup")
    book = open_book(content)
    lines = {(line["test"], line["target"], line["clients"]): line for line in lines_of(book["Scale-up"])}
    for one in content_of_section["tests"]:
        for clients, ratio in one["throughput"].items():
            line = lines[one["test"], one["target"], int(clients)]
            assert (line["throughput ratio"], line["throughput ratio high"]) == same(ratio["ratio"], ratio["high"])
    assert {line["test"] for line in lines_of(book["Scale-up verdicts"])} == {
        item.test for item in assessment.over_clients
    }
    mean = means_in(open_book(content, values=True), "Scale-up")[0]
    alike = [line for line in lines.values() if all(line[name] == mean[name] for name in ("target", "clients"))]
    assert mean["throughput ratio"] == geometric([line["throughput ratio"] for line in alike])
    assert mean["throughput ratio over"] == len(alike) == 2


def test_several_sizes(of_kind: Written) -> None:
    assessment, content = of_kind("sizes")
    found = next(one.content for one in assessment.sections if one.name == "sizes")
    lines = lines_of(open_book(content)["Sizes"])
    join = next(line for line in lines if (line["test"], line["metric"]) == ("join", CPU) and line["interaction"])
    larger = next(one for one in found["tests"] if one["test"] == "join")["interactions"]["10000000"][CPU]
    assert (join["table size, rows"], join["over"]) == (10_000_000, 1000)
    assert (join["interaction ratio"], join["interaction ratio low"]) == same(larger["ratio"], larger["low"])
    assert (join["verdict"], join["interaction"]) == ("regression", "regression")


def test_steps_have_rates_ratios_and_columns(of_kind: Written) -> None:
    assessment, content = of_kind("steps")
    part = assessment.steps
    assert part
    book = open_book(content)
    (step, _), label = part.steps, LABELS[1]
    line = next(line for line in lines_of(book["Steps"]) if line["step"] == "point-query")
    rate = step.cells[label].rate
    ends = same(rate.value, rate.low, rate.high, rate.least, rate.most)
    shown = [line.get(f"{label}{end}") for end in ("", " low", " high", " least", " most")]
    assert tuple(shown) == ends and line["unit"] == "queries/s"
    assert "Rate of each step" in texts_of(book["Steps"])
    assert len(lines_of(book["Step columns"])) == len(part.lines)
    assert any(text.startswith("cpupq: CPU of the server, µs") for text in texts_of(book["Step columns"]))


def test_marks_of_steps_are_words_beside_their_colours(assessment: Assessment, tmp_path: Path) -> None:
    found = next(one for one in assessment.findings if one.target == LABELS[1])
    worse = replace(found, verdict=Verdict.REGRESSION, low=0.09, high=0.11)
    cells = {
        LABELS[0]: StepCell(estimate([100.0, 101.0]), estimate([99.0])),
        LABELS[1]: StepCell(estimate([10.0]), estimate([50.0]), worse),
    }
    step = Step("qr100", "queries/s", cells, target_per_s=100.0, sla=0.95)
    failed = replace(step, name="qp100", cells={**cells, LABELS[1]: replace(cells[LABELS[1]], sla_failed=True)})
    section = of_steps(StepsPart((step, failed), (), {}), assessment.base.label)
    shown = replace(assessment, sections=(section,))
    sheet = open_book(content_of(shown, tmp_path))["Steps"]
    queries, spoiled, *_ = lines_of(sheet)
    ratio = f"÷ {LABELS[0]} is"
    assert (queries[ratio], spoiled[ratio]) == ("▼ regression", "⚑ SLA failed")
    assert not queries[f"{LABELS[1]} is"] and spoiled[f"{LABELS[1]} is"] == "⚑ SLA failed"
    texts = texts_of(sheet)
    assert "⚑ below the SLA" in texts and "asked for" in texts


def test_imports_are_not_replicated_and_all_there(of_kind: Written) -> None:
    assessment, content = of_kind("imported")
    book = open_book(content)
    lines = lines_of(book["Verdicts"])
    assert len(lines) == len(assessment.comparisons) > 0
    assert "◇ not replicated" in {line["verdict"] for line in lines}
    assert "throughput ratio low" not in lines[0]
    assert any("cpu/o of the machine, % × s" in line for line in lines_of(book["Efficiency"]))


@pytest.fixture(scope="module")
def rare(assessment: Assessment, tmp_path_factory: pytest.TempPathFactory) -> tuple[Assessment, Any]:
    """What only some tests have: roles, objects, events, seconds."""
    label = assessment.base.label
    roles = (RolePart("readers", {label: CLOSED}), RolePart("orders", {label: failing(100.0)}))
    line = objects.ObjectLine("index", "t.k", "read_pages", "pages", {label: estimate([1.0, 2.0])})
    events = (ServerEvent(label, "checkpoint", 1.5, 0.25, None, "driven", "checkpoint complete"),)
    courses = (Course("orders", "operations/s", {label: (Second(0.0, 90.0, 2.5), Second(1.0, 0.0, None))}),)
    first, *rest = assessment.tests
    first = replace(first, roles=roles, events=events, courses=courses)
    held = objects.Objects((line,), 3, (line,), 0, ("x: y",))
    made = objects.of_tests({first.name: held}, [label]), server_events.of_tests([first]), of_roles.of_tests([first])
    sections = tuple(one for one in made if one)
    shown = replace(assessment, tests=(first, *rest), sections=sections)
    return shown, open_book(content_of(shown, tmp_path_factory.mktemp("rare")))


def test_roles_say_whether_they_reached_their_rate(rare: tuple[Assessment, Any]) -> None:
    lines = {line["role"]: line for line in lines_of(rare[1]["Roles"])}
    assert (lines["orders"]["SLA"], lines["readers"]["SLA"]) == ("⚑ failed", "does not count")
    assert (lines["orders"]["asked for, 1/s"], lines["orders"]["done of what was asked for"]) == (500.0, 0.2)
    assert lines["readers"]["p50, µs"] == 20.0 and lines["readers"]["errors"] == 3


def test_objects_events_and_seconds(rare: tuple[Assessment, Any]) -> None:
    _, book = rare
    per_op, at_end = lines_of(book["Objects"])
    assert (per_op["object"], per_op["figure"]) == ("index t.k", "read_pages")
    assert (per_op["when"], at_end["when"], per_op["value"]) == ("per operation", "at the end", 1.5)
    assert any(text.startswith("Left out: 3 figures") for text in texts_of(book["Objects"]))
    (event,) = lines_of(book["Server events"])
    assert (event["what"], event["at, s"], event["as told"]) == ("checkpoint", 1.5, "checkpoint complete")
    assert [line["slowest response, ms"] for line in lines_of(book["Seconds"])] == [2.5, None]


def test_nothing_judged_is_still_a_book(assessment: Assessment, tmp_path: Path) -> None:
    nothing = replace(assessment, tests=(), findings=(), loads=(), settings=(), plans=(), host={}, failures=())
    book = open_book(content_of(nothing, tmp_path))
    assert book.sheetnames[0] == "Overview" and "Verdicts" not in book.sheetnames


def test_sql_and_plans_of_each_test(assessment: Assessment) -> None:
    asked = StatementPart("get", {"": "SELECT 1"}, ((LABELS[:2], "Index Scan"),))
    tests = (replace(assessment.tests[0], statements=(asked,)),)
    found = statements.sheet(replace(assessment, tests=tests))
    assert found is not None and isinstance(found.parts[0], Table)
    name = assessment.tests[0].name
    assert list(found.parts[0].rows) == [
        (name, "get", "SQL", "all", "SELECT 1"),
        (name, "get", "plan", ", ".join(LABELS[:2]), "Index Scan"),
    ]
    assert statements.sheet(replace(assessment, tests=())) is None
