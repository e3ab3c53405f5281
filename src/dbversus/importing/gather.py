"""Reads files into sheets: on all CPUs where they are many."""

import gc
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from itertools import chain, islice
from multiprocessing import get_context

from dbversus.errors import UsageError
from dbversus.importing.formats.registry import format_of, why_not_read
from dbversus.importing.lines import Text
from dbversus.importing.model import FileFacts, Sheet, Source, printable

_FILES_OF_TASK = 2000
_LARGE_BYTES = 16 << 20
"""A file from here on is read by itself, and what it says is passed on in parts."""
_MOST_WORKERS = 4
_FEW_COLLECTIONS = (200_000, 20, 20)
NO_FORMAT = "no format that is known"
Store = Callable[[Sheet], None]


def gather(sources: Iterable[Source], store: Store) -> None:
    """Stores sheets of the files, in their order. Memory grows neither with the number of files nor with their size."""
    tasks = _tasks(iter(sources))
    first = list(islice(tasks, 2))
    workers = min(os.cpu_count() or 1, _MOST_WORKERS)
    if workers < 2 or len(first) < 2:
        for task in chain(first, tasks):
            _read_here(task, store)
        return
    # a fresh process each: the parent has threads, of the database that it writes with
    with _few_collections(), ProcessPoolExecutor(workers, get_context("spawn"), _begin_worker) as pool:
        try:
            _together(pool, chain(first, tasks), workers, store)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


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


def _together(pool: ProcessPoolExecutor, tasks: Iterator[list[Source]], workers: int, store: Store) -> None:
    under_way: deque[Future[Sheet]] = deque()
    for task in tasks:
        large = task[0].bytes >= _LARGE_BYTES
        while len(under_way) > (0 if large else workers):
            store(under_way.popleft().result())
        if large:
            _read_here(task, store)
        else:
            under_way.append(pool.submit(read_files, task))
    while under_way:
        store(under_way.popleft().result())


def _read_here(task: list[Source], store: Store) -> None:
    store(read_files(task, store if task[0].bytes >= _LARGE_BYTES else None))


def _begin_worker() -> None:
    """Ctrl-C reaches all processes; the parent ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(*_FEW_COLLECTIONS)


@contextmanager
def _few_collections() -> Iterator[None]:
    """Sheets have many small parts and no circles: looking for some takes a tenth of the time."""
    usual = gc.get_threshold()
    gc.set_threshold(*_FEW_COLLECTIONS)
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def read_files(sources: Iterable[Source], when_full: Store | None = None) -> Sheet:
    """What a sheet holds when all are read; `when_full` gets what was in it before."""
    sheet = Sheet(when_full=when_full)
    for source in sources:
        sheet.files.append(_read_file(source, sheet))
    return sheet


def _read_file(source: Source, sheet: Sheet) -> FileFacts:
    shown = printable(source.shown)
    try:
        if why := why_not_read(source.name):
            return FileFacts(shown, None, source.bytes, 0, f"not read: {why}", None)
        text = Text(source.path, source.shown)
        if text.ended and not text.head.strip():
            return FileFacts(shown, None, source.bytes, 0, "empty", None)
        found = format_of(source.name, text.head)
        if found is None:
            return FileFacts(shown, None, source.bytes, 0, NO_FORMAT, None)
        problem = found.read(source, text, sheet)
        return FileFacts(shown, found.name, source.bytes, text.last_line, problem, found.compared_with(shown))
    except UsageError as error:
        return FileFacts(shown, None, 0, 0, str(error), None)
    except OSError as error:
        return FileFacts(shown, None, 0, 0, f"cannot be read ({error.strerror})", None)
