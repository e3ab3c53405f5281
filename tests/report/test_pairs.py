"""Old pair against new pair, from stored results to every report."""

import csv
import io
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs
from rich.console import Console
from typer.testing import CliRunner

from dbversus.cli.main import app
from dbversus.errors import UsageError
from dbversus.report.assessment import build_assessment
from dbversus.report.formats import html, markdown, text
from dbversus.report.formats import json as json_report
from dbversus.report.pairs import Generations, between, default_pairs, of_experiment, only_pair, parse_pair
from dbversus.report.sections import generations as generations_words
from dbversus.report.texts import print_section
from dbversus.results.read import open_results
from dbversus.results.stored import Results
from dbversus.stats.across.generations import Mark, Pair
from dbversus.stats.metrics import CPU, DISK_READ_BYTES, THROUGHPUT

from .formats.test_html import Outline
from .pairs import FOUR, Contender, write_pairs, wrong_answer

OLD, NEW = Pair("postgres:11", "mysql:5.6"), Pair("postgres:17", "mysql:8.0")
HOSTILE = "mysql:8.0@<script>alert('x')</script>"


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return open_results(write_pairs(tmp_path_factory.mktemp("four") / "results"))


@pytest.fixture(scope="module")
def found(four: Results) -> Generations:
    made = of_experiment(four)
    assert made
    return made


def two_experiments(folder: Path, **header: object) -> tuple[Results, Results]:
    old = write_pairs(folder / "old", FOUR[:2])
    new = write_pairs(folder / "new", FOUR[2:], blocks=6, seed=2, **header)
    return open_results(old), open_results(new)


def test_pairs_are_found_by_dbms_and_version(four: Results) -> None:
    assert default_pairs(four) == (OLD, NEW)
    mixed = replace(four, targets=tuple(four.targets[place] for place in (2, 0, 3, 1)))
    assert default_pairs(mixed) == (OLD, NEW)


@pytest.mark.parametrize(
    "contenders",
    [
        FOUR[:3],
        FOUR[:2],
        (*FOUR[:3], replace(FOUR[3], version="5.6.51")),  # two configs are no two generations
        (*FOUR[:3], replace(FOUR[3], dbms="mariadb")),
        (*FOUR, Contender("sqlite", "sqlite", "3.46")),
    ],
)
def test_other_experiments_have_no_generations(tmp_path: Path, contenders: tuple[Contender, ...]) -> None:
    results = open_results(write_pairs(tmp_path / "r", contenders, blocks=2))
    assert of_experiment(results) is None
    assert json_report.as_json(build_assessment(results))["generations"] is None


def test_ratios_are_those_of_the_pairs(found: Generations) -> None:
    assert [item.test for item in found.shifts.tests] == ["load", "point-query", "update-index"]
    throughput, cpu = (found.shifts.tests[1].changes[name] for name in (THROUGHPUT, CPU))
    for change, truth in ((throughput, (1 / 1.25, 0.8 / 2.0, 0.5)), (cpu, (0.9, 1.8, 2.0))):
        assert change.old
        assert change.new
        assert change.shift
        assert (change.old.value, change.new.value, change.shift.value) == pytest.approx(truth, rel=0.02)
        assert change.shift.low
        assert change.shift.high
        assert change.shift.low < truth[2] < change.shift.high
        assert change.mark is Mark.LOSS
    assert found.shifts.tests_in_mean == {THROUGHPUT: 2, CPU: 2}


def test_nothing_read_is_one_and_nothing_against_something_zero(found: Generations) -> None:
    reads = found.shifts.tests[1].changes[DISK_READ_BYTES]
    assert reads.old
    assert reads.new
    assert (reads.old.value, reads.new.value) == (1.0, 0.0)


def test_two_experiments_give_the_same_ratios(tmp_path: Path, found: Generations) -> None:
    old, new = two_experiments(tmp_path)
    apart = between(old, only_pair(old, "--old"), new, only_pair(new, "--new"))
    assert (apart.old, apart.new, apart.notes) == (OLD, NEW, ())
    for one, other in zip(apart.shifts.tests, found.shifts.tests, strict=True):
        mine, theirs = one.changes[THROUGHPUT].shift, other.changes[THROUGHPUT].shift
        assert mine
        assert theirs
        assert mine.value == pytest.approx(theirs.value, rel=0.02)
    assert generations_words.blocks_of(apart.shifts.tests[1]) == "4 / 6"


def test_what_differs_between_experiments_is_said(tmp_path: Path) -> None:
    old, new = two_experiments(tmp_path, table_size=5000)
    [note] = between(old, only_pair(old, "--old"), new, only_pair(new, "--new")).notes
    assert note == "The experiments differ in table size (1000 and 5000): shifts hold that difference too."


def test_no_test_in_common_is_an_error(tmp_path: Path) -> None:
    old, new = two_experiments(tmp_path)
    with pytest.raises(UsageError, match="have no test in common that was measured"):
        between(replace(old, tests=()), only_pair(old, "--old"), new, only_pair(new, "--new"))


def test_wrong_answers_are_left_out(tmp_path: Path) -> None:
    directory = write_pairs(tmp_path / "r")
    wrong_answer(directory, "update-index", "t3", ["t0", "t1", "t2", "t3"])
    made = of_experiment(open_results(directory))
    assert made
    item = made.shifts.tests[2]
    assert item.left_out == "wrong result: mysql:8.0 gives other answers than postgres:17"
    assert item.changes[THROUGHPUT].mark is Mark.NONE
    assert made.shifts.tests_in_mean[THROUGHPUT] == 1
    assert any(sentence.startswith("update-index: wrong result") for sentence in generations_words.sentences(made))


@pytest.mark.parametrize("text", ["postgres:11,mysql:5.6", "t0,t1", " t0 , mysql:5.6"])
def test_pairs_can_be_named(four: Results, text: str) -> None:
    assert parse_pair(text, four, "--old") == OLD


def test_labels_with_commas_can_be_named(four: Results) -> None:
    labelled = replace(four, targets=(replace(four.targets[0], label="pg@a,b=1"), *four.targets[1:]))
    assert parse_pair("pg@a,b=1,mysql:5.6", labelled, "--old") == Pair("pg@a,b=1", "mysql:5.6")


@pytest.mark.parametrize("text", ["", "t0", "t0,t0", "t0,nobody", "t0,postgres:11", "t0,t1,t2"])
def test_bad_pairs_are_refused_with_what_there_is(four: Results, text: str) -> None:
    with pytest.raises(UsageError, match=r"--new .*: name two different targets of .*postgres:11 \(t0\)"):
        parse_pair(text, four, "--new")
    with pytest.raises(UsageError, match=r"has 4 targets .*; name two with --new"):
        only_pair(four, "--new")


def printed(found: Generations, **options: object) -> str:
    out = io.StringIO()
    section = generations_words.section_of(found)
    assert section.on_terminal
    print_section(Console(file=out, **options), section, section.on_terminal)  # type: ignore[arg-type]
    return out.getvalue()


def test_terminal_text(found: Generations) -> None:
    said = printed(found)
    assert "\x1b" not in said
    assert said.startswith(
        "Two generations: mysql:5.6 against postgres:11 (old), mysql:8.0 against postgres:17 (new)\n"
    )
    assert "in favour of mysql:8.0 in 0 of 2 tests, of postgres:17 in 2." in said
    assert (
        "Load, one run of each target (n = 1, no verdict, in no mean): throughput 0.800 in the old generation" in said
    )
    line = next(line for line in said.splitlines() if line.startswith("point-query "))
    assert line.count("[") == 6
    assert line.count("▼") == 2
    assert next(line for line in said.splitlines() if line.startswith("geometric mean "))


@pytest.mark.parametrize("width", [60, 80, 100, 150, 280])
def test_terminal_lines_fit(found: Generations, width: int) -> None:
    said = printed(found, force_terminal=True, width=width, no_color=True, color_system=None)
    assert max(map(len, said.splitlines())) <= width
    if width >= 80:
        assert "…" not in said


def test_every_report_of_the_experiment_has_it(four: Results) -> None:
    assessment = build_assessment(four)
    out = io.StringIO()
    text.render(assessment, Console(file=out))
    assert "Two generations: mysql:5.6 against postgres:11 (old)" in out.getvalue()
    assert "## Two generations: mysql:5.6 against postgres:11" in markdown.render(assessment)
    assert '<h2 id="generations-title">' in html.render(assessment)
    content = json.loads(json.dumps(json_report.as_json(assessment), allow_nan=False, default=str))
    assert content["generations"]["new"] == {"first": "postgres:17", "second": "mysql:8.0"}
    assert content["generations"]["tests"][1]["metrics"][THROUGHPUT]["mark"] == "loss"


def test_page_is_well_formed_and_escapes(found: Generations) -> None:
    hostile = replace(found, new=Pair("postgres:17", HOSTILE))
    page = html.render_section(generations_words.section_of(hostile))
    assert HOSTILE not in page
    outline = Outline()
    outline.feed(page)
    assert outline.open == []
    assert "gold ▼" in page
    rows = [tag for tag, _ in outline.tags if tag == "tr"]
    assert len(rows) == 1 + len(found.shifts.judged) + 1


def test_an_infinite_ratio_is_a_word_in_json(tmp_path: Path) -> None:
    reading = (FOUR[0], replace(FOUR[1], read_bytes=8192), *FOUR[2:])
    made = of_experiment(open_results(write_pairs(tmp_path / "r", reading, blocks=2)))
    assert made
    content = json.loads(json.dumps(generations_words.section_of(made).content, allow_nan=False))
    assert content["tests"][0]["metrics"][DISK_READ_BYTES]["old"]["ratio"] == "inf"
    assert generations_words.cell(made.shifts.tests[1].changes[DISK_READ_BYTES].old) == "inf"


def test_flat_has_a_line_per_test_and_the_means(found: Generations) -> None:
    columns, rows = generations_words.section_of(found).lines[0].plain()
    assert [row[0] for row in rows] == ["point-query", "update-index", "geometric mean", "load"]
    assert all(len(row) == len(columns) for row in rows)
    line = dict(zip(columns, rows[0], strict=True))
    assert line["qps shift"] == pytest.approx(0.5, rel=0.02)
    assert (line["gold"], line["silver"], line["blocks old"], line["left out"]) == ("loss", "loss", 4, "")


def run(*words: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["generations", *map(str, words)], catch_exceptions=False)
    return done.exit_code, done.output


@pytest.mark.parametrize(
    ("format", "start"),
    [
        ("table", "Two generations: "),
        ("md", "## Two generations: "),
        ("csv", "test,qps old,"),
        ("html", "<!doctype html>"),
        ("json", "{"),
    ],
)
def test_the_verb(four: Results, format: str, start: str) -> None:
    status, out = run(four.directory, "--format", format)
    assert status == 0
    assert out.startswith(start)
    if format == "csv":
        assert len(list(csv.DictReader(io.StringIO(out)))) == 4
    if format == "json":
        assert len(json.loads(out)["tests"]) == 2 and json.loads(out)["load"]


def test_the_verb_with_two_experiments(tmp_path: Path) -> None:
    old, new = two_experiments(tmp_path)
    status, out = run(old.directory, new.directory, "--format", "csv")
    assert status == 0
    means, load = out.splitlines()[-2:]
    assert means.startswith("geometric mean,") and load.startswith("load,")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--old", "t0,t1"], "--old and --new belong together"),
        (["--old", "t0,t1", "--new", "t2,t9"], "two different targets of"),
        (["--format", "xml"], "--format xml is unknown; accepted: table, json, csv, md, html, xlsx."),
    ],
)
def test_the_verb_refuses(four: Results, words: list[str], message: str) -> None:
    status, out = run(four.directory, *words)
    assert status == 2
    assert message in out


@pytest.mark.slow
def test_a_spreadsheet_for_a_full_disk_is_told_in_a_sentence(four: Results) -> None:
    main = "from dbversus.cli.main import main; main()"
    command = [sys.executable, "-c", main, "generations", str(four.directory), "--format", "xlsx"]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, encoding="utf-8", check=False)
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_verb_asks_for_pairs(tmp_path: Path) -> None:
    status, out = run(write_pairs(tmp_path / "r", FOUR[:3], blocks=2))
    assert status == 2
    assert "name the pairs with --old FIRST,SECOND --new FIRST,SECOND" in out


def test_that_builds_differ_in_code_is_said_where_no_report_of_one_experiment_says_it(four: Results) -> None:
    facts = [structs.replace(one, checksum=f"{place}") for place, one in enumerate(four.header.targets)]
    known = replace(four, header=structs.replace(four.header, targets=facts))
    (note,) = between(known, OLD, known, NEW).notes
    assert "luck of layout" in note
    of_report = of_experiment(known)
    assert of_report and of_report.notes == ()
