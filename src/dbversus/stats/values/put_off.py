"""What servers wrote while tests changed data, and what they put off until after these: bytes per operation."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from dbversus.stats.metrics import DRAIN_WRITES, Columns

Place = tuple[str, str]
"""Test and target."""
Rows = Iterable[Mapping[str, Any]]

# what tells of bytes that are not written yet, the best first, and the bytes of one: of InnoDB, MyRocks and PostgreSQL; and of
# InnoDB in older records, as pages of the usual size that are written twice
_BUFFERS = "dirty_buffers"
_UNWRITTEN = {"unwritten_bytes": 1, "memtable_bytes": 1, _BUFFERS: 8192, "dirty_pages": 2 * 16384}
_IMAGES, _LOG = "log_page_images", "log_bytes"
_TOLD = frozenset({*_UNWRITTEN, _IMAGES, _LOG})
_IMAGE_BYTES = 8192


@dataclass(frozen=True)
class Writes:
    """Bytes per operation of one target in one test.

    `read` and `written` in the test, `drained` in the moment after it that a server is given for it. `unwritten`: changed pages
    and the like that were in memory only when that was over, from this test or from one before; a page that is written twice for
    safety counts twice. `images`: whole pages in the log, of `written`, as PostgreSQL logs the first change of each page after a
    checkpoint; None before version 14, which does not tell. Else what a server does not tell is 0.
    """

    read: float
    written: float
    drained: float
    unwritten: float = 0.0
    images: float | None = 0.0

    @property
    def share_drained(self) -> float:
        both = self.written + self.drained
        return self.drained / both if both > 0 else 0.0


def writes_by_place(columns: Columns, drains: Rows, objects: Rows) -> dict[Place, Writes]:
    """Of each test and target whose drains are known: means over its blocks.

    `columns`: slots as in results/schema.py; `drains`, `objects`: rows of the tables `drains` and `objects`.
    """
    figures = _figures(objects)
    after: dict[Place, list[tuple[float, float, float | None]]] = {}
    for row in drains:
        if row[DRAIN_WRITES] is not None and row["ops"]:
            told = figures.get(_block(row), {})
            put_off = float(row[DRAIN_WRITES]), _unwritten(told) / row["ops"], _images(told)
            after.setdefault((row["test"], row["target"]), []).append(put_off)
    found = {}
    for place, blocks in after.items():
        during = _during(columns, *place)
        if during is not None:
            drained, unwritten, images = zip(*blocks, strict=True)
            known = [value for value in images if value is not None]
            of_images = fmean(known) if len(known) == len(blocks) else None
            found[place] = Writes(*during, fmean(drained), fmean(unwritten), of_images)
    return found


def _during(columns: Columns, test: str, target: str) -> tuple[float, float] | None:
    """Bytes read and written per operation of all slots with their settle parts; None where nothing was counted."""
    own = (columns["test"] == test) & (columns["target"] == target)
    ops, read, written = (
        np.ma.sum(columns[name][own]) for name in ("driven_ops", "driven_read_bytes", "driven_write_bytes")
    )
    if not ops or read is np.ma.masked or written is np.ma.masked:
        return None
    return float(read) / float(ops), float(written) / float(ops)


def _figures(objects: Rows) -> dict[tuple[Any, ...], dict[str, float]]:
    """By figure, the most that any object has: of a count per operation, and of what stands at the end.

    A server's debt has the sum of its parts, and is told beside them.
    """
    found: dict[tuple[Any, ...], dict[str, float]] = {}
    for row in objects:
        if row["figure"] in _TOLD:
            told = found.setdefault(_block(row), {})
            value = row["value"] if row["per_op"] is None else row["per_op"]
            told[row["figure"]] = max(value, told.get(row["figure"], 0.0))
    return found


def _block(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return row["test"], row["target"], row["block"], row["target_group"]


def _unwritten(told: Mapping[str, float]) -> float:
    return next((told[figure] * size for figure, size in _UNWRITTEN.items() if figure in told), 0.0)


def _images(told: Mapping[str, float]) -> float | None:
    """Compressed ones are smaller than their pages, but none is larger than the log."""
    if _LOG not in told:
        return None if _BUFFERS in told else 0.0
    return min(told.get(_IMAGES, 0.0) * _IMAGE_BYTES, told[_LOG])
