"""Logs of pgbench (`-l`): a line per transaction, or with `--aggregate-interval` a line per interval.

Intervals are kept as they are. Of transactions the totals and each second are kept, since they are millions:
https://www.postgresql.org/docs/current/pgbench.html describes both.
"""

import re
from collections import defaultdict
from dataclasses import dataclass, field

from dbversus.importing.lines import Text
from dbversus.importing.model import Metric, Sheet, Source

_FIRST_UNIX_S = 946_684_800
"""2000: no time of a log is before it, and neither a client's number nor that of a script is beyond it."""
_LOG_FILE = re.compile(r"\.\d+(\.\d+)?$")
_TRANSACTION_FIELDS = (6, 7, 8)
_INTERVAL_FIELDS = (6, 7, 10, 11, 15)
"""Of PostgreSQL up to 14 with lags and skipped ones where there was a rate; since 15 always all."""
_SUM = ("latency_sum", "latency_sum_of_squares", "latency_min", "latency_max")
_LAG = tuple(name.replace("latency", "lag") for name in _SUM)
_AFTER_LAG = ("skipped", "retried", "retries", "serialization_failures", "deadlock_failures")
_US = {name: Metric(name, "µs²" if name.endswith("squares") else "µs") for name in (*_SUM, *_LAG)}
_PERCENTS = (50.0, 95.0, 99.0)
_SUB_BUCKETS = 128
"""Of each power of two: percentiles are within 1 %."""


def fits(name: str, head: str) -> bool:
    first = head.partition("\n")[0].split()
    return _is_transaction(first) or _is_interval(first)


def read(source: Source, text: Text, sheet: Sheet) -> str:
    place = sheet.place_of(_LOG_FILE.sub("", source.name), source.folder)
    first = text.head.partition("\n")[0].split()
    return _read_transactions(text, place, sheet) if _is_transaction(first) else _read_intervals(text, place, sheet)


def _is_transaction(cells: list[str]) -> bool:
    """client, transaction, time (µs, or a word), script, second, µs in it [, lag (µs) [, retries]]."""
    return (
        len(cells) in _TRANSACTION_FIELDS
        and all(cell.isdecimal() for position, cell in enumerate(cells) if position != 2)
        and (cells[2].isdecimal() or cells[2] in ("skipped", "failed", "serialization", "deadlock"))
        and int(cells[4]) >= _FIRST_UNIX_S > int(cells[3])
        and int(cells[5]) < 1_000_000
    )


def _is_interval(cells: list[str]) -> bool:
    return (
        len(cells) in _INTERVAL_FIELDS
        and all(cell.isdecimal() for cell in cells)
        and _FIRST_UNIX_S <= int(cells[0]) < 10 * _FIRST_UNIX_S
    )


def _read_intervals(text: Text, place: int, sheet: Sheet) -> str:
    starts: list[int] = []
    counts: list[int] = []
    sum_us = 0.0
    number = 0
    for number, line in text:
        cells = line.split()
        if not _is_interval(cells):
            sheet.unknown(number, line)
            continue
        starts.append(int(cells[0]))
        counts.append(int(cells[1]))
        sum_us += float(cells[2])
        _enter_interval(cells, float(starts[-1] - starts[0]), number, place, sheet)
    if sum(counts):
        sheet.add(place, Metric("latency_mean", "ms"), number, f"{sum_us / sum(counts) / 1e3:.6f}")
    # where the last interval ends is not known
    if len(starts) > 1 and (elapsed_s := starts[-1] - starts[0]):
        sheet.add(place, Metric("transactions_per_s", "1/s"), number, f"{sum(counts[:-1]) / elapsed_s:.6f}")
    return "" if sum(counts) else "no transaction in it has ended"


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
    first_us: int = 0
    last_us: int = 0

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


def _read_transactions(text: Text, place: int, sheet: Sheet) -> str:
    seen = _Transactions()
    number = 0
    for number, line in text:
        cells = line.split()
        if not _is_transaction(cells):
            sheet.unknown(number, line)
        elif cells[2].isdecimal():
            seen.add(int(cells[2]), int(cells[4]) * 1_000_000 + int(cells[5]))
        else:
            seen.others[cells[2]] += 1
    if seen.total.count:
        _enter(seen, number, place, sheet)
    return "" if seen.total.count else "no transaction in it has ended"


def _enter(seen: _Transactions, number: int, place: int, sheet: Sheet) -> None:
    """The totals stand at the last line, since they are of all of them."""
    elapsed_s = (seen.last_us - seen.first_us) / 1e6
    total = seen.total
    sheet.add(place, Metric("transactions", ""), number, str(total.count))
    sheet.add(place, Metric("elapsed", "s"), number, f"{elapsed_s:.6f}")
    if elapsed_s:
        sheet.add(place, Metric("transactions_per_s", "1/s"), number, f"{total.count / elapsed_s:.6f}")
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
