"""Progress on standard error: a bar with the time left on a terminal, plain lines elsewhere."""

import sys
import time
from types import TracebackType
from typing import Self

from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Column

from dbversus.report.terminal import make_console
from dbversus.units import show_duration

PLAIN_LINE_S = 30.0


class TerminalDisplay:
    """A bar whose end is the next look that may settle everything; what is being done stands before it."""

    def __init__(self) -> None:
        self._console = make_console(stderr=True)
        # drawing costs CPU beside the measurement: twice a second is enough for the eye
        self._progress = Progress(
            TextColumn(
                "{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis")
            ),
            BarColumn(30),
            TextColumn("{task.fields[left]}", markup=False),
            TimeElapsedColumn(),
            console=self._console,
            expand=True,
            refresh_per_second=2,
            transient=True,
        )
        self._task: TaskID = self._progress.add_task("starting", total=None, left="")
        self._began_s = time.monotonic()
        self._end_s: float | None = None

    def say(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False)

    def expect(self, seconds: float) -> None:
        self._end_s = time.monotonic() + seconds
        self._progress.update(self._task, total=self._end_s - self._began_s)

    def doing(self, text: str) -> None:
        now_s = time.monotonic()
        self._progress.update(
            self._task, description=text, completed=now_s - self._began_s, left=_left(self._end_s, now_s)
        )

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()


class PlainDisplay:
    """A line now and then, for logs and pipes."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._end_s: float | None = None
        self._said_s = -PLAIN_LINE_S

    def say(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    def expect(self, seconds: float) -> None:
        self._end_s = time.monotonic() + seconds

    def doing(self, text: str) -> None:
        now_s = time.monotonic()
        if self._quiet or now_s - self._said_s < PLAIN_LINE_S:
            return
        self._said_s = now_s
        left = _left(self._end_s, now_s)
        print(f"{text} ({left})" if left else text, file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def _left(end_s: float | None, now_s: float) -> str:
    """Nothing once the expected end has passed: how long the rest takes is not known then."""
    return f"about {show_duration(end_s - now_s)} left" if end_s is not None and end_s > now_s else ""


def make_display(quiet: bool) -> TerminalDisplay | PlainDisplay:
    return TerminalDisplay() if sys.stderr.isatty() and not quiet else PlainDisplay(quiet)
