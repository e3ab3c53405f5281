"""`sb.r.qps.*` and the like of a run: one figure for each number of clients, then what was run."""

from dbversus.importing.lines import Text
from dbversus.importing.model import Metric, Sheet, Source
from dbversus.importing.names import RunFile, is_scan, run_file
from dbversus.results.schema import MILLION_ROWS

_METRICS = {
    "r.trx": Metric("transactions_per_s", "1/s"),
    "r.qps": Metric("qps", "1/s"),
    "r.rtavg": Metric("latency_mean", "ms"),
    "r.rtmax": Metric("latency_max", "ms"),
    "r.rt95": Metric("latency_p95", "ms"),
}


def fits(name: str, head: str) -> bool:
    known = run_file(name) if name.startswith("sb.r.") else None
    return known is not None and known.kind in _METRICS


def read(source: Source, text: Text, sheet: Sheet) -> str:
    known = run_file(source.name)
    assert known is not None
    for number, line in text:
        *cells, _ = line.split("\t")
        if not cells:
            sheet.unknown(number, line)
        for position, cell in enumerate(cells):
            clients = clients_of_column(source, position)
            sheet.add(sheet.run_of(source, known.test, clients), _metric(known, cell), number, cell.strip())
    return ""


def _metric(known: RunFile, cell: str) -> Metric:
    return rate_2021(known.test, cell) if known.kind == "r.qps" else _METRICS[known.kind]


def rate_2021(test: str, cell: str) -> Metric:
    """The rate of a scan with decimals is of a million rows."""
    return Metric("qps", MILLION_ROWS) if is_scan(test) and "." in cell else _METRICS["r.qps"]


def clients_of_column(source: Source, position: int) -> int:
    """Number of clients of a column that does not say it: as asked for, else 1, 2, 3 …"""
    known = source.column_clients
    return known[position] if position < len(known) else position + 1
