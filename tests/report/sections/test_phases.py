"""What servers owed and held when phases began: the order of lines, and every format."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from dbversus.report.assessment import build_assessment
from dbversus.report.formats import html, markdown
from dbversus.report.formats import json as json_format
from dbversus.report.formats.xlsx.sheets.every import of_sections
from dbversus.report.sections.phases import NOTE, TITLE, phases_of
from dbversus.results.read import open_results

from ...journals import DictJournal
from ...results.samples import HEADER

LABEL = HEADER["targets"][0]["label"]


def _phase(block: int, name: str, **kinds: dict[str, dict[str, float]]) -> dict[str, Any]:
    return {"type": "phase", "block": block, "phase": name, "targets": {"t0": kinds, "t1": {}}}


LEVELS = {"default.L0": {"files": 3.0, "size_bytes": 3e6}, "default.L6": {"files": 4.0, "size_bytes": 2e8}}


def write_phases(folder: Path) -> Path:
    """A phase of which nobody has anything to tell, and one with levels; in its second block they are gone."""
    with DictJournal(folder) as journal:
        journal.append(HEADER)
        journal.append(_phase(0, "first"))
        journal.append(_phase(0, "reads", level=LEVELS, server={"debt": {"l0_files": 3.0}}))
        journal.append(_phase(1, "reads"))
    return folder


def test_what_servers_held_when_a_phase_began_has_the_debt_first(tmp_path: Path) -> None:
    (part,) = phases_of(open_results(write_phases(tmp_path)))
    assert part.name == "reads"
    assert [(line.object, line.figure) for line in part.lines] == [
        ("debt", "l0_files"),
        ("default.L0", "files"),
        ("default.L0", "size_bytes"),
        ("default.L6", "files"),
        ("default.L6", "size_bytes"),
    ]
    files = part.lines[1].estimates
    assert list(files) == [LABEL] and (files[LABEL].value, files[LABEL].n) == (1.5, 2)


def test_phases_are_in_every_format(tmp_path: Path) -> None:
    assessment = build_assessment(open_results(write_phases(tmp_path)))
    for page in (html.render(assessment), markdown.render(assessment)):
        assert TITLE in page and "level default.L6" in page and "l0, files" in page
    (phase,) = json.loads(json_format.render(assessment))["phases"]
    assert phase["lines"][0]["figure"] == "l0_files"
    (sheet,) = (one for one in of_sections(assessment) if one.name == "Phases")
    assert (sheet.name, sheet.title) == ("Phases", TITLE)
    without = replace(assessment, sections=())
    assert TITLE not in html.render(without) + markdown.render(without)
    assert NOTE not in html.render(without) + markdown.render(without)
    assert not list(of_sections(without))
