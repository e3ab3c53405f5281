"""Runs of posts in files that a repository can keep: rules of any later day can score them again."""

import gzip
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from dbversus.errors import UsageError, reason
from dbversus.files import write_whole
from dbversus.packed import Allowance, counted
from dbversus.posts.run import PostRun
from dbversus.stats.model import BlockValue

SUFFIX = ".json.gz"
_DIGITS = 7
"""Of logarithms of ratios: more are noise, and do not compress."""


def write_run(run: PostRun, file: Path) -> None:
    """The same run gives the same bytes. Raises RunError where the disk refuses."""
    brief = replace(run, rows=_rounded(run.rows), whole=_rounded(run.whole), trends=_rounded(run.trends))
    write_whole(file, gzip.compress(msgspec.json.encode(brief), mtime=0))


def read_run(file: Path) -> PostRun:
    """Raises UsageError when the file cannot be read, or is none of `write_run`."""
    try:
        with gzip.open(file) as unpacking, counted(cast(BinaryIO, unpacking), Allowance(file)) as text:
            return msgspec.json.decode(text.read(), type=PostRun)
    except (OSError, EOFError, msgspec.DecodeError) as error:
        raise UsageError(f"{file} cannot be read, or is no kept run: {reason(error)}.") from error


def _rounded(values: list[BlockValue]) -> list[BlockValue]:
    return [replace(one, value=_round(one.value), error=_round(one.error)) for one in values]


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
