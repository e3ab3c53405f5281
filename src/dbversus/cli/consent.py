"""Asks before anything is executed that came with an experiment of somebody else."""

import contextlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from dbversus.errors import UsageError

if TYPE_CHECKING:
    from dbversus.experiment.asked.spec import ExperimentSpec


def with_consent(
    read: "Callable[[], ExperimentSpec]", path: Path | None, *, trust: bool, dry_run: bool
) -> "tuple[ExperimentSpec, bool]":
    """The experiment, and whether what it brings may be executed: with `dry_run`, that need not be so.

    `read` reads it; `path` is its file, None where the user has named the targets herself. UsageError, when it is not her own,
    without `trust` or a yes on the terminal.
    """
    from dbversus.experiment.trust import is_known, question
    from dbversus.host.program import nothing_executed

    known = trust or path is None or is_known(path, dry_run=dry_run)
    with contextlib.nullcontext() if known else nothing_executed():
        spec = read()
        words = "" if trust else question(spec, path, dry_run=dry_run)
    if words and dry_run:
        print(f"{words}. Nothing of it was looked at; --trust allows that.", file=sys.stderr)
        return spec, False
    if words:
        _ask(words)
    return (spec if known else read()), True


def _ask(words: str) -> None:
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"{words}. Look at it first; --trust allows it.")
    if not typer.confirm(f"{words}.\nAllow it?", err=True):
        raise UsageError("It was not allowed, and nothing was started.")
