"""What pgbench prints, of one run or of several: totals, progress (`-P`), scripts, and latencies of statements (`-r`)."""

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from dbversus.importing.formats.sysbench import test_name
from dbversus.importing.lines import Text
from dbversus.importing.model import UNKNOWN_LINE, Metric, Sheet, Source

_NUMBER = r"(-?\d+(?:\.\d+)?|-?nan)"
Pattern = tuple[re.Pattern[str], tuple[Metric, ...]]


def _patterns(*lines: tuple[str, *tuple[tuple[str, str], ...]]) -> tuple[Pattern, ...]:
    """Each as (pattern with # for numbers, metrics of these in order)."""
    return tuple(
        (re.compile(pattern.replace("#", _NUMBER)), tuple(Metric(*metric) for metric in metrics))
        for pattern, *metrics in lines
    )


# of a run, and of each of its scripts
_COUNTS = _patterns(
    (r"number of failed transactions: # \(#%\)", ("transactions_failed", ""), ("transactions_failed", "%")),
    (r"number of serialization failures: # \(#%\)", ("serialization_failures", ""), ("serialization_failures", "%")),
    (r"number of deadlock failures: # \(#%\)", ("deadlock_failures", ""), ("deadlock_failures", "%")),
    (r"number of other failures: # \(#%\)", ("other_failures", ""), ("other_failures", "%")),
    (r"number of transactions retried: # \(#%\)", ("transactions_retried", ""), ("transactions_retried", "%")),
    (r"total number of retries: #", ("retries", "")),
    (r"number of transactions skipped: # \(#%\)", ("transactions_skipped", ""), ("transactions_skipped", "%")),
    (
        r"number of transactions above the # ms latency limit: #(?:/#)? \(#%\)",
        *(("latency_limit", "ms"), ("transactions_late", ""), ("transactions_limited", ""), ("transactions_late", "%")),
    ),
    (r"latency average(?: =|:) # ms(?: \(including failures\))?", ("latency_mean", "ms")),
    (r"latency stddev(?: =|:) # ms", ("latency_sd", "ms")),
)
_OF_RUN = _COUNTS + _patterns(
    (r"scaling factor: #", ("scale", "")),
    (r"partitions: #", ("partitions", "")),
    (r"number of clients: #", ("threads", "")),
    (r"number of threads: #", ("pgbench_threads", "")),
    (r"maximum number of tries: #", ("most_tries", "")),
    (r"duration: # s", ("duration", "s")),
    (r"number of transactions per client: #", ("transactions_per_client", "")),
    (r"number of transactions actually processed: #(?:/#)?", ("transactions", ""), ("transactions_asked", "")),
    (r"rate limit schedule lag: avg # \(max #\) ms", ("lag_mean", "ms"), ("lag_max", "ms")),
    (r"initial connection time = # ms", ("connection_time", "ms")),
    (r"average connection time = # ms", ("connection_time_mean", "ms")),
    (r"tps = # \((?:without initial connection time|excluding connections establishing|including reconnection times)\)",
     ("transactions_per_s", "1/s")),
    (r"tps = # \(including connections establishing\)", ("transactions_per_s_with_connecting", "1/s")),
)  # fmt: skip
_OF_SCRIPT = _COUNTS + _patterns(
    (r"weight: # \(targets #% of total\)", ("weight", ""), ("share_asked", "%")),
    (
        r"# transactions \(#% of total(?:, tps = #)?\)",
        *(("transactions", ""), ("share", "%"), ("transactions_per_s", "1/s")),
    ),
)
_PROGRESS = re.compile(rf"progress: {_NUMBER} s, {_NUMBER} tps, (.*)")
_OF_PROGRESS = _patterns(
    (r"lat # ms stddev #", ("latency_mean", "ms"), ("latency_sd", "ms")),
    (r"lat # ms", ("latency_mean", "ms")),
    (r"lag # ms", ("lag_mean", "ms")),
    *((rf"# {word}", (word, "")) for word in ("failed", "skipped", "retried", "retries")),
)
_STATEMENT = re.compile(r"\s+(\d+\.\d+)(?:\s+(\d+))?(?:\s+(\d+))?\s\s*(\D.*)")
_EPOCH_S = 1e8
"""Progress lines later than that have the time of day, not that of the run."""
_SCRIPT = re.compile(r"SQL script (\d+): (.*)")
_ABOUT = re.compile(r"(transaction type|query mode|scaling factor|number of clients): (.*)")
_TPS = "tps = "
_BEGINNINGS = ("pgbench (", "starting vacuum", "progress: ", "transaction type: ", "scaling factor: ")
_FAILED = re.compile(r"pgbench: (?:error|fatal):|Run was aborted|client \d+ .*aborted", re.IGNORECASE)
_NOTES = (
    *("pgbench", "starting vacuum", "transaction type", "query mode", "partition method", "script statistics", "statement lat"),
    *("dropping old tables", "creating ", "generating data", "vacuuming", "done in ", "done."),
    *("set primary key", " - statement lat"),
)  # fmt: skip
_TUPLES = re.compile(r"\d+ of \d+ tuples")
_LONGEST_STATEMENT = 80
_NOT_IN_NAMES = re.compile(r"[^\w.+-]+")


def fits(name: str, head: str) -> bool:
    return head.startswith(("pgbench (", "pgbench: ")) or any(
        words in head for words in ("number of transactions actually processed: ", " tps, lat ", "query mode: ")
    )


Figure = tuple[Metric, int, str, float]
"""Metric, line, value as printed, and its second."""


@dataclass
class _Run:
    """Of one run: figures by script (empty: the whole run), and `about`: what it says of itself, by pgbench's words."""

    about: dict[str, str] = field(default_factory=dict)
    figures: dict[str, list[Figure]] = field(default_factory=dict)
    script: str = ""
    statements: int = 0
    first_s: float = math.nan
    ended: bool = False

    def add(self, metric: Metric, line: int, value: str, second: float = math.nan) -> None:
        self.figures.setdefault(self.script, []).append((metric, line, value, second))

    @property
    def has_progress(self) -> bool:
        return any(not math.isnan(second) for *_, second in self.figures.get("", []))

    @property
    def has_only_progress(self) -> bool:
        return not self.ended and all(not math.isnan(second) for of in self.figures.values() for *_, second in of)

    @property
    def clients(self) -> int | None:
        text = self.about.get("number of clients", "")
        return int(text) if text.isdecimal() else None


def read(source: Source, text: Text, sheet: Sheet) -> str:
    runs = [_Run()]
    failure = ""
    for number, line in text:
        if runs[-1].ended and line.startswith(_BEGINNINGS):
            runs.append(_Run())
        kind = _read_line(runs[-1], number, line)
        if kind:
            sheet.keep(number, line, kind)
        if kind == "error":
            failure = failure or f"line {number}: {line.strip()}"
    begun = runs[-1]
    runs = _with_progress([run for run in runs if run.figures])
    _enter(source, runs, sheet)
    if failure:
        return failure
    whole = all(run.ended for run in runs) and not (begun.about and not begun.ended)
    return "" if whole else f"cut off after line {text.last_line}: it has no tps"


def _with_progress(runs: list[_Run]) -> list[_Run]:
    """Progress is printed to another stream: where it follows the totals, it is of the run before."""
    if len(runs) < 2 or runs[0].has_progress or not runs[-1].has_only_progress:
        return runs
    for run, after in itertools.pairwise(runs):
        progress = [figure for figure in after.figures.get("", []) if not math.isnan(figure[3])]
        after.figures[""] = [figure for figure in after.figures.get("", []) if math.isnan(figure[3])]
        run.figures.setdefault("", []).extend(progress)
    return runs[:-1]


def _read_line(run: _Run, number: int, line: str) -> str:
    """Enters its figures; kind by which the line is kept, empty: it is all figures."""
    line = line.rstrip()
    if not line:
        return ""
    if about := _ABOUT.fullmatch(line):
        run.about[about[1]] = about[2]
    if progress := _PROGRESS.fullmatch(line):
        return _read_progress(run, number, progress)
    if _FAILED.search(line):
        return "error"
    if script := _SCRIPT.fullmatch(line):
        run.script, run.statements = _script_name(run, script[2], script[1]), 0
        return "note"
    patterns, told = (_OF_SCRIPT, line[3:]) if line.startswith(" - ") else (_OF_RUN, line)
    if not line.startswith(" - ") and line.startswith(("transaction type", "scaling factor")):
        run.script = ""
    if _enter_matched(run, number, told, patterns):
        run.ended = run.ended or line.startswith(_TPS)
        return ""
    if run.ended and (statement := _STATEMENT.fullmatch(line)):
        _read_statement(run, number, statement)
        return "statement"
    return "note" if line.startswith(_NOTES) or _TUPLES.match(line) else UNKNOWN_LINE


def _enter_matched(run: _Run, number: int, text: str, patterns: Sequence[Pattern], second: float = math.nan) -> bool:
    for pattern, metrics in patterns:
        if match := pattern.fullmatch(text):
            for metric, value in zip(metrics, match.groups(), strict=True):
                if value is not None:
                    run.add(metric, number, value, second)
            return True
    return False


def _read_progress(run: _Run, number: int, progress: re.Match[str]) -> str:
    """`progress: 5.0 s, 1000.0 tps, lat 8.000 ms stddev 1.000, lag 0.1 ms, 3 skipped, 0 failed`."""
    moment_s = float(progress[1])
    if math.isnan(run.first_s):
        run.first_s = moment_s if moment_s > _EPOCH_S else 0.0
    second = moment_s - run.first_s
    run.add(Metric("elapsed", "s"), number, progress[1], second)
    run.add(Metric("tps", "1/s"), number, progress[2], second)
    known = [_enter_matched(run, number, part, _OF_PROGRESS, second) for part in progress[3].split(", ")]
    return "" if all(known) else UNKNOWN_LINE


def _read_statement(run: _Run, number: int, statement: re.Match[str]) -> None:
    """`0.123  5  UPDATE …`: mean latency in ms, failures and retries where these were counted, text."""
    run.statements += 1
    latency, *counts, text = statement.groups()
    shown = " ".join(text.split())[:_LONGEST_STATEMENT]
    name = f"statement {run.statements}"
    run.add(Metric(f"{name}: {shown}", "ms"), number, latency)
    for what, value in zip(("failures", "retries"), counts, strict=True):
        if value is not None:
            run.add(Metric(f"{name}, {what}", ""), number, value)


def _script_name(run: _Run, text: str, number: str) -> str:
    name = _short(text)
    return f"{name}-{number}" if name in run.figures else name


def _short(text: str) -> str:
    """`<builtin: select only>` → select-only; `scripts/order.sql` → order."""
    text = re.sub(r"<builtin: (.*)>", r"\1", text)
    return _NOT_IN_NAMES.sub("-", PurePath(text).name.removesuffix(".sql")).strip("-").lower()


def _enter(source: Source, runs: Sequence[_Run], sheet: Sheet) -> None:
    """Runs that differ in what they do, in size or mode are several tests; clients tell others apart."""
    numbers: dict[tuple[str, int | None], int] = {}
    for run, added in zip(runs, _told_apart(runs), strict=True):
        test = ".".join([source.test or test_name(source.name), *added])
        number = numbers[test, run.clients] = numbers.get((test, run.clients), 0) + 1
        for script, figures in run.figures.items():
            of_script = f"{test}.{script}" if script else test
            place = sheet.place_of(of_script, source.target, run.clients, run=number)
            for metric, line, value, second in figures:
                sheet.add(place, metric, line, value, second)


def _told_apart(runs: Sequence[_Run]) -> Iterator[list[str]]:
    """What has to be added to the name of each run's test: that in which the runs differ."""
    words = {"transaction type": "{}", "scaling factor": "scale{}", "query mode": "{}"}
    differing = [what for what in words if len({run.about.get(what) for run in runs}) > 1]
    for run in runs:
        yield [words[what].format(_short(run.about[what])) for what in differing if what in run.about]
