"""Experiments side by side in every format, and the verb."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from dbversus.cli.main import app
from dbversus.report.formats import html, markdown
from dbversus.report.sections import contrast
from dbversus.report.side_by_side.gather import side_by_side
from dbversus.report.side_by_side.model import SideBySide
from dbversus.report.side_by_side.shown import notes, section_of
from dbversus.report.texts import print_section, texts
from dbversus.results.read import open_results
from dbversus.stats.metrics import CPU
from dbversus.stats.model import Verdict

from ..formats.test_html import Outline
from ..pairs import wrong_answer
from ..synthetic import HOSTILE
from .experiments import ALIKE, BASE, two_hosts, write_experiment

ONLY = "the regression is there only on Large CPU, 64 cores"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("hosts")
    two_hosts(made)
    return made


@pytest.fixture(scope="module")
def found(folder: Path) -> SideBySide:
    return side_by_side([open_results(folder / name) for name in "ab"])


def printed(found: SideBySide, **options: object) -> str:
    out = io.StringIO()
    section = section_of(found)
    print_section(Console(file=out, **options), section, section)  # type: ignore[arg-type]
    return out.getvalue()


def test_terminal_text(found: SideBySide) -> None:
    said = printed(found)
    assert said.startswith("2 experiments side by side: Small CPU, 2 cores, Large CPU, 64 cores\n")
    assert f"point-query on postgres:17: CPU/op and throughput: {ONLY}." in said
    (line,) = [
        line for line in said.splitlines() if line.startswith("point-query ") and "CPU/op " in line and "[" in line
    ]
    assert line.count("[") == 3 and line.rstrip().endswith("▼ worse")
    assert "Signs are verdicts: ▼ regression: " in said and "Margins: 3 % server CPU per op" in said


@pytest.mark.parametrize(("ratio", "words"), [(1.02, "◐ a little worse"), (0.98, "◐ a little better")])
def test_a_small_interaction_is_one_of_its_direction_and_within_the_margin(
    found: SideBySide, ratio: float, words: str
) -> None:
    small = tuple(
        replace(
            line,
            interactions={
                name: {CPU: replace(of_one[CPU], verdict=Verdict.SMALL_CHANGE, ratio=ratio)}
                for name, of_one in line.interactions.items()
            },
        )
        for line in found.lines
    )
    said = printed(replace(found, lines=small))
    assert any(line.rstrip().endswith(words) for line in said.splitlines())
    count = len(found.lines)
    assert f"{count} interactions: 0 shown, {count} the same within the margin, 0 undecided." in said


@pytest.mark.parametrize("width", [80, 120, 200])
def test_terminal_lines_fit(found: SideBySide, width: int) -> None:
    said = printed(found, force_terminal=True, width=width, no_color=True, color_system=None)
    assert max(map(len, said.splitlines())) <= width and "…" not in said


def test_a_page_of_its_own_is_well_formed_and_escapes(found: SideBySide) -> None:
    hostile = replace(
        found, base=HOSTILE, experiments=(replace(found.experiments[0], kernel=HOSTILE), found.experiments[1])
    )
    page = html.render_section(section_of(hostile))
    assert HOSTILE not in page and "&lt;script&gt;" in page and ONLY in page
    outline = Outline()
    outline.feed(page)
    assert outline.open == []
    assert len([tag for tag, _ in outline.tags if tag == "tr"]) == 1 + 2 + 1 + 6


def test_markdown_escapes(found: SideBySide) -> None:
    said = "\n".join(markdown.page_parts(section_of(replace(found, base=HOSTILE))))
    assert HOSTILE not in said and ONLY in said
    assert (
        "| point-query | postgres:17 | CPU/op | " in said
        and "| Large CPU, 64 cores over Small CPU, 2 cores | which is |" in said
    )


def test_flat_has_a_line_per_test_metric_and_experiment(found: SideBySide) -> None:
    columns, rows = section_of(found).lines[0].plain()
    assert len(rows) == 2 * 3 * 2 and all(len(row) == len(columns) for row in rows)
    first, second = (dict(zip(columns, row, strict=True)) for row in rows[:2])
    assert (first["experiment"], first["verdict"], first["blocks"]) == ("Small CPU, 2 cores", "equivalent", 4)
    assert (first["over"], first["interaction"], first["interaction_low"]) == (None, None, None)
    assert (second["over"], second["interaction"], second["margin"]) == ("Small CPU, 2 cores", "regression", 0.03)
    assert second["interaction_ratio"] == pytest.approx(1.25, rel=0.02)


def test_json(found: SideBySide) -> None:
    content = json.loads(json.dumps(section_of(found).content, allow_nan=False))
    assert [one["name"] for one in content["experiments"]] == ["Small CPU, 2 cores", "Large CPU, 64 cores"]
    test = content["tests"][0]
    assert test["words"].endswith(ONLY)
    assert test["experiments"]["Large CPU, 64 cores"]["metrics"][CPU]["verdict"] == "regression"
    assert test["interactions"]["Large CPU, 64 cores"][CPU]["blocks"] == 4


def test_a_test_whose_figures_do_not_count_has_its_sign_alone(tmp_path: Path) -> None:
    pair = [write_experiment(tmp_path / name, (BASE, ALIKE)) for name in "ab"]
    wrong_answer(pair[1].directory, "update-index", "t1", ["t0", "t1"])
    found = side_by_side([pair[0], open_results(pair[1].directory)])
    rows = texts(section_of(found).tables[1])
    (update,) = [row for row in rows if row[0] == "update-index" and row[2] == "CPU/op"]
    assert update[3].startswith("○ ") and update[4:] == ["✗", "–", "–"]
    assert any("✗ wrong result: " in note for note in notes(found))
    _, flat = section_of(found).lines[0].plain()
    assert [row[4] for row in flat if row[0] == "update-index" and row[3] == "b"] == ["wrong result"] * 3


def test_what_is_undecided_says_what_could_be_missed(found: SideBySide) -> None:
    first = found.lines[0]
    ((name, of_one),) = first.interactions.items()
    vague = replace(of_one[CPU], verdict=Verdict.UNDECIDED, smallest_visible_change=0.0812)
    said = contrast.sentences(replace(found, lines=(replace(first, interactions={name: {CPU: vague}}),)))
    assert said == [
        "Nothing is shown to depend on the experiment (1 comparison).",
        "1 interaction: 0 shown, 0 the same within the margin, 1 undecided.",
        "A difference of 8.1\N{NO-BREAK SPACE}% or more (the median of the undecided ones) is found with a chance of 90 %; "
        "smaller ones take more blocks.",
    ]


def run(*words: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["side-by-side", *map(str, words)], catch_exceptions=False)
    return done.exit_code, done.output


@pytest.mark.parametrize(
    ("format", "start"),
    [
        ("table", "2 experiments side by side: one, two\n"),
        ("md", "# 2 experiments side by side: one, two\n"),
        ("csv", "test,target,metric,experiment,"),
        ("html", "<!doctype html>"),
        ("json", "{"),
    ],
)
def test_the_verb(folder: Path, format: str, start: str) -> None:
    named = ("--as", "one", "--as", "two", "--metric", "cpu")
    status, out = run(folder / "a", folder / "b", *named, "--format", format)
    assert status == 0 and out.startswith(start)
    if format == "csv":
        assert [line["experiment"] for line in csv.DictReader(io.StringIO(out))] == ["one", "two"] * 2
    if format == "json":
        assert json.loads(out)["tests"][0]["words"].endswith("the regression is there only on two")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "Name two results directories or more: "),
        (["--format", "xml"], "--format xml is unknown; accepted: table, json, csv, md, html."),
        (["--metric", "speed"], "--metric: unknown metric 'speed'; accepted: cpu, throughput"),
    ],
)
def test_the_verb_refuses(folder: Path, words: list[str], message: str) -> None:
    status, out = run(folder / "a", *words)
    assert status == 2 and message in out
