"""Experiments side by side, as a section: what they are, and a line per test, target and metric."""

from dataclasses import asdict
from typing import Any

from dbversus.report.section import Section
from dbversus.report.sections import contrast
from dbversus.report.sections.contrast import Line
from dbversus.report.side_by_side.model import SideBySide
from dbversus.report.table import Column, Row, Table
from dbversus.report.words import INTERVALS, margins_text, verdict_legend
from dbversus.units import count_of

_FACTS = {
    "name": "experiment",
    "host": "host",
    "kernel": "kernel",
    "table_sizes": "rows per table",
    "clients": "clients",
    "blocks": "blocks",
    "measured": "begun",
    "directory": "results",
}


def section_of(found: SideBySide) -> Section:
    said = contrast.sentences(found)
    return Section(
        title=f"{count_of(len(found.experiments), 'experiment')} side by side: {', '.join(found.levels)}",
        sentences=said,
        tables=[_experiments(found), contrast.table(found, f"Ratios to {found.base}", found.lines)],
        notes=notes(found),
        data=[contrast.data(found)],
        content={
            "base": found.base,
            "experiments": [asdict(one) for one in found.experiments],
            "sentences": said,
            "notes": list(found.notes),
            "tests": [_content(line, found) for line in found.lines],
        },
    )


def _experiments(found: SideBySide) -> Table:
    rows: list[Row] = [[str(getattr(one, name) or "–") for name in _FACTS] for one in found.experiments]
    return Table([Column(title) for title in _FACTS.values()], rows, title="Experiments")


def notes(found: SideBySide) -> list[str]:
    """What the figures are, and what has to be known before they are believed."""
    said = [f"Ratios are target/{found.base}, each of one experiment by itself [{INTERVALS}]."]
    if found.findings:
        said += _of_interactions(found)
    verdicts = {
        contrast.verdict_of(item, metric)
        for line in found.lines
        for item in line.comparisons.values()
        for metric in found.judged
    }
    return [*said, verdict_legend(verdicts), *found.notes]


def _of_interactions(found: SideBySide) -> list[str]:
    return [
        f"An experiment over {found.levels[0]} is the ratio of these two ratios, from all blocks of both, which have nothing in "
        "common: what a host costs both targets alike is not in it. The target is worse or better against the base than there, "
        "or the same, by the wider margin of both; these verdicts are a family of their own and change no other. "
        f"Margins: {margins_text(found.findings)}.",
        "Each experiment is one run. What is shown to differ between two runs may be due to the host, or to whatever else was "
        "different: a second run on the same host tells them apart.",
    ]


def _content(line: Line[str], found: SideBySide) -> dict[str, Any]:
    return {
        "test": line.test,
        "target": line.target,
        "words": line.sentence,
        "left_out": list(line.left_out),
        "experiments": {
            name: {"verdict": item.verdict, "metrics": contrast.content(item.findings, found.judged)}
            for name, item in line.comparisons.items()
        },
        "interactions": {name: contrast.content(of_one, found.judged) for name, of_one in line.interactions.items()},
    }
