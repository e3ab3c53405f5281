"""Where the bytes of an operation come from and go to: the disk, or the page cache alone."""

from collections.abc import Mapping
from statistics import fmean

from dbversus.report.figures import block_figures
from dbversus.report.judged import Judged
from dbversus.report.section import Section
from dbversus.report.table import Column, Form, Row, Table
from dbversus.stats.metrics import READ_BYTES, READ_CALL_BYTES, WRITE_BYTES, WRITE_CALL_BYTES

_METRICS = (READ_CALL_BYTES, READ_BYTES, WRITE_CALL_BYTES, WRITE_BYTES)
_COLUMNS = (
    Column("test"),
    Column("target"),
    *(Column(name, Form.NUMBER) for name in ("read_calls_kb", "read_disk_kb")),
    Column("page_cache", Form.SHARE),
    *(Column(name, Form.NUMBER) for name in ("write_calls_kb", "write_disk_kb")),
    Column("blocks", Form.COUNT),
)


def asked(judged: Judged) -> Section:
    """A line per test and target, in kB (1000 bytes) per operation, means over blocks; None: not known."""
    results, figures = judged.results, block_figures(judged.results)
    rows: list[Row] = [
        [test, target.label, *_line(known), max(map(len, known.values()))]
        for test in results.tests
        for target in results.targets
        if (known := figures.get((test, target.label)))
    ]
    return Section(title="Bytes per operation", data=[Table(_COLUMNS, rows)])


def _line(known: Mapping[str, list[float]]) -> tuple[float | None, ...]:
    calls, disk, written, to_disk = (fmean(values) if (values := known.get(name)) else None for name in _METRICS)
    return _kilobytes(calls), _kilobytes(disk), page_cache_part(calls, disk), _kilobytes(written), _kilobytes(to_disk)


def page_cache_part(call_bytes: float | None, disk_bytes: float | None) -> float | None:
    """The share of what calls have read that did not come from the disk for them.

    None where either is not known, nothing was read, or more came from the disk than calls took: reads ahead, mapped files,
    and asynchronous reads are in the disk's figure alone, so that such a share cannot be told.
    """
    if not call_bytes or disk_bytes is None or disk_bytes > call_bytes:
        return None
    return round(1 - disk_bytes / call_bytes, 3)


def _kilobytes(count: float | None) -> float | None:
    return None if count is None else round(count / 1000, 3)
