"""Names of the metrics that can make verdicts, short and full. Imports next to nothing: the command line reads it for help."""

from collections.abc import Iterable, Mapping

from dbversus.names import split_names

CPU = "server_cpu_us_per_op"
THROUGHPUT = "throughput_ops_per_s"
IO_BYTES = "io_bytes_per_op"
MEAN = "latency_mean_us"
P50 = "latency_p50_us"
P95 = "latency_p95_us"
P99 = "latency_p99_us"

JUDGEABLE: Mapping[str, str] = {
    "cpu": CPU,
    "throughput": THROUGHPUT,
    "io": IO_BYTES,
    "mean": MEAN,
    "p50": P50,
    "p95": P95,
    "p99": P99,
}
"""Short name, as in `--judge` and in experiment files, → name of the metric; in the order in which reports show them."""

USUAL = ("cpu", "throughput", "io")
"""What makes verdicts where nothing else was asked for."""

RESPONSE_TIMES = frozenset({MEAN, P50, P95, P99})

PERCENTS: Mapping[str, float] = {P95: 95.0, P99: 99.0}
"""Percentiles that are taken of all operations of a block: the percentage of them that stays at or below."""


def named(texts: Iterable[str]) -> list[str]:
    """Short names as given, each perhaps several with commas between, once each and in the usual order.

    Raises ValueError, without a full stop, for an unknown one and for none.
    """
    asked = [name for text in texts for name in split_names(text)]
    accepted = ", ".join(JUDGEABLE)
    if unknown := [name for name in asked if name not in JUDGEABLE]:
        raise ValueError(f"unknown metric '{unknown[0]}'; accepted: {accepted}")
    if not asked:
        raise ValueError(f"no metric is named; name one or more of: {accepted}")
    return [name for name in JUDGEABLE if name in asked]
