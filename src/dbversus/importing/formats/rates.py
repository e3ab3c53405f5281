"""`sb.r.qps.*` and the like of a run: one figure for each number of clients, then what was run."""

from dbversus.importing.lines import Text
from dbversus.importing.model import Metric, Sheet, Source
from dbversus.importing.names import run_file

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
            sheet.add(sheet.place_of(known.test, source.folder, clients), _METRICS[known.kind], number, cell.strip())
    return ""


def clients_of_column(source: Source, position: int) -> int:
    """Number of clients of a column that does not say it: as asked for, else 1, 2, 3 …"""
    known = source.column_clients
    return known[position] if position < len(known) else position + 1
