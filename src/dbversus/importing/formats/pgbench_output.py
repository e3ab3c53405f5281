"""What pgbench prints at the end of a run, without its report of statements."""

import re

from dbversus.importing.formats.sysbench import test_name
from dbversus.importing.lines import Text
from dbversus.importing.model import Metric, Sheet, Source

_CLIENTS = re.compile(r"number of clients: (\d+)")
_NUMBER = r"(\d+(?:\.\d+)?)"
# pattern → metrics of its groups, in order
_FIGURES: tuple[tuple[re.Pattern[str], tuple[Metric, ...]], ...] = tuple(
    (re.compile(pattern.replace("#", _NUMBER)), tuple(Metric(*metric) for metric in metrics))
    for pattern, *metrics in (
        (r"scaling factor: #$", ("scale", "")),
        (r"number of clients: #$", ("threads", "")),
        (r"number of threads: #$", ("pgbench_threads", "")),
        (r"maximum number of tries: #$", ("most_tries", "")),
        (r"duration: # s$", ("duration", "s")),
        (r"number of transactions per client: #$", ("transactions_per_client", "")),
        (r"number of transactions actually processed: #(?:/\d+)?$", ("transactions", "")),
        (r"number of failed transactions: # \(#%\)$", ("transactions_failed", ""), ("transactions_failed", "%")),
        (r"latency average = # ms$", ("latency_mean", "ms")),
        (r"latency stddev = # ms$", ("latency_sd", "ms")),
        (r"rate limit schedule lag: avg # \(max #\) ms$", ("lag_mean", "ms"), ("lag_max", "ms")),
        (r"initial connection time = # ms$", ("connection_time", "ms")),
        (r"tps = # \((?:without initial connection time|excluding connections establishing)\)$", ("transactions_per_s", "1/s")),
        (r"tps = # \(including connections establishing\)$", ("transactions_per_s_with_connecting", "1/s")),
    )
)  # fmt: skip
_TPS = "tps = "
_NOTES = (
    "pgbench (",
    "starting vacuum",
    "transaction type",
    "query mode",
    "progress:",
    "SQL script",
    "statement lat",
    " -",
)


def fits(name: str, head: str) -> bool:
    return "number of transactions actually processed:" in head or head.startswith("pgbench (")


def read(source: Source, text: Text, sheet: Sheet) -> str:
    clients = _CLIENTS.search(text.head)
    place = sheet.place_of(test_name(source.name), source.folder, int(clients[1]) if clients else None)
    ended = False
    for number, line in text:
        ended = ended or line.startswith(_TPS)
        found = next(((match, metrics) for pattern, metrics in _FIGURES if (match := pattern.match(line))), None)
        if found:
            for metric, value in zip(found[1], found[0].groups(), strict=True):
                sheet.add(place, metric, number, value)
        elif line.startswith(_NOTES):
            sheet.keep(number, line, "note")
        elif line.strip():
            sheet.unknown(number, line)
    return "" if ended else f"cut off after line {text.last_line}: it has no tps"
