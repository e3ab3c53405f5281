"""A recorded run of a command in a terminal: what it printed, and when. Kept as asciicast v2, which other players know, too."""

import codecs
import fcntl
import json
import lzma
import os
import pty
import shlex
import struct
import termios
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap

_MERGED_S = 0.1
"""Output that comes closer together is one event: nobody sees the difference, and the file is smaller."""


@dataclass(frozen=True, slots=True)
class Event:
    """Seconds since the start, and what was printed then."""

    s: float
    text: str


@dataclass(frozen=True, slots=True)
class Recording:
    command: str
    columns: int
    lines: int
    events: Sequence[Event]

    @property
    def duration_s(self) -> float:
        return self.events[-1].s

    @classmethod
    def read(cls, path: Path) -> "Recording":
        with lzma.open(path, "rt") as file:
            header = json.loads(next(file))
            events = [Event(s, text) for s, _, text in map(json.loads, file)]
        return cls(header["command"], header["width"], header["height"], events)

    def write(self, path: Path) -> None:
        header = {"version": 2, "width": self.columns, "height": self.lines, "command": self.command}
        rows = [header, *([round(event.s, 2), "o", event.text] for event in self.events)]
        with lzma.open(path, "wt", preset=9) as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def record(command: list[str], columns: int, lines: int) -> Recording:
    """Run a command in a terminal of this size. Its first line is the command as it would be typed."""
    typed = shlex.join(command)
    events = [Event(0.0, _prompt(typed, columns))]
    decoder = codecs.getincrementaldecoder("utf-8")()
    began_s = time.monotonic()
    process, terminal = _start(command, columns, lines)
    while data := _read(terminal):
        now_s, text = time.monotonic() - began_s, decoder.decode(data)
        if len(events) > 1 and now_s - events[-1].s < _MERGED_S:
            events[-1] = Event(events[-1].s, events[-1].text + text)
        else:
            events.append(Event(now_s, text))
    if status := os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]):
        raise SystemExit(f"{typed} ended with status {status}:\n{events[-1].text}")
    return Recording(typed, columns, lines, events)


def _prompt(typed: str, columns: int) -> str:
    """A long command goes on in the next line, as one would type it."""
    lines = wrap(
        typed, columns - len("$  \\"), subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    return "$ " + " \\\r\n".join(lines) + "\r\n"


def _start(command: list[str], columns: int, lines: int) -> tuple[int, int]:
    """The process, and the terminal's other end."""
    process, terminal = pty.fork()
    if process == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        os.environ["TERM"] = "xterm-256color"
        for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"):
            os.environ.pop(name, None)
        os.execvp(command[0], command)
    return process, terminal


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux says that the other end is closed
        return b""
