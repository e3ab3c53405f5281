"""Logs of pgbench (`-l`): a line per transaction, or with `--aggregate-interval` a line per interval.

Intervals are kept as they are. Of transactions the totals and each second are kept, since they are millions:
https://www.postgresql.org/docs/current/pgbench.html describes both.
"""

import glob
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dbversus.errors import UsageError
from dbversus.importing.formats import pgbench_output
from dbversus.importing.formats.sysbench import test_name
from dbversus.importing.lines import DAMAGED, Text, plain_name
from dbversus.importing.model import SAME_RUN, Metric, Sheet, Source

_FIRST_UNIX_S = 946_684_800
"""2000: no time of a log is before it, and neither a client's number nor that of a script is beyond it."""
_LOG_FILE = re.compile(r"\.\d+(\.\d+)?$")
_OWN_PREFIX = "pgbench_log"
_PROCESS = re.compile(r"\.\d+$")
_THREAD = re.compile(r"(?P<first>.*\.\d+)\.(?P<thread>\d+)(?P<packed>\.(?:gz|bz2|xz))?", re.DOTALL)
_TRANSACTION_FIELDS = (6, 7, 8)
_INTERVAL_FIELDS = (6, 7, 10, 11, 15, 16)
"""Of PostgreSQL up to 14 with lags and skipped ones where there was a rate; since 15 always all; 16 from 19 on."""
TPS = Metric("transactions_per_s", "1/s")
_NOTHING_ENDED = "no transaction in it has ended"
_SAMPLED = 0.99
"""A log that lacks fewer of the numbered transactions has all of them: some were under way when it ended."""
_SUM = ("latency_sum", "latency_sum_of_squares", "latency_min", "latency_max")
_LAG = tuple(name.replace("latency", "lag") for name in _SUM)
_AFTER_LAG = ("skipped", "retried", "retries", "serialization_failures", "deadlock_failures", "other_failures")
_US = {name: Metric(name, "µs²" if name.endswith("squares") else "µs") for name in (*_SUM, *_LAG)}
_PERCENTS = (50.0, 95.0, 99.0)
_SUB_BUCKETS = 128
"""Of each power of two: percentiles are within 1 %."""


def fits(name: str, head: str) -> bool:
    first = head.partition("\n")[0].split()
    return _is_transaction(first) or _is_interval(first)


def read(source: Source, text: Text, sheet: Sheet) -> str:
    """The totals of a run stand with the log of its first thread; the others have their intervals alone."""
    first = first_of_threads(source.path)
    place = sheet.run_of(source, _test(source), number=1 if first == source.path else SAME_RUN)
    others = _other_threads(source) if first == source.path else []
    if _is_transaction(text.head.partition("\n")[0].split()):
        return _read_transactions(text, others, place, sheet) if first == source.path else ""
    threads = [_read_intervals(text, place, sheet)]
    if first == source.path:
        threads += [_read_intervals(other, None, sheet) for other in others]
        return _enter_intervals(threads, text.last_line, place, sheet)
    return ""


def _test(source: Source) -> str:
    """The log's prefix; of one that has pgbench's own, that of the only output beside it."""
    prefix = test_name(_LOG_FILE.sub("", source.name))
    if prefix != _OWN_PREFIX:
        return prefix
    folder = Path(source.path).parent
    outputs = {test_name(plain_name(path.name)) for path in folder.iterdir() if _is_output(path)}
    return outputs.pop() if len(outputs) == 1 else prefix


def _is_output(path: Path) -> bool:
    if path.name.startswith((_OWN_PREFIX, ".")) or not path.is_file():
        return False
    try:
        return pgbench_output.fits(path.name, Text(str(path), str(path)).head)
    except (UsageError, OSError, *DAMAGED):
        return False


def first_of_threads(path: str) -> str:
    """The log of the first thread of the run that `path` is a log of: with `-j 4`, `x.123` of `x.123.1` to `x.123.3`."""
    match = _THREAD.fullmatch(path)
    if match is None:
        return path
    found = (f"{stem}{match['packed'] or ''}" for stem in (match["first"], f"{match['first']}.1"))
    return next((first for first in found if Path(first).is_file()), path)


def _other_threads(source: Source) -> list[Text]:
    """Logs of the threads of the run whose first thread's log is `source`, in their order."""
    own = Path(source.path)
    match = _THREAD.fullmatch(plain_name(own.name))
    stem = match["first"] if match else plain_name(own.name)
    found = []
    for path in own.parent.glob(f"{glob.escape(stem)}.*") if _PROCESS.search(stem) else ():
        match = _THREAD.fullmatch(path.name)
        if match and match["first"] == stem and path != own and path.stat().st_size:
            text = Text(str(path), str(path), source.encoding)
            if fits(path.name, text.head):
                found.append((int(match["thread"]), text))
    return [text for _, text in sorted(found, key=lambda thread: thread[0])]


def _is_transaction(cells: list[str]) -> bool:
    """client, transaction, time (µs, or a word), script, second, µs in it [, lag (µs) [, retries]]."""
    return (
        len(cells) in _TRANSACTION_FIELDS
        and all(cell.isdecimal() for position, cell in enumerate(cells) if position != 2)
        and (cells[2].isdecimal() or cells[2] in ("skipped", "failed", "serialization", "deadlock", "other"))
        and int(cells[4]) >= _FIRST_UNIX_S > int(cells[3])
        and int(cells[5]) < 1_000_000
    )


def _is_interval(cells: list[str]) -> bool:
    return (
        len(cells) in _INTERVAL_FIELDS
        and all(cell.isdecimal() for cell in cells)
        and _FIRST_UNIX_S <= int(cells[0]) < 10 * _FIRST_UNIX_S
    )


@dataclass
class _Intervals:
    """Of one thread. What it did after the start of its last interval is not in its rate: where that ends is not known."""

    count: int = 0
    sum_us: float = 0.0
    first_s: int = 0
    last_s: int = 0
    in_last: int = 0

    @property
    def per_s(self) -> float | None:
        elapsed_s = self.last_s - self.first_s
        return (self.count - self.in_last) / elapsed_s if elapsed_s else None


def _read_intervals(text: Text, place: int | None, sheet: Sheet) -> _Intervals:
    """Enters each at `place`; None: another file's reader does."""
    thread = _Intervals()
    for number, line in text:
        cells = line.split()
        if not _is_interval(cells):
            if place is not None:
                sheet.unknown(number, line)
            continue
        thread.last_s, thread.in_last = int(cells[0]), int(cells[1])
        thread.first_s = thread.first_s or thread.last_s
        thread.count += thread.in_last
        thread.sum_us += float(cells[2])
        if place is not None:
            _enter_interval(cells, float(thread.last_s - thread.first_s), number, place, sheet)
    return thread


def _enter_intervals(threads: Sequence[_Intervals], number: int, place: int, sheet: Sheet) -> str:
    """Of all threads of a run: rates add up, and a mean counts all transactions alike."""
    count = sum(thread.count for thread in threads)
    if not count:
        return _NOTHING_ENDED
    sheet.add(
        place, Metric("latency_mean", "ms"), number, f"{sum(thread.sum_us for thread in threads) / count / 1e3:.6f}"
    )
    rates = [thread.per_s for thread in threads if thread.count]
    if None not in rates:
        sheet.add(place, TPS, number, f"{sum(filter(None, rates)):.6f}")
    return ""


def _enter_interval(cells: list[str], second: float, number: int, place: int, sheet: Sheet) -> None:
    sheet.add(place, Metric("interval_start", "s since 1970"), number, cells[0], second)
    sheet.add(place, Metric("transactions", ""), number, cells[1], second)
    rest = cells[6:]
    names = (*_LAG, *_AFTER_LAG)[: len(rest)] if len(rest) > 3 else ("retried",)[: len(rest)]
    for name, cell in zip((*_SUM, *names), cells[2:], strict=True):
        sheet.add(place, _US.get(name, Metric(name, "")), number, cell, second)


@dataclass
class _Sums:
    count: int = 0
    sum_us: int = 0
    max_us: int = 0

    def add(self, time_us: int) -> None:
        self.count += 1
        self.sum_us += time_us
        self.max_us = max(self.max_us, time_us)


@dataclass
class _Transactions:
    """What is kept of transactions: memory depends on how long the run was, not on how many there were."""

    total: _Sums = field(default_factory=_Sums)
    seconds: dict[int, _Sums] = field(default_factory=lambda: defaultdict(_Sums))
    buckets: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    others: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    numbers: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    """Client → first and last number of its transactions, and how many were logged."""
    first_us: int = 0
    last_us: int = 0

    def count_of(self, client: str, number: int) -> None:
        first, _, logged = self.numbers.get(client, (number, number, 0))
        self.numbers[client] = min(first, number), number, logged + 1

    @property
    def share_logged(self) -> float:
        """Below 1 with `--sampling-rate`: a client numbers all its transactions, also those that are not logged."""
        numbered = sum(last - first + 1 for first, last, _ in self.numbers.values())
        share = sum(logged for *_, logged in self.numbers.values()) / max(numbered, 1)
        return share if share < _SAMPLED else 1.0

    def add(self, time_us: int, end_us: int) -> None:
        self.total.add(time_us)
        self.seconds[end_us // 1_000_000].add(time_us)
        self.buckets[_bucket(time_us)] += 1
        start_us = end_us - time_us
        self.first_us = min(self.first_us, start_us) if self.first_us else start_us
        self.last_us = max(self.last_us, end_us)


def _bucket(value: int) -> int:
    """The highest value that is counted with this one."""
    shift = max(value.bit_length() - _SUB_BUCKETS.bit_length(), 0)
    return ((value >> shift) + 1 << shift) - 1


def _read_transactions(text: Text, others: Sequence[Text], place: int, sheet: Sheet) -> str:
    seen = _Transactions()
    for thread in (text, *others):
        for number, line in thread:
            cells = line.split()
            if not _is_transaction(cells):
                sheet.unknown(number, line if thread is text else f"{thread.shown}: {line}")
                continue
            seen.count_of(cells[0], int(cells[1]))
            if cells[2].isdecimal():
                seen.add(int(cells[2]), int(cells[4]) * 1_000_000 + int(cells[5]))
            else:
                seen.others[cells[2]] += 1
    if seen.total.count:
        _enter(seen, text.last_line, place, sheet)
    return "" if seen.total.count else _NOTHING_ENDED


def _enter(seen: _Transactions, number: int, place: int, sheet: Sheet) -> None:
    """The totals stand at the last line, since they are of all of them."""
    elapsed_s = (seen.last_us - seen.first_us) / 1e6
    total = seen.total
    sheet.add(place, Metric("transactions", ""), number, str(total.count))
    sheet.add(place, Metric("elapsed", "s"), number, f"{elapsed_s:.6f}")
    if seen.share_logged < 1:
        sheet.add(place, Metric("sampled", "%"), number, f"{100 * seen.share_logged:.4f}")
    if elapsed_s:
        sheet.add(place, TPS, number, f"{total.count / seen.share_logged / elapsed_s:.6f}")
    sheet.add(place, Metric("latency_mean", "ms"), number, f"{total.sum_us / total.count / 1e3:.6f}")
    sheet.add(place, Metric("latency_max", "ms"), number, f"{total.max_us / 1e3:.3f}")
    for percent, value_us in zip(_PERCENTS, _percentiles_us(seen), strict=True):
        sheet.add(place, Metric(f"latency_p{percent:g}", "ms"), number, f"{value_us / 1e3:.3f}")
    for word, count in seen.others.items():
        sheet.add(place, Metric(f"transactions_{word}", ""), number, str(count))
    begin_s = seen.first_us // 1_000_000
    for moment_s, of_second in sorted(seen.seconds.items()):
        second = float(moment_s - begin_s)
        sheet.add(place, Metric("transactions", ""), number, str(of_second.count), second)
        sheet.add(
            place, Metric("latency_mean", "ms"), number, f"{of_second.sum_us / of_second.count / 1e3:.6f}", second
        )
        sheet.add(place, Metric("latency_max", "ms"), number, f"{of_second.max_us / 1e3:.3f}", second)


def _percentiles_us(seen: _Transactions) -> list[int]:
    found: list[int] = []
    count = 0
    ranks = [seen.total.count * percent / 100 for percent in _PERCENTS]
    for value_us, number in sorted(seen.buckets.items()):
        count += number
        while len(found) < len(ranks) and count >= ranks[len(found)]:
            found.append(min(value_us, seen.total.max_us))
    return found
