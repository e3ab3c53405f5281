"""Output of sysbench 0.4 to 1.1: totals, the report of every few seconds, and the plans that the reference's scripts print."""

import re

from dbversus.importing.lines import Text
from dbversus.importing.model import Metric, Sheet, Source
from dbversus.importing.names import run_file

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_THREADS = re.compile(r"Number of threads: (\d+)")
_INTERVAL = re.compile(r"\[\s*(\d+)s\s*\]\s*(.*)")
_SERIES = re.compile(r"([a-z]+(?:/s)?|response time|lat \(ms,(\d+)%\)|\(r/w/o):\s*([\d./]+)(?:ms)?(?:\s*\((\d+)%\))?")
_PERCENTILE = re.compile(r"(?:approx\.)?\s*(\d+)(?:st|nd|rd|th)?\s+percentile$")
_CPUS = re.compile(r"(\d+) CPUs$")
_FAILED = re.compile(r"(FATAL|ALERT|ERROR)\b")


def _per_s(name: str) -> tuple[Metric, Metric]:
    return Metric(name, ""), Metric(f"{name}_per_s", "1/s")


# words before the colon → the figures after it, in order
_FIGURES: dict[str, tuple[Metric, ...]] = {
    "Number of threads": (Metric("threads", ""),),
    "Warmup time": (Metric("warmup", "s"),),
    "read": (Metric("read_queries", ""),),
    "write": (Metric("write_queries", ""),),
    "other": (Metric("other_queries", ""),),
    "total": (Metric("all_queries", ""),),
    "transactions": _per_s("transactions"),
    "queries": _per_s("queries"),
    "deadlocks": _per_s("deadlocks"),
    "read/write requests": _per_s("read_write_requests"),
    "other operations": _per_s("other_operations"),
    "ignored errors": _per_s("ignored_errors"),
    "reconnects": _per_s("reconnects"),
    "events/s (eps)": (Metric("events_per_s", "1/s"),),
    "time elapsed": (Metric("elapsed", "s"),),
    "total time": (Metric("elapsed", "s"),),
    "total number of events": (Metric("events", ""),),
    "total time taken by event execution": (Metric("latency_sum", "s"),),
    "min": (Metric("latency_min", "ms"),),
    "avg": (Metric("latency_mean", "ms"),),
    "max": (Metric("latency_max", "ms"),),
    "sum": (Metric("latency_sum", "ms"),),
    "events (avg/stddev)": (Metric("thread_events_mean", ""), Metric("thread_events_sd", "")),
    "execution time (avg/stddev)": (Metric("thread_time_mean", "s"), Metric("thread_time_sd", "s")),
}
_LAST = "execution time (avg/stddev)"
_TITLES = (
    *("SQL statistics", "OLTP test statistics", "queries performed", "Throughput", "Latency (ms)", "Threads fairness"),
    *(
        "Test execution summary",
        "General statistics",
        "response time",
        "per-request statistics",
        "Initializing",
        "Done.",
    ),
    *("Running the test with following options", "Threads started", "Random number generator seed", "Test options"),
)
_SILENT = frozenset(
    (
        *("", "SQL statistics:", "    queries performed:", "Throughput:", "Latency (ms):", "Threads fairness:"),
        *("Running the test with following options:", "Initializing worker threads...", "General statistics:"),
    )
)
"""Lines of most runs that say nothing."""
_PLAN = ("explain", "for", "table ", "\t", "    ", "->")
_RUNS, _STARTED = "Running the test with following options", "Threads started"
_NOTES = (
    "sysbench ",
    "WARNING",
    "Warming up",
    "Report intermediate",
    "Initializing random",
    "Creating",
    "Inserting",
    "Doing",
    "Using",
)
_SERIES_NAMES = {"thds": "threads", "response time": "latency", "(r/w/o": "queries_rwo"}


def fits(name: str, head: str) -> bool:
    return "sysbench" in head and (_RUNS in head or "\nsysbench " in f"\n{head}")


def read(source: Source, text: Text, sheet: Sheet) -> str:
    known = run_file(source.name)
    clients = known.clients if known else None
    if clients is None and (threads := _THREADS.search(text.head)):
        clients = int(threads[1])
    place = sheet.place_of(known.test if known else test_name(source.name), source.folder, clients)
    problem, last, started = "", False, False
    for number, line in text:
        if line in _SILENT:
            continue
        words, _, rest = line.partition(":")
        key = words.strip()
        metrics = _FIGURES.get(key)
        if metrics and rest:
            last = last or key == _LAST
            found = [rest.strip(" ms")] if len(metrics) == 1 else _NUMBER.findall(rest)
            if len(found) == len(metrics):
                for metric, value in zip(metrics, found, strict=True):
                    sheet.add(place, metric, number, value)
            else:
                sheet.unknown(number, line)
        else:
            started = started or key.startswith(_STARTED)
            said = _other(line, key, number, place, sheet, before_start=not started)
            problem = problem or said
    if problem:
        return problem
    return "" if last or _RUNS not in text.head else f"cut off after line {text.last_line}: it has no totals"


def test_name(name: str) -> str:
    """Of a file that follows no convention: its name without what only tells that it is a text."""
    return re.sub(r"\.(txt|log|out)$", "", name)


def _other(line: str, key: str, number: int, place: int, sheet: Sheet, *, before_start: bool) -> str:
    """A line that is no total; the words of an error that ended the run, else nothing."""
    if line.startswith("["):
        _read_interval(line, number, place, sheet)
    elif percentile := _PERCENTILE.match(key):
        value = line.partition(":")[2].strip().removesuffix("ms")
        sheet.add(place, Metric(f"latency_p{percentile[1]}", "ms"), number, value)
    elif cpus := _CPUS.match(line):
        sheet.add(place, Metric("host_cpus", ""), number, cpus[1])
    elif _FAILED.match(line):
        sheet.keep(number, line, "error")
        return f"line {number}: {line.strip()}"
    elif before_start and line.startswith(_PLAN):
        sheet.keep(number, line, "plan")
    elif "sysbench" in line and "--" in line:
        sheet.keep(number, line, "command")
    elif line.startswith(_NOTES):
        sheet.keep(number, line, "note")
    elif not key.startswith(_TITLES):
        sheet.unknown(number, line)
    return ""


def _read_interval(line: str, number: int, place: int, sheet: Sheet) -> None:
    """`[ 10s ] thds: 8 tps: 99.2 qps: 1984.1 (r/w/o: 1389/396/198) lat (ms,95%): 12.3 err/s: 0.00`."""
    interval = _INTERVAL.match(line)
    found = list(_SERIES.finditer(interval[2])) if interval else []
    if not interval or not found:
        sheet.unknown(number, line)
        return
    second = float(interval[1])
    for match in found:
        words, percent, value, percent_after = match.groups()
        name = _SERIES_NAMES.get(words, "latency" if words.startswith("lat ") else words)
        if name == "queries_rwo":
            for kind, part in zip(("read", "write", "other"), value.split("/"), strict=False):
                sheet.add(place, Metric(f"{kind}_queries_per_s", "1/s"), number, part, second)
        elif name == "latency":
            sheet.add(place, Metric(f"latency_p{percent or percent_after}", "ms"), number, value, second)
        else:
            sheet.add(place, Metric(name, "" if name == "threads" else "1/s"), number, value, second)
