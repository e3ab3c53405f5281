#!/usr/bin/env python
"""README's moving picture: a command is run and recorded, and an SVG that moves without a script is drawn from the recording.

  tools/moving_picture.py --record dbversus demo
  tools/moving_picture.py

With --record the command is run first, in this folder. What it prints is kept as it is; the picture only passes faster.
"""

import argparse
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from xml.sax.saxutils import escape

import pyte
import pyte.graphics
from recording import Recording, record

IMAGES = Path(__file__).resolve().parents[1] / "docs/images"
RECORDING = IMAGES / "run.cast.xz"
PICTURE = IMAGES / "run.svg"
COLUMNS, LINES = 100, 50

PLAYED_S = 12
HELD_S = 10
"""How long the last screen stands before all begins again."""
FRAMES_PER_S = 8

CELL_WIDTH, CELL_HEIGHT, MARGIN, BAR_HEIGHT = 8.4, 18, 14, 30
# not as dark as dark pages are
BACKGROUND, BAR, FOREGROUND, FAINT = "#161b22", "#2d333b", "#e6edf3", "#9198a1"
COLOURS = {
    "default": FOREGROUND,
    "faint": FAINT,
    "black": "#484f58",
    "red": "#ff7b72",
    "green": "#3fb950",
    "brown": "#e3b341",
    "blue": "#79c0ff",
    "magenta": "#d2a8ff",
    "cyan": "#56d4dd",
    "white": "#b1bac4",
}
# the terminal emulator knows no faint text: a colour of that name stands for it
pyte.graphics.FG_ANSI[2] = "faint"


@dataclass(frozen=True, slots=True)
class Run:
    """Characters of one look, beside each other."""

    column: int
    text: str
    colour: str
    bold: bool


Row = tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """A row of the screen, and the frames from which and before which it stands there."""

    line: int
    row: Row
    first: int
    end: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", nargs=argparse.REMAINDER, metavar="COMMAND", help="run this and record it first")
    if command := parser.parse_args().record:
        if not shutil.which(command[0]):
            parser.error(f"{command[0]} is not in PATH; name a program that is, or its path.")
        record(command, COLUMNS, LINES).write(RECORDING)
    PICTURE.write_text(picture(Recording.read(RECORDING)))
    print(f"drawn: {PICTURE}", file=sys.stderr)


def picture(recording: Recording) -> str:
    frames = list(_frames(recording))
    lines = max(line for frame in frames for line in frame) + 1
    width = round(recording.columns * CELL_WIDTH + 2 * MARGIN)
    height = BAR_HEIGHT + lines * CELL_HEIGHT + 2 * MARGIN
    faster = f"played {recording.duration_s / PLAYED_S:.0f} times as fast"
    shown = list(_shown(frames))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="img" aria-labelledby="title">',
            f'<title id="title">{escape(recording.command)}, a recorded run, {faster}</title>',
            _style(shown, len(frames)),
            f'<rect width="{width}" height="{height}" rx="8" fill="{BACKGROUND}"/>',
            f'<path d="M0 {BAR_HEIGHT}V8a8 8 0 0 1 8-8H{width - 8}a8 8 0 0 1 8 8V{BAR_HEIGHT}z" fill="{BAR}"/>',
            f'<text x="{width - MARGIN}" y="20" text-anchor="end" fill="{FAINT}">{faster}</text>',
            f'<g transform="translate({MARGIN} {BAR_HEIGHT + MARGIN})">',
            *(_drawn(row, len(frames)) for row in shown),
            "</g>",
            "</svg>\n",
        ]
    )


def _frames(recording: Recording) -> Iterator[Mapping[int, Row]]:
    """The screen at even moments, of which the first has the command alone: rows that are not empty, by line."""
    screen = pyte.Screen(recording.columns, recording.lines)
    stream = pyte.Stream(screen)
    events = list(recording.events)
    count = PLAYED_S * FRAMES_PER_S
    for frame in range(count + 1):
        until_s = recording.duration_s * (frame / count)
        while events and events[0].s <= until_s:
            stream.feed(events.pop(0).text)
        rows = {line: tuple(_runs(screen.buffer[line], recording.columns)) for line in range(recording.lines)}
        yield {line: row for line, row in rows.items() if row}


def _runs(cells: Mapping[int, pyte.screens.Char], columns: int) -> Iterator[Run]:
    """Gaps part runs, so that nothing depends on how blanks are drawn."""

    def look(column: int) -> tuple[bool, str, bool]:
        cell = cells[column]
        gap = cell.data == " " and (cells[column - 1].data == " " or cells[column + 1].data == " ")
        return gap, cell.fg, cell.bold

    for (gap, colour, bold), places in groupby(range(columns), look):
        inside = list(places)
        text = "".join(cells[place].data for place in inside)
        if not gap and text.strip():
            yield Run(inside[0] + len(text) - len(text.lstrip()), text.strip(), colour, bold)


def _shown(frames: Sequence[Mapping[int, Row]]) -> Iterator[Shown]:
    """Each row once for as long as it stands unchanged."""
    for line in sorted({line for frame in frames for line in frame}):
        for row, same in groupby(enumerate(frame.get(line) for frame in frames), itemgetter(1)):
            if row:
                places = [place for place, _ in same]
                yield Shown(line, row, places[0], places[-1] + 1)


def _style(shown: Sequence[Shown], frames: int) -> str:
    """Readers who asked for less motion see the last screen: without an animation only its rows are visible."""
    looks = {(run.colour, run.bold) for row in shown for run in row.row}
    spans = sorted({(row.first, row.end) for row in shown} - {(0, frames)})
    return "\n".join(
        [
            "<style>",
            "text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace}",
            *(f".{_look(colour, bold)}{{{_paint(colour, bold)}}}" for colour, bold in sorted(looks)),
            ".past{visibility:hidden}",
            "@media (prefers-reduced-motion:no-preference){",
            f".past,.late{{animation:{PLAYED_S + HELD_S}s step-end infinite}}",
            *(_keyframes(first, end, frames) for first, end in spans),
            *(f".{_span(first, end)}{{animation-name:{_span(first, end)}}}" for first, end in spans),
            "}",
            "</style>",
        ]
    )


def _keyframes(first: int, end: int, frames: int) -> str:
    """Without them, rows of the last screen are visible and all others are not."""
    if end == frames:
        moments = f"0%{{visibility:hidden}}{_percent(first, frames)}{{visibility:visible}}"
    else:
        moments = f"{_percent(first, frames)}{{visibility:visible}}{_percent(end, frames)}{{visibility:hidden}}"
    return f"@keyframes {_span(first, end)}{{{moments}}}"


def _percent(frame: int, frames: int) -> str:
    return f"{100 * frame / (frames - 1) * PLAYED_S / (PLAYED_S + HELD_S):.2f}%"


def _drawn(shown: Shown, frames: int) -> str:
    y = round((shown.line + 0.72) * CELL_HEIGHT, 1)
    texts = "".join(
        f'<text x="{run.column * CELL_WIDTH:.1f}" y="{y}" textLength="{len(run.text) * CELL_WIDTH:.1f}" '
        f'lengthAdjust="spacingAndGlyphs" class="{_look(run.colour, run.bold)}">{escape(run.text)}</text>'
        for run in shown.row
    )
    if (shown.first, shown.end) == (0, frames):
        return texts
    when = "late" if shown.end == frames else "past"
    return f'<g class="{when} {_span(shown.first, shown.end)}">{texts}</g>'


def _span(first: int, end: int) -> str:
    return f"s{first}-{end}"


def _look(colour: str, bold: bool) -> str:
    return f"{'b' if bold else 'c'}-{colour}"


def _paint(colour: str, bold: bool) -> str:
    return f"fill:{COLOURS.get(colour, f'#{colour}')}{';font-weight:bold' if bold else ''}"


if __name__ == "__main__":
    main()
