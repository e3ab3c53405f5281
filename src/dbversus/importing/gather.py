"""Reads files into sheets: on all CPUs where they are many."""

import gc
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from itertools import chain, islice
from multiprocessing import get_context, parent_process
from pathlib import Path

from dbversus.errors import UsageError
from dbversus.host.processes import end_with_parent
from dbversus.importing.formats.figures_csv import missing_column
from dbversus.importing.formats.registry import format_of, other_tool, why_not_read
from dbversus.importing.lines import DAMAGED, ENCODINGS, Text
from dbversus.importing.model import FileFacts, Sheet, Source
from dbversus.importing.parts import Parts
from dbversus.printable import printable

_FILES_OF_TASK = 5000
_LARGE_BYTES = 16 << 20
"""A file from here on is read by itself, and what it says is passed on in parts."""
_MOST_WORKERS = 4
_FEW_COLLECTIONS = (200_000, 20, 20)
NO_FORMAT = "no format that is known"
_OTHER_ENCODING = f"--encoding says what files are that are not UTF-8, such as {ENCODINGS}"
_NO_TEXT = f"it is no text: it has bytes of value 0 ({_OTHER_ENCODING})"


def gather(sources: Iterable[Source], folder: Path) -> None:
    """Stores what the files say as parts in `folder`. Memory grows neither with the number of files nor with their size."""
    tasks = enumerate(_tasks(iter(sources)))
    first = list(islice(tasks, 2))
    workers = min(os.cpu_count() or 1, _MOST_WORKERS)
    if workers < 2 or len(first) < 2:
        for number, task in chain(first or [(0, [])], tasks):
            _read_and_store(folder, number, task)
        return
    # a fresh process each: libraries have begun threads in this one
    with ProcessPoolExecutor(workers, get_context("spawn"), _begin_worker) as pool:
        try:
            _together(pool, chain(first, tasks), workers, folder)
        finally:
            pool.shutdown(cancel_futures=True)  # and waits, so that nothing is written any more


def _tasks(sources: Iterator[Source]) -> Iterator[list[Source]]:
    """Files that are read one after another; a large one alone."""
    task: list[Source] = []
    for source in sources:
        large = source.bytes >= _LARGE_BYTES
        if task and (large or len(task) >= _FILES_OF_TASK):
            yield task
            task = []
        if large:
            yield [source]
        else:
            task.append(source)
    if task:
        yield task


def _together(pool: ProcessPoolExecutor, tasks: Iterator[tuple[int, list[Source]]], workers: int, folder: Path) -> None:
    under_way: deque[Future[None]] = deque()
    for number, task in tasks:
        while len(under_way) > workers:
            under_way.popleft().result()
        if task[0].bytes >= _LARGE_BYTES:
            _read_and_store(folder, number, task)  # here Ctrl-C ends it at once, and not with the file
        else:
            under_way.append(pool.submit(_read_and_store, folder, number, task))
    while under_way:
        under_way.popleft().result()


def _begin_worker() -> None:
    """Ctrl-C reaches all processes; the parent ends the others. Where it is killed, the kernel ends them.

    A thread that waits for the parent's end would do as well, but DuckDB's binding then lists what it has leaked.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    assert parent is not None and parent.pid is not None  # of a worker there is one, alive or not
    end_with_parent(signal.SIGKILL, parent.pid)


def _read_and_store(folder: Path, number: int, task: Sequence[Source]) -> None:
    parts = Parts(folder, number)
    with _few_collections():
        parts.store(read_files(task, parts.store))


@contextmanager
def _few_collections() -> Iterator[None]:
    """Sheets have many small parts and no circles: looking for some takes a tenth of the time."""
    usual = gc.get_threshold()
    gc.set_threshold(*_FEW_COLLECTIONS)
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def read_files(sources: Iterable[Source], when_full: Callable[[Sheet], None]) -> Sheet:
    """What a sheet holds when all are read; `when_full` gets what was in it before."""
    sheet = Sheet(when_full=when_full)
    for source in sources:
        sheet.reading = printable(source.shown)
        figures, unknown_lines = sheet.figures_read, sheet.unknown_lines
        facts = _read_file(source, sheet)
        counted = facts._replace(
            figures=sheet.figures_read - figures, unknown_lines=sheet.unknown_lines - unknown_lines
        )
        sheet.files.append(counted)
    return sheet


def _read_file(source: Source, sheet: Sheet) -> FileFacts:
    shown = printable(source.shown)
    facts = FileFacts(shown, None, source.bytes, 0, "")
    if why := why_not_read(source.name):
        return facts._replace(problem=f"not read: {why}")
    try:
        text = Text(source.path, source.shown, source.encoding)
        if text.ended and not text.head.strip():
            return facts._replace(problem="empty")
        found = format_of(source.name, text.head)
        if found is None:
            return facts._replace(problem=_no_format(source, text))
        facts = facts._replace(format=found.name, compared_with=found.compared_with(shown))
        figures = sheet.figures_read
        problem = found.read(source, text, sheet)
        if text.has_zeros and sheet.figures_read == figures:
            return facts._replace(format=None, problem=_NO_TEXT)
        if text.first_replaced:
            sheet.unknown(text.first_replaced, f"it has bytes that are no text of that encoding; {_OTHER_ENCODING}")
        return facts._replace(lines=text.last_line, problem=text.damage or problem)
    except UsageError as error:
        return facts._replace(problem=str(error))
    except DAMAGED:
        return facts._replace(problem="it is packed and damaged at its beginning")
    except OSError as error:
        return facts._replace(problem=f"cannot be read ({error.strerror})")


def _no_format(source: Source, text: Text) -> str:
    if text.has_zeros:
        return _NO_TEXT
    if other := other_tool(text.head):
        return f"it is of {other}, which is not read"
    return missing_column(source.name, text.head) or NO_FORMAT
