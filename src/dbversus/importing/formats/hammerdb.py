"""Logs of HammerDB (TPROC-C and TPROC-H), also what `jobs … result` prints; all lines without a result are kept."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import geometric_mean

from dbversus.importing.formats.sysbench import test_name
from dbversus.importing.lines import Text
from dbversus.importing.model import Metric, Sheet, Source

NOPM, TPM = Metric("new_orders_per_min", "1/min"), Metric("transactions_per_min", "1/min")
USERS, MINUTES = Metric("virtual_users", ""), Metric("duration", "min")
SETS, SETS_TIME = Metric("query_sets", ""), Metric("query_sets_time", "s")
QUERIES, QUERY_MEAN = Metric("queries", ""), Metric("query_time_geometric_mean", "s")
QUERIES_PER_S = Metric("queries_per_s", "1/s")
_NUMBER = r"(\d+(?:\.\d+)?)"
_RESULT = re.compile(rf"TEST RESULT : System achieved {_NUMBER} NOPM from {_NUMBER} .+? TPM")
_RESULT_BEFORE_4 = re.compile(rf"TEST RESULT : System achieved {_NUMBER} .+? TPM at {_NUMBER} NOPM")
_USERS = re.compile(r"(\d+) Active Virtual Users configured")
_MINUTES = re.compile(r"Timing test period of (\d+) in minutes")
# pattern → metrics of its groups, in order
_OF_TPROC_C: tuple[tuple[re.Pattern[str], tuple[Metric, ...]], ...] = (
    (_RESULT, (NOPM, TPM)),
    (_RESULT_BEFORE_4, (TPM, NOPM)),
    (_USERS, (USERS,)),
    (_MINUTES, (MINUTES,)),
)
_QUERY = re.compile(rf"query (\d+) completed in {_NUMBER} seconds")
_SETS = re.compile(rf"Completed (\d+) query set\(s\) in {_NUMBER} seconds")
_MEAN = re.compile(rf"Geometric mean of query times returning rows \((\d+)\) is \W?{_NUMBER}")
_PROCEDURE = re.compile(r">+ PROC: (\w+)")
_TIMES = re.compile(r"\b([A-Z]+\d*): (\d+(?:\.\d+)?)(ms|%|)")
_USER = re.compile(r"Vuser (\d+):")
_FAILED = re.compile(r"Vuser (\d+):FINISHED FAILED")
_HEADS = ("Vuser ", "HammerDB", "Hammerdb Log")
_RESULTS = ("TEST RESULT : System achieved", "Geometric mean of query times returning rows")


def fits(name: str, head: str) -> bool:
    logged = any(f"\n{words}" in f"\n{head}" for words in _HEADS) and "Vuser" in head
    return logged or any(words in head for words in _RESULTS)


@dataclass
class _Stream:
    """Queries of one virtual user of TPROC-H: how many, in which time, and the mean that it printed last."""

    queries: int = 0
    elapsed_s: float = 0.0
    mean_s: float = 0.0


@dataclass
class _Log:
    """`held`: figures of a run of TPROC-C, whose users are told after the first of them."""

    source: Source
    sheet: Sheet
    held: list[tuple[Metric, int, str]] = field(default_factory=list)
    users: int | None = None
    runs: dict[int | None, int] = field(default_factory=dict)
    streams: dict[str, _Stream] = field(default_factory=dict)
    of_streams: list[tuple[str, Metric, int, str]] = field(default_factory=list)
    procedure: str = ""
    failed: int = 0

    def end_run(self) -> None:
        """A log of several runs has several tests, by their number of users."""
        number = self.runs[self.users] = self.runs.get(self.users, 0) + 1
        place = self.sheet.run_of(self.source, test_name(self.source.name), self.users, number)
        for entry in self.held:
            self.sheet.add(place, *entry)
        self.held = []


def read(source: Source, text: Text, sheet: Sheet) -> str:
    log = _Log(source, sheet)
    for number, line in text:
        if not (_read_run(log, number, line) or _read_stream(log, number, line) or _read_procedure(log, number, line)):
            log.failed += bool(_FAILED.search(line))
            if line.strip():
                sheet.keep(number, line, "log")
    if log.streams:
        _enter_streams(log, text.last_line)
    if log.failed:
        return f"{log.failed} virtual users failed, so the figures are of fewer than were asked for"
    return "" if log.runs else f"cut off after line {text.last_line}: it has no TEST RESULT"


def _read_run(log: _Log, number: int, line: str) -> bool:
    for pattern, metrics in _OF_TPROC_C:
        if match := pattern.search(line):
            if pattern is _USERS:
                log.users = int(match[1])
            log.held += [(metric, number, value) for metric, value in zip(metrics, match.groups(), strict=True)]
            if metrics[0] in (NOPM, TPM):
                log.end_run()
            return True
    return False


def _read_stream(log: _Log, number: int, line: str) -> bool:
    user = _USER.search(line)
    name = user[1] if user else "1"
    patterns: tuple[tuple[re.Pattern[str], tuple[Metric, ...]], ...] = (
        *((_QUERY, ()), (_SETS, (SETS, SETS_TIME)), (_MEAN, (QUERIES, QUERY_MEAN))),
    )
    found = next(((match, metrics) for pattern, metrics in patterns if (match := pattern.search(line))), None)
    if found is None:
        return False
    match, metrics = found
    stream = log.streams.setdefault(name, _Stream())
    if match.re is _QUERY:
        stream.queries += 1
        metrics = (Metric(f"query {match[1]}", "s"),)
    elif match.re is _SETS:
        stream.elapsed_s += float(match[2])
    else:
        stream.mean_s = float(match[2])
    values = match.groups()[-len(metrics) :]
    log.of_streams += [(name, metric, number, value) for metric, value in zip(metrics, values, strict=True)]
    return True


def _enter_streams(log: _Log, number: int) -> None:
    """Of one stream its own figures; of several, those of each under its name, and what they come to together."""
    log.users = len(log.streams)
    one = log.users == 1
    log.held += [
        (metric if one else metric._replace(name=f"{metric.name}, stream {name}"), line, value)
        for name, metric, line, value in log.of_streams
    ]
    streams = list(log.streams.values())
    if not one and all(stream.mean_s for stream in streams):
        log.held.append((QUERY_MEAN, number, f"{geometric_mean(stream.mean_s for stream in streams):.5f}"))
    if all(stream.queries and stream.elapsed_s for stream in streams):
        rate = sum(stream.queries / stream.elapsed_s for stream in streams)
        log.held.append((QUERIES_PER_S, number, f"{rate:.6f}"))
    if any(stream.mean_s or stream.elapsed_s for stream in streams):
        log.end_run()


def _read_procedure(log: _Log, number: int, line: str) -> bool:
    """Of the time profiler, after the result: `>>>>> PROC: NEWORD`, and lines such as `P99: 12.345ms  P95: 10.1ms`."""
    if match := _PROCEDURE.search(line):
        log.procedure = match[1]
        return False
    times: Sequence[tuple[str, str, str]] = _TIMES.findall(line) if log.procedure and log.runs else ()
    if len(times) < 2:
        return False
    number_of_run = log.runs[log.users]
    place = log.sheet.run_of(log.source, test_name(log.source.name), log.users, number_of_run)
    for name, value, unit in times:
        log.sheet.add(place, Metric(f"{log.procedure} {name.lower()}", unit), number, value)
    return True
