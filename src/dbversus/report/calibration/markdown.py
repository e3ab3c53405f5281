"""calibration.md: a calibration for issues and the docs."""

from pathlib import Path

from dbversus.calibration.model import Calibration
from dbversus.files import write_text
from dbversus.report.calibration import tables
from dbversus.report.formats.markdown import escape, prose


def write(calibration: Calibration, path: Path) -> None:
    write_text(path, render(calibration))


def render(calibration: Calibration) -> str:
    parts = [f"# {escape(tables.title(calibration))}"]
    parts.append("\n".join(f"- {prose(sentence)}" for sentence in tables.sentences(calibration)))
    for table in tables.tables(calibration):
        head = [table.columns, ["---"] * len(table.columns), *table.rows]
        lines = [f"| {' | '.join(cell if cell == '---' else escape(cell) for cell in line)} |" for line in head]
        parts += [f"## {escape(table.title)}", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"
