"""What was compared: builds with their compilers, configs, and how large the data was."""

from dataclasses import replace
from typing import Any

from dbversus.report.judged import Judged
from dbversus.report.section import Section
from dbversus.report.table import Column, Form, Row, Table
from dbversus.results.stored import Results, Target

_COLUMNS = (
    *(Column(title) for title in ("target", "build", "compiled by", "from", "config")),
    Column("data, MB", Form.NUMBER, name="data_mb"),
    Column("logs, MB", Form.NUMBER, name="logs_mb"),
)
_NOTE = (
    "The first is the base. Data: tables and indexes at their largest, when a block began or after a test. Logs: WAL or redo "
    "when the tests began. "
    "Builds of other compilers differ in code, whatever their versions (docs/trust.md); –: not known, or nothing."
)
_BYTES_PER_MB = 1e6


def section(judged: Judged) -> Section | None:
    results = judged.results
    rows = [_row(results, target) for target in results.targets]
    table = Table(_COLUMNS, rows, sheet="Targets")
    return Section(
        title="What was compared",
        is_background=True,
        tables=[table.trimmed()],
        data=[replace(table, sheet="")],
        notes=[_NOTE],
    )


def _row(results: Results, target: Target) -> Row:
    build = results.server_json(target, "build.json")
    sizes = results.server_json(target, "sizes.json")
    return [
        target.label,
        f"{target.dbms} {target.version}".strip(),
        build.get("compiled"),
        build.get("provider"),
        target.config,
        _megabytes(results.data_bytes(target)),
        _megabytes(sizes.get("log")),
    ]


def _megabytes(count: Any) -> float | None:
    return count / _BYTES_PER_MB if isinstance(count, int | float) else None
