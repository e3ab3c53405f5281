"""The metrics that dbversus compares, and how each follows from the columns of a slot (results/schema.py)."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from dbversus.errors import UsageError
from dbversus.results.columns import floats as floats
from dbversus.results.schema import LOAD_TEST as LOAD_TEST
from dbversus.stats.judgeable import CPU as CPU
from dbversus.stats.judgeable import IO_BYTES as IO_BYTES
from dbversus.stats.judgeable import MEAN, P50, P95, P99
from dbversus.stats.judgeable import THROUGHPUT as THROUGHPUT
from dbversus.stats.model import Metric

Columns = Mapping[str, npt.NDArray[np.generic]]
Floats = npt.NDArray[np.float64]

USER_CPU, SYSTEM_CPU = "server_user_us_per_op", "server_system_us_per_op"
FOREGROUND_CPU, BACKGROUND_CPU = "server_foreground_cpu_us_per_op", "server_background_cpu_us_per_op"
WAIT = "server_wait_us_per_op"
DRAIN_CPU = "drain_cpu_us_per_op"
DRAIN_WRITES = "drain_write_bytes_per_op"
DISK_READS, DISK_WRITES = "disk_reads_per_op", "disk_writes_per_op"
DISK_READ_BYTES, DISK_WRITE_BYTES = "disk_read_bytes_per_op", "disk_write_bytes_per_op"
READ_BYTES, WRITE_BYTES = "read_bytes_per_op", "write_bytes_per_op"
READ_CALL_BYTES, WRITE_CALL_BYTES = "read_call_bytes_per_op", "write_call_bytes_per_op"

_US_PER_NS = 1e-3
_NS_PER_S = 1e9


# a server that is only read still writes 0.1-0.5 MB/s, in lumps, and reads once a second: no cost of the statements
_HOUSEKEEPING_BYTES_PER_S = 1e6
_HOUSEKEEPING_CALLS_PER_S = 20.0


def _per_op(name: str, title: str, unit: str, *columns: str, margin: float, floor: float, scale: float = 1.0) -> Metric:
    """An exploratory count per operation that comes in lumps."""
    return Metric(name, title, unit, False, False, margin, columns, "ops", scale, pooled=True, floor=floor, tests=())


def _bytes_per_op(name: str, title: str, column: str) -> Metric:
    """Of slots with their settle parts: what a server puts off by milliseconds is written in the next of these."""
    return replace(_storage_bytes_per_op(name, title, column), denominator="driven_ops")


def _storage_bytes_per_op(name: str, title: str, column: str) -> Metric:
    metric = _per_op(name, title, "bytes/op", column, margin=0.05, floor=64.0)
    return replace(metric, rate_floor=_HOUSEKEEPING_BYTES_PER_S)


def _disk_calls_per_op(name: str, title: str, column: str) -> Metric:
    return replace(_per_op(name, title, "1/op", column, margin=0.05, floor=0.01), rate_floor=_HOUSEKEEPING_CALLS_PER_S)


def _cpu_per_op(name: str, title: str, column: str, *, margin: float = 0.05) -> Metric:
    """CPU parts are pooled too: many kernels count user and system time in ticks of 10 ms, a fifth of a short slot."""
    return _per_op(name, title, "µs/op", column, margin=margin, floor=0.05, scale=_US_PER_NS)


def _response_time(name: str, title: str, column: str) -> Metric:
    """Of slots; the rare ones, of which a slot has too few, are PERCENTILES."""
    return Metric(name, title, "µs", False, False, 0.05, (column,), scale=_US_PER_NS)


# they make the verdicts, unless the experiment says which do (stats/judged.py)
PRIMARY: tuple[Metric, ...] = (
    Metric(CPU, "server CPU per op", "µs/op", False, True, 0.03, ("server_cpu_ns",), "ops", _US_PER_NS),
    Metric(THROUGHPUT, "throughput", "ops/s", True, True, 0.05, ("ops",), "elapsed_ns", _NS_PER_S),
    Metric(
        IO_BYTES,
        "IO bytes per op",
        "bytes/op",
        False,
        True,
        0.05,
        ("driven_read_bytes", "driven_write_bytes"),
        "driven_ops",
        pooled=True,
        floor=64.0,
        rate_floor=_HOUSEKEEPING_BYTES_PER_S,
    ),
)

EXPLORATORY: tuple[Metric, ...] = (
    _cpu_per_op(USER_CPU, "server user CPU per op", "server_user_ns"),
    _cpu_per_op(SYSTEM_CPU, "server system CPU per op", "server_system_ns"),
    _cpu_per_op(FOREGROUND_CPU, "foreground CPU per op", "server_foreground_cpu_ns"),
    _cpu_per_op(BACKGROUND_CPU, "background CPU per op", "server_background_cpu_ns", margin=0.10),
    _cpu_per_op(WAIT, "run-queue wait per op", "server_wait_ns", margin=0.10),
    _per_op("server_switches_per_op", "context switches per op", "1/op", "server_switches", margin=0.05, floor=0.01),
    _per_op("minor_faults_per_op", "minor faults per op", "1/op", "server_minor_faults", margin=0.10, floor=0.01),
    _per_op("major_faults_per_op", "major faults per op", "1/op", "server_major_faults", margin=0.10, floor=0.001),
    _bytes_per_op(READ_BYTES, "bytes read per op", "driven_read_bytes"),
    _bytes_per_op(WRITE_BYTES, "bytes written per op", "driven_write_bytes"),
    _per_op("read_calls_per_op", "read system calls per op", "1/op", "server_read_calls", margin=0.05, floor=0.01),
    _per_op("write_calls_per_op", "write system calls per op", "1/op", "server_write_calls", margin=0.05, floor=0.01),
    _per_op(
        READ_CALL_BYTES, "bytes of read calls per op", "bytes/op", "server_read_call_bytes", margin=0.05, floor=64.0
    ),
    _per_op(
        WRITE_CALL_BYTES, "bytes of write calls per op", "bytes/op", "server_write_call_bytes", margin=0.05, floor=64.0
    ),
    _disk_calls_per_op(DISK_READS, "disk reads per op", "disk_reads"),
    _disk_calls_per_op(DISK_WRITES, "disk writes per op", "disk_writes"),
    _storage_bytes_per_op(DISK_READ_BYTES, "bytes read from the disk per op", "disk_read_bytes"),
    _storage_bytes_per_op(DISK_WRITE_BYTES, "bytes written to the disk per op", "disk_write_bytes"),
    _per_op("errors_per_op", "errors per op", "1/op", "errors", margin=0.10, floor=1e-4),
    _cpu_per_op("client_cpu_us_per_op", "client CPU per op", "client_cpu_ns"),
    _response_time(MEAN, "mean response time", "mean_ns"),
    _response_time(P50, "median response time", "p50_ns"),
    Metric(
        "load_rows_per_s", "rows loaded per second", "rows/s", True, False, 0.05, ("rows",), "elapsed_ns", _NS_PER_S,
        tests=(LOAD_TEST,),
    ),
    Metric(
        "load_cpu_us_per_row", "server CPU per row loaded", "µs/row", False, False, 0.05, ("server_cpu_ns",), "rows",
        _US_PER_NS, tests=(LOAD_TEST,),
    ),
)  # fmt: skip

METRICS: tuple[Metric, ...] = PRIMARY + EXPLORATORY
"""Those that follow from the columns of slots."""

OF_WRITES = frozenset({IO_BYTES, WRITE_BYTES, DISK_WRITE_BYTES})
"""Bytes that are not their operations' alone: servers write ahead, later and by the clock."""

SMOOTH: tuple[Metric, ...] = tuple(metric for metric in PRIMARY if not metric.pooled)
"""CPU per op and throughput: every slot has a ratio of its own, and the midmean over rows is the value of a block."""

# figures of a whole test in a block, not of slots: what the server did after it, to pay what it had left
DRAIN: tuple[Metric, ...] = (
    Metric(DRAIN_CPU, "drained CPU per op", "µs/op", False, False, 0.10, pooled=True, floor=0.05),
    Metric(DRAIN_WRITES, "bytes drained per op", "bytes/op", False, False, 0.10, pooled=True, floor=64.0),
)

# of all operations of a block together (stats/values/percentiles.py): a slot has too few of them for the rare ones
PERCENTILES: tuple[Metric, ...] = (
    Metric(P95, "95th percentile of response time", "µs", False, False, 0.10),
    Metric(P99, "99th percentile of response time", "µs", False, False, 0.10),
)

_BY_NAME = {metric.name: metric for metric in METRICS + DRAIN + PERCENTILES}


COUNTER = "counter."
BACKGROUND = "background."


def background_metric(kind: str) -> Metric:
    """The exploratory metric of one kind of background work (a thread's or process's name), CPU per operation."""
    return Metric(f"{BACKGROUND}{kind}", f"background: {kind}", "µs/op", False, False, 0.10, pooled=True, floor=0.05)


def counter_metric(counter: str) -> Metric:
    """The exploratory metric of one of the server's own counters, per operation."""
    return Metric(f"{COUNTER}{counter}", f"{counter} per op", "1/op", False, False, 0.10)


def metric_named(name: str) -> Metric:
    """The metric of this name; UsageError names those that there are."""
    if name.startswith(COUNTER):
        return counter_metric(name.removeprefix(COUNTER))
    if name.startswith(BACKGROUND):
        return background_metric(name.removeprefix(BACKGROUND))
    if name not in _BY_NAME:
        raise UsageError(f"unknown metric '{name}'; known are: {', '.join(_BY_NAME)}")
    return _BY_NAME[name]


def parts(metric: Metric, columns: Columns) -> tuple[Floats, Floats] | None:
    """Numerator × scale and denominator of each slot; None where there are no such columns, or it is no figure of slots."""
    wanted = (*metric.numerator, *((metric.denominator,) if metric.denominator else ()))
    if not metric.numerator or any(name not in columns for name in wanted):
        return None
    over = np.sum([floats(columns[name]) for name in metric.numerator], axis=0) * metric.scale
    under = floats(columns[metric.denominator]) if metric.denominator else np.ones_like(over)
    return over, under
