"""What no format may show: an interval of too few blocks, a mark beside what is not shown to differ, an absurd end of a ratio."""

import json
import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from dbversus.report.assessment import build_assessment
from dbversus.report.formats import csv, html, markdown, text
from dbversus.report.formats import json as json_format
from dbversus.report.formats.xlsx.sheets.every import sheets_of
from dbversus.report.model import Assessment
from dbversus.report.show import show
from dbversus.report.table import Table, plain
from dbversus.results.read import open_results
from dbversus.results.schema import JOURNAL
from dbversus.results.stored import Results
from dbversus.stats.means import WIDEST
from dbversus.stats.metrics import CPU

from ...journals import DictJournal
from ..synthetic import Truth, write_results

WILD = (
    Truth("changed", 130, cpu=(1.4, 1.4), spread=0.001),
    Truth("fallen", 130, cpu=(1 / 700, 1 / 700), time=(1 / 700, 1 / 700)),
    Truth("lumpy", 130, io=(5000.0, 1.0), io_bytes=20.0, spread=4.0),
    Truth("idle", 130),
)
_INTERVAL = re.compile(r"\[[\d.,<>]+, [\d.,<>]+\]")
_LEGENDS = re.compile(
    r"<(style|script)\b.*?</\1>|<details class=\"key\">.*?</details>|<p class=\"lead\">.*?</p>", re.DOTALL
)


def forged(directory: Path, blocks: int) -> Results:
    """A run that was interrupted in the block after these; a thread of the target that the base does not have."""
    write_results(directory, targets=2, rows=8, blocks=blocks + 1, truths=WILD)
    (directory / "slots.parquet").unlink()
    journal = directory / JOURNAL
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    cut = {("block", "finished", blocks), ("look", None, None), ("finished", None, None)}
    lines = [
        line
        for line in lines
        if (line["type"], line.get("event"), line.get("block")) not in cut and line["type"] not in ("look", "finished")
    ]
    journal.unlink()
    with DictJournal(directory) as writer:
        for line in lines:
            writer.append(line)
        for block in range(blocks + 1):
            work = {name: {"ops": 100, "cpu_ns": {"checkpointer": 9**block * 10**6, **more}} for name, more in THREADS}
            writer.append({"type": "background", "block": block, "test": "lumpy", "targets": work})
    return open_results(directory)


THREADS: tuple[tuple[str, dict[str, int]], ...] = (("t0", {}), ("t1", {"io worker": 10**9}))


@pytest.fixture(scope="module", params=[0, 1, 2, 3])
def few(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Results]:
    """Finished blocks, one row of the next, and what was measured."""
    blocks: int = request.param
    return blocks, forged(tmp_path_factory.mktemp("forged") / "results", blocks)


def said(assessment: Assessment) -> dict[str, str]:
    """Format → all its text, without legends."""
    console = Console(file=StringIO(), width=400)
    text.render(assessment, console, verbose=True)
    assert isinstance(console.file, StringIO)
    tables = [part for sheet in sheets_of(assessment) for part in sheet.parts if isinstance(part, Table)]
    return {
        "text": console.file.getvalue(),
        "md": markdown.render(assessment).replace("\\", ""),
        "html": _LEGENDS.sub("", html.render(assessment)),
        "xlsx": "\n".join(" | ".join(str(plain(cell)) for cell in row) for table in tables for row in table.rows),
    }


def with_ends(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if "low" in value:
            yield value
        for item in value.values():
            yield from with_ends(item)
    elif isinstance(value, list):
        for item in value:
            yield from with_ends(item)


def test_fewer_than_three_blocks_have_neither_interval_nor_mark(few: tuple[int, Results]) -> None:
    blocks, results = few
    if blocks == 3:
        return
    for name, words in said(build_assessment(results)).items():
        assert not _INTERVAL.search(words), name
        assert not [line for line in words.splitlines() if "▲" in line or "▼" in line], name
        if blocks == 2 and name != "xlsx":
            assert "(range " in words, name


def test_no_interval_is_absurd(few: tuple[int, Results], tmp_path: Path) -> None:
    blocks, results = few
    assessment = build_assessment(results)
    found = list(with_ends(json.loads(json_format.render(assessment))))
    assert found
    for one in found:
        count = one.get("blocks", one.get("n", 0))
        if one["low"] is None:
            assert one["high"] is None
            assert count < 2 or (one["least"] is not None) == (one["most"] is not None)
            continue
        assert one["least"] is one["most"] is None
        assert count >= 3 and 0 < one["low"] <= one["high"] <= WIDEST * one["low"]
    for words in said(assessment).values():
        for interval in _INTERVAL.findall(words):
            assert all(len(re.sub(r"\D", "", end)) <= 7 for end in interval.split(", "))
    csv.write(assessment, tmp_path / "report.csv")
    assert max(blocks, 1) == assessment.blocks == max(finding.blocks for finding in assessment.findings)


def test_a_fall_is_told_as_that_and_undecided_says_how_far_it_is(few: tuple[int, Results]) -> None:
    blocks, results = few
    words = said(build_assessment(results))
    assert "to 1/7" in words["text"]
    for of_format in words.values():
        assert "100\u00a0%" not in of_format.replace("100.0\u00a0%", "") and "-100 %" not in of_format
    if blocks < 3:
        assert f"are undecided ({max(blocks, 1)} of 3 blocks)" in words["md"]


def test_views_have_no_intervals_of_few_blocks(few: tuple[int, Results]) -> None:
    blocks, results = few
    for name in ("findings", "throughput", "efficiency", "matrix"):
        shown = show(name, results)
        ends = [place for place, column in enumerate(shown.columns) if column.endswith(("low", "high"))]
        assert ends, name
        if blocks < 3:
            assert all(row[place] is None for row in shown.rows for place in ends), name


def test_marks_stand_beside_changes_alone(assessment: Assessment) -> None:
    """In tables of verdicts: each line with a mark is that of a test with a change in what is judged."""
    shown = {
        item.test
        for item in assessment.comparisons
        if any(finding.judged and finding.is_shown for finding in item.findings.values())
    }
    for name in ("text", "md"):
        marked = [
            line for line in said(assessment)[name].splitlines() if re.search(r"[▲▼] (regression|improvement)", line)
        ]
        assert marked
        for line in marked:
            assert line.lstrip("| ").split()[0] in shown or line.startswith("Signs are"), line


SLIGHT = (
    Truth("slight", 130, cpu=(1.02, 1.02), spread=0.0005),
    Truth("worse", 130, cpu=(1.2, 1.2), spread=0.0005),
    Truth("same", 130, spread=0.0005),
)


def test_every_format_tells_small_changes_and_by_how_much_at_least(tmp_path: Path) -> None:
    assessment = build_assessment(open_results(write_results(tmp_path / "results", targets=2, truths=SLIGHT)))
    (slight, worse, same) = assessment.comparisons
    assert [item.verdict for item in (slight, worse, same)] == ["small change", "regression", "equivalent"]
    found = slight.findings[CPU]
    assert found.low and found.high and 1 < found.low < found.high < 1 + found.margin
    texts = said(assessment)
    assert all("small change" in content for content in texts.values())
    for name in ("text", "md", "html"):
        assert "None of 3" not in texts[name]
        assert "1 changed a little, within the margins: " in texts[name]
        assert re.search(r"worse \(\+\d\d(\.\d)?.%, at least \+\d\d(\.\d)?.%\)", re.sub("<[^>]*>", "", texts[name])), (
            name
        )
        assert "2 of 3 comparisons" not in texts[name]
