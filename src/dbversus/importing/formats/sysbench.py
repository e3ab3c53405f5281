"""Output of sysbench 0.4 to 1.1: totals, the report of every few seconds, and the plans that the reference's scripts print."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dbversus.importing.lines import Text
from dbversus.importing.model import UNKNOWN_LINE, Metric, Sheet, Source, remembered
from dbversus.importing.names import run_file

_THREADS = re.compile(r"Number of threads: (\d+)")
_INTERVAL = re.compile(r"\[\s*(\d+)s\s*\]\s*(.*)")
_SERIES = re.compile(
    r"((?:err|reconn)/s|[a-z]+(?:/s)?|response time|lat \(ms,(\d+)%\)|\(r/w/o):?\s*([\d./]+)(?:ms)?(?:\s*\((\d+)%\))?"
)
_VERSION = re.compile(r"^sysbench v?\d", re.MULTILINE)
"""A script that calls sysbench has no version."""
_DAY = r"(?:19|20)\d\d(-?)(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12]\d|3[01])"
_CLOCK = r"(?:[01]\d|2[0-3])([-:.h]?)[0-5]\d(?:\2[0-5]\d)?"
_TIME = re.compile(rf"(?<!\d)[._-]?{_DAY}(?:[T_.-]?{_CLOCK}(?:\.\d+)?Z?)?(?!\d)")
"""`20250815_130329`, `2025-08-15T13:03:29`, or the day alone."""
_BETWEEN_NUMBERS = str.maketrans("/()", "   ")


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
    "events per second": (Metric("events_per_s", "1/s"),),
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
_LAST, _OF_THREADS = _FIGURES["execution time (avg/stddev)"], _FIGURES["Number of threads"]
_INDENTED = {" " * spaces + name: metrics for name, metrics in _FIGURES.items() for spaces in (0, 4, 8, 9)}
"""As sysbench prints them: most lines need no strip."""
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
_RUNS_LINE = f"{_RUNS}:"
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
    "Prime numbers limit",
    "CPU speed",
)


def _kinds(plan: Sequence[str]) -> re.Pattern[str]:
    """What lines are that have no total: the last group that matches is named after it. `plan`: how lines of plans begin."""

    def begins(texts: Sequence[str]) -> str:
        return "|".join(map(re.escape, texts)) or r"(?!)"

    return re.compile(
        r"(?P<interval>\[)"
        r"|(?P<percentile>\s*(?:approx\.)?\s*(?P<percent>\d+)(?:st|nd|rd|th)?\s+percentile\s*(?::(?P<value>.*)|$))"
        r"|(?P<histogram>\s*(?:Latency histogram|value  -+ distribution|\d+\.\d+ \|))"
        r"|(?P<cpus>(?P<count>\d+) CPUs$)"
        r"|(?P<error>(?:FATAL|ALERT|ERROR)\b)"
        rf"|(?P<plan>{begins(plan)})|(?P<note>{begins(_NOTES)})|(?P<title>\s*(?:{begins(_TITLES)}))"
    )


_BEFORE_START, _AFTER_START = _kinds(_PLAN), _kinds(())
_SERIES_NAMES = {"thds": "threads", "response time": "latency", "(r/w/o": "queries_rwo"}


def fits(name: str, head: str) -> bool:
    return "sysbench" in head and (_RUNS in head or bool(_VERSION.search(head)))


@dataclass
class _Runs:
    """The runs of a file: where the figures of the one that is being read belong, and whether it has its totals."""

    source: Source
    sheet: Sheet
    test: str
    clients: int | None
    place: int
    numbers: dict[int | None, int]
    begun: bool = False
    whole: bool = True
    ended: bool = False

    def begin(self) -> None:
        """Its clients are told in the line after this."""
        self.whole = self.whole and (self.ended or not self.begun)
        self.begun, self.ended = True, False

    def has_clients(self, clients: int | None) -> None:
        number = self.numbers[clients] = self.numbers.get(clients, 0) + 1
        self.place = self.sheet.run_of(self.source, self.test, clients, number)


def read(source: Source, text: Text, sheet: Sheet) -> str:
    known = run_file(source.name)
    test, clients = (known.test, known.clients) if known else (test_name(source.name), None)
    told = _THREADS.search(text.head)
    first = clients if clients or not told else int(told[1])
    runs = _Runs(source, sheet, test, clients, sheet.run_of(source, test, first), {})
    problem, started = "", False
    for number, line in text:
        if line in _SILENT and line != _RUNS_LINE:
            continue
        words, _, rest = line.partition(":")
        metrics = _INDENTED.get(words) or _FIGURES.get(words.strip())
        if metrics and rest:
            if metrics is _OF_THREADS and rest.strip().isdecimal():
                runs.has_clients(runs.clients or int(rest))
            runs.ended = runs.ended or metrics is _LAST
            _read_total(line, rest, number, metrics, runs.place, sheet)
        elif line.startswith(_RUNS):
            runs.begin()
            started = False
        else:
            started = started or line.lstrip().startswith(_STARTED)
            said = _other(line, started, number, runs.place, sheet)
            problem = problem or said
    if problem:
        return problem
    runs.begin()
    return "" if runs.whole else f"cut off after line {text.last_line}: it has no totals"


def test_name(name: str) -> str:
    """Of a file that follows no convention: its name without when it was run, and what only tells that it is a text."""
    plain = re.sub(r"\.(txt|log|out|json|md)$", "", name)
    return _TIME.sub("", plain).strip("._-") or plain


def _read_total(line: str, rest: str, number: int, metrics: Sequence[Metric], place: int, sheet: Sheet) -> None:
    """`rest`: ` 9609498 (16015.82 per sec.)`, ` 598.8126/0.00` or ` 0.05ms`, for as many metrics as it has numbers."""
    if len(metrics) == 1:
        sheet.add(place, metrics[0], number, rest.strip(" ms"))
        return
    values = rest.translate(_BETWEEN_NUMBERS).split()
    if len(values) < len(metrics):
        sheet.unknown(number, line)
        return
    for metric, value in zip(metrics, values, strict=False):
        sheet.add(place, metric, number, value)


def _other(line: str, started: bool, number: int, place: int, sheet: Sheet) -> str:
    """A line that is no total; the words of an error that ended the run, else nothing."""
    kind, percent, value = _after_start(line) if started else _before_start(line)
    if kind == "interval":
        _read_interval(line, number, place, sheet)
    elif kind == "percentile":
        sheet.add(place, Metric(f"latency_p{percent}", "ms"), number, value)
    elif kind == "cpus":
        sheet.add(place, Metric("host_cpus", ""), number, value)
    elif kind != "title":
        sheet.keep(number, line, kind)
        return f"line {number}: {line.strip()}" if kind == "error" else ""
    return ""


@remembered
def _before_start(line: str) -> tuple[str, str, str]:
    return _kind_of(line, _BEFORE_START)


@remembered
def _after_start(line: str) -> tuple[str, str, str]:
    return _kind_of(line, _AFTER_START)


def _kind_of(line: str, kinds: re.Pattern[str]) -> tuple[str, str, str]:
    """What a line is that has no total; of a percentile which and what, of CPUs how many."""
    found = kinds.match(line)
    kind = found.lastgroup if found else None
    if kind in (None, "note", "title") and "sysbench" in line and "--" in line:
        return "command", "", ""
    if found is None or kind is None:
        return UNKNOWN_LINE, "", ""
    value = found["count"] if kind == "cpus" else (found["value"] or "").strip().removesuffix("ms")
    return kind, found["percent"] or "", value


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
