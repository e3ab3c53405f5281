"""How a verb ends: its exit status, and one clear sentence when something was wrong."""

import errno
import functools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ParamSpec

import typer

from dbversus.errors import DbversusError, RunError
from dbversus.printable import clean_output
from dbversus.results.schema import CAMPAIGN, JOURNAL

INTERRUPTED = 130
_NO_MEMORY = (
    "There is not enough memory for that: the host has no more, or a limit (ulimit -v, a control group) is too low."
)


@contextmanager
def resumable(directory: Path) -> Iterator[None]:
    """Says how to go on, when an experiment or campaign in `directory` does not reach its end and that can help."""
    known_bytes = {path: path.stat().st_size for path in _journals(directory)}
    try:
        yield
    except (KeyboardInterrupt, RunError, OSError, MemoryError) as error:
        journals = _journals(directory)
        is_begun = bool(journals) or (directory / CAMPAIGN).exists()
        if is_begun and (was_interrupted(error) or _can_go_on(journals, error, known_bytes)):
            print(f"go on with: dbversus resume {directory}", file=sys.stderr)
        raise


def _journals(directory: Path) -> list[Path]:
    """That of an experiment, and those of a campaign's experiments."""
    within = directory.glob(f"*/{JOURNAL}") if (directory / CAMPAIGN).exists() else ()
    return [path for path in (directory / JOURNAL, *within) if path.exists()]


def told_in_a_sentence(error: Exception) -> str:
    if not isinstance(error, OSError):
        return str(error)
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}"


def _can_go_on(journals: Sequence[Path], error: BaseException, known_bytes: Mapping[Path, int]) -> bool:
    from dbversus.experiment.advice import resume_can_help  # only now: it reads records

    return any(resume_can_help(path.parent, error, known_bytes.get(path, 0)) for path in journals)


_DUCKDB_INTERRUPTED = "Query interrupted"
"""All that DuckDB says, in a RuntimeError, where Ctrl-C came in one of its queries."""


def was_interrupted(error: BaseException | None) -> bool:
    """Whether the user stopped us, also where an error of the clean-up has come on top of that."""
    while error is not None and not isinstance(error, KeyboardInterrupt) and str(error) != _DUCKDB_INTERRUPTED:
        error = error.__context__
    return error is not None


Arguments = ParamSpec("Arguments")


def _interrupts_first(
    verb: Callable[Arguments, int | None], *arguments: Arguments.args, **options: Arguments.kwargs
) -> int | None:
    """The verb's status; an error on top of an interrupt is the interrupt."""
    try:
        return verb(*arguments, **options)
    except Exception as error:
        if was_interrupted(error):
            raise KeyboardInterrupt from error
        raise


def reports_errors(verb: Callable[Arguments, int | None]) -> Callable[Arguments, None]:
    """The verb, with its errors told in a sentence.

    Status: 0 done, 1 failed, 2 wrong use, 98 not judged, 99 --fail-on met, 130 interrupted (resumable); of several, the first of
    2, 130, 99, 1, 98.
    """

    @functools.wraps(verb)
    def run(*arguments: Arguments.args, **options: Arguments.kwargs) -> None:
        with clean_output():
            status = _status(verb, *arguments, **options)
        if status:
            raise typer.Exit(status)

    return run


def _status(
    verb: Callable[Arguments, int | None], *arguments: Arguments.args, **options: Arguments.kwargs
) -> int | None:
    try:
        return _interrupts_first(verb, *arguments, **options)
    except DbversusError as error:
        print(f"dbversus: {error}", file=sys.stderr)
        return error.status
    except OSError as error:
        if error.errno == errno.EPIPE:  # who reads us has read enough: not a mistake, and the library's to handle
            raise
        print(f"dbversus: {told_in_a_sentence(error)}", file=sys.stderr)
        return RunError.status
    except MemoryError:
        print(f"dbversus: {_NO_MEMORY}", file=sys.stderr)
        return RunError.status
    except KeyboardInterrupt:
        print("dbversus: interrupted", file=sys.stderr)
        return INTERRUPTED
