"""Logs of HammerDB (TPROC-C and TPROC-H): its results; all other lines are kept."""

import re

from dbversus.importing.formats.sysbench import test_name
from dbversus.importing.lines import Text
from dbversus.importing.model import Metric, Sheet, Source

_RESULT = re.compile(r"TEST RESULT : System achieved (\d+) NOPM from (\d+) (.+?) TPM")
_USERS = re.compile(r"(\d+) Active Virtual Users configured")
_MINUTES = re.compile(r"Timing test period of (\d+) in minutes")
_QUERIES = re.compile(r"Completed (\d+) query set\(s\) in (\d+(?:\.\d+)?) seconds")
_MEAN = re.compile(r"Geometric mean of query times returning rows \((\d+)\) is ([\d.]+)")
_HEADS = ("Vuser ", "HammerDB", "Hammerdb Log")
_FAILED = re.compile(r"Vuser (\d+):FINISHED FAILED")
# pattern → metrics of its groups, in order
_FIGURES: tuple[tuple[re.Pattern[str], tuple[Metric, ...]], ...] = (
    (_RESULT, (Metric("new_orders_per_min", "1/min"), Metric("transactions_per_min", "1/min"))),
    (_USERS, (Metric("virtual_users", ""),)),
    (_MINUTES, (Metric("duration", "min"),)),
    (_QUERIES, (Metric("query_sets", ""), Metric("query_sets_time", "s"))),
    (_MEAN, (Metric("queries", ""), Metric("query_time_geometric_mean", "s"))),
)


def fits(name: str, head: str) -> bool:
    return any(f"\n{words}" in f"\n{head}" for words in _HEADS) and "Vuser" in head


def read(source: Source, text: Text, sheet: Sheet) -> str:
    """A log of several runs has several tests, by their number of users."""
    test = test_name(source.name)
    held: list[tuple[Metric, int, str]] = []
    users: int | None = None
    failed, results = 0, 0
    for number, line in text:
        found = next(((match, metrics) for pattern, metrics in _FIGURES if (match := pattern.search(line))), None)
        if found is None:
            failed += bool(_FAILED.search(line))
            if line.strip():
                sheet.keep(number, line, "log")
            continue
        match, metrics = found
        if match.re is _USERS:
            users = int(match[1])
        held += [(metric, number, match[place]) for place, metric in enumerate(metrics, 1)]
        if match.re in (_RESULT, _MEAN):
            results += 1
            place = sheet.place_of(test, source.folder, users)
            for entry in held:
                sheet.add(place, *entry)
            held = []
    if failed:
        return f"{failed} virtual users failed, so the figures are of fewer than were asked for"
    return "" if results else f"cut off after line {text.last_line}: it has no TEST RESULT"
