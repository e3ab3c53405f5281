"""Figures of imported runs as values of our metrics, where they are the same thing, and what they say without replication."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from dbversus.results.records import Imported
from dbversus.results.schema import MILLION_ROWS, PER_THOUSAND_ROWS, THOUSAND_ROWS
from dbversus.results.stored import Results
from dbversus.results.tables.imported import Value, imported_values
from dbversus.stats.judgeable import JUDGEABLE, MEAN, P50, P95, P99, THROUGHPUT
from dbversus.stats.judged import judged_names
from dbversus.stats.metrics import DISK_READ_BYTES, DISK_READS, DISK_WRITE_BYTES, metric_named
from dbversus.stats.model import Finding, Metric, Verdict

MACHINE_CPU_SHARE = Metric(
    "machine_cpu_percent_s_per_op", "CPU of machine and client per op", "%·s/op", False, False, 0.05
)
MACHINE_CPU = Metric("machine_cpu_us_per_op", "CPU of machine and client per op", "µs/op", False, False, 0.05)
MACHINE_SWITCHES = Metric(
    "machine_switches_per_op", "context switches of the machine per op", "1/op", False, False, 0.05
)
WRITTEN_PER_ROW = Metric("written_kb_per_row", "written per inserted row", "KB/row", False, False, 0.05)
OF_MACHINE = (MACHINE_CPU_SHARE, MACHINE_CPU, MACHINE_SWITCHES, WRITTEN_PER_ROW)
"""What the reference counts of the whole machine; ours are of the server alone."""
IN_IMPORTS = (*OF_MACHINE, metric_named(P95), metric_named(P99))
"""Figures that reports show of imports besides the usual ones."""
CONFIDENCE = 0.95
_MUCH = 1.25
"""Runs of one target that differ by more are hardly repetitions of one thing."""


@dataclass(frozen=True)
class _Origin:
    """A figure of a source by its name and unit; times `factor` it is in the unit of our metric."""

    metric: str
    unit: str
    factor: float = 1.0


def _times(percentile: str) -> tuple[_Origin, ...]:
    return _Origin(percentile, "ms", 1e3), _Origin(percentile, "µs")


def _per_op(name: str, amount: str, factor: float = 1.0) -> tuple[_Origin, ...]:
    """Of a scan, also for each thousand of rows."""
    return _Origin(name, f"{amount}/op", factor), _Origin(name, amount + PER_THOUSAND_ROWS, factor / 1e3)


def _rows_of_scans(rate: str) -> tuple[_Origin, ...]:
    return _Origin(rate, MILLION_ROWS, 1e6), _Origin(rate, THOUSAND_ROWS, 1e3)


# metric → where it comes from, the first that all targets of a test have; a rate of 0 is none: what has no queries inserts rows
_ORIGINS: Mapping[str, tuple[_Origin, ...]] = {
    THROUGHPUT: (
        _Origin("qps", "1/s"),
        *_rows_of_scans("qps"),
        _Origin("qps", "rows/s"),
        _Origin("ips", "rows/s"),
        *_rows_of_scans("o/s"),
        _Origin("o/s", "1/s"),
        _Origin("queries_per_s", "1/s"),
        _Origin("throughput", "1/s"),
        _Origin("transactions_per_s", "1/s"),
        _Origin("events_per_s", "1/s"),
        _Origin("new_orders_per_min", "1/min", 1 / 60),
    ),
    MEAN: _times("latency_mean"),
    P50: _times("latency_p50"),
    P95: _times("latency_p95"),
    P99: _times("latency_p99"),
    DISK_READS: (*_per_op("r/o", "1"), _Origin("rpq", "1/op")),
    DISK_READ_BYTES: (*_per_op("rKB/o", "KB", 1024), _Origin("rkbpq", "KB/op", 1024)),
    DISK_WRITE_BYTES: _per_op("wKB/o", "KB", 1024),
    MACHINE_CPU_SHARE.name: _per_op("cpu/o", "%·s"),
    MACHINE_CPU.name: (_Origin("cpupq", "µs/op"),),
    MACHINE_SWITCHES.name: (*_per_op("cs/o", "1"), _Origin("cspq", "1/op")),
    WRITTEN_PER_ROW.name: (_Origin("wkbpi", "KB/row"),),
}
_NAMES = sorted({origin.metric for origins in _ORIGINS.values() for origin in origins})
_OURS = {metric.name: metric for metric in OF_MACHINE}

_Printed = dict[tuple[str, str], list[float]]
"""(metric, unit) of a source → its value in each run."""
OfRuns = dict[tuple[str, str], dict[str, list[float]]]
"""(case, target label) → metric → its value in each run."""


def is_imported(results: Results) -> bool:
    return bool(results.of_type(Imported))


def run_values(results: Results) -> OfRuns:
    """What the runs of an import say of our metrics."""
    printed = _printed(results)
    origins = _origins_of_cases(printed)
    return {place: _ours(known, origins[place[0]]) for place, known in printed.items()}


def scans_of_rows(results: Results) -> set[str]:
    """Cases whose rate is one of rows that were read."""
    of_scans = {origin for rate in ("qps", "o/s") for origin in _rows_of_scans(rate)}
    origins = _origins_of_cases(_printed(results))
    return {case for case, of_metrics in origins.items() if of_scans.issuperset(of_metrics[THROUGHPUT])}


def _printed(results: Results) -> dict[tuple[str, str], _Printed]:
    several = len(results.header.clients) > 1
    printed: dict[tuple[str, str], _Printed] = {}
    for value in imported_values(results.directory, _NAMES):
        place = _case(value, several), results.relabelled.get(value.target, value.target)
        printed.setdefault(place, {}).setdefault((value.metric, value.unit), []).append(value.value)
    return printed


def _origins_of_cases(printed: Mapping[tuple[str, str], _Printed]) -> dict[str, Mapping[str, tuple[_Origin, ...]]]:
    by_case: dict[str, list[_Printed]] = {}
    for (case, _), known in printed.items():
        by_case.setdefault(case, []).append(known)
    return {case: _origins(of_targets) for case, of_targets in by_case.items()}


def _case(value: Value, several: bool) -> str:
    return f"{value.test}@{value.clients}" if several and value.clients is not None else value.test


def _origins(of_targets: Sequence[_Printed]) -> dict[str, tuple[_Origin, ...]]:
    """Metric → the origin that all targets of a case share, else all of them: a ratio of rows to scans tells nothing."""
    found = {}
    for name, origins in _ORIGINS.items():
        having = [known for known in of_targets if any(_said(known, origin, name) for origin in origins)]
        shared = (one for one in origins if all(_said(known, one, name) for known in having))
        first = next(shared, None) if having else None
        found[name] = origins if first is None else (first,)
    return found


def _said(known: _Printed, origin: _Origin, name: str) -> bool:
    values = known.get((origin.metric, origin.unit), ())
    return any(values) or bool(values and name != THROUGHPUT)


def _ours(known: _Printed, origins: Mapping[str, tuple[_Origin, ...]]) -> dict[str, list[float]]:
    found = {}
    for name, of_metric in origins.items():
        if origin := next((one for one in of_metric if _said(known, one, name)), None):
            found[name] = [value * origin.factor for value in known[origin.metric, origin.unit]]
    return found


def imported_findings(results: Results) -> list[Finding]:
    """The ratio of each target to the base, in each metric that both have: nothing tells how far chance made it.

    None where both amounts lie under the metric's floor, and so count as nothing.
    """
    values = run_values(results)
    judged = {JUDGEABLE[short] for short in judged_names(results.header)}
    found = []
    for test in results.tests:
        of_base = values.get((test, results.base.label), {})
        for target in results.targets[1:]:
            own = values.get((test, target.label), {})
            found += [
                _finding(test, target.label, name, own[name], of_base[name], name in judged)
                for name in _ORIGINS
                if own.get(name) and any(of_base.get(name, ())) and _is_much(name, own[name], of_base[name])
            ]
    return found


def _metric(name: str) -> Metric:
    return _OURS.get(name) or metric_named(name)


def _is_much(name: str, *targets: Sequence[float]) -> bool:
    return max(map(fmean, targets)) > _metric(name).floor


def _finding(
    test: str, target: str, name: str, own: Sequence[float], of_base: Sequence[float], judged: bool
) -> Finding:
    metric = _metric(name)
    runs = max(len(own), len(of_base))
    return Finding(
        test=test,
        target=target,
        metric=name,
        verdict=Verdict.NOT_REPLICATED,
        ratio=fmean(own) / fmean(of_base),
        low=None,
        high=None,
        confidence=CONFIDENCE,
        blocks=0,
        p_value=None,
        q_value=None,
        margin=metric.margin,
        smallest_visible_change=None,
        block_sd=None,
        degrees_of_freedom=None,
        note="one run of each"
        if runs == 1
        else f"means of up to {runs} runs, which took no turns{_spread(own, of_base)}",
        judged=judged,
        higher_is_better=metric.higher_is_better,
    )


def _spread(*targets: Sequence[float]) -> str:
    """How far the runs of one target differ, where that is much."""
    widest = max((max(values) / min(values) for values in targets if min(values) > 0), default=1.0)
    return f" and differ by up to ×{widest:.1f}" if widest >= _MUCH else ""
