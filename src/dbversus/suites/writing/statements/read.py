"""Reads exports of pg_stat_statements and of MySQL's digest tables: CSV, tab-separated or JSON, and slow logs."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dbversus.errors import UsageError
from dbversus.suites.writing.place import Line
from dbversus.suites.writing.statements.observed import Observed
from dbversus.suites.writing.statements.slow_log import is_slow_log, read_slow_log

# in lower case, the first that is there counts; times with what makes them ms
_TEXTS = ("query", "digest_text")
_CALLS = ("calls", "count_star", "exec_count")
_TIMES = {"total_exec_time": 1.0, "total_time": 1.0, "sum_timer_wait": 1e-9}
_EXAMPLE = "query_sample_text"
_MYSQL = ("digest_text", "exec_count")

ACCEPTED = (
    "accepted are exports (CSV with a header, tab-separated or JSON) of pg_stat_statements with `query` and `calls`, or of "
    "events_statements_summary_by_digest with DIGEST_TEXT and COUNT_STAR, and slow logs of MySQL or MariaDB"
)


def read_statements(paths: Sequence[str]) -> list[Observed]:
    """What all files tell, in their order. Raises UsageError with file and line."""
    return [one for path in paths for one in _read(path)]


def _read(path: str) -> Iterable[Observed]:
    try:
        text = Path(path).read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}; {ACCEPTED}.") from None
    if is_slow_log(text):
        return read_slow_log(path, text)
    if not text.strip():
        raise UsageError(f"{path} is empty; {ACCEPTED}.")
    records = _json(path, text) if text.lstrip()[0] in "[{" else _separated(path, text)
    return [found for line, record in records if (found := _observed(record, line))]


def _json(path: str, text: str) -> Iterable[tuple[Line, Mapping[str, Any]]]:
    """A list of objects, or one object a line."""
    try:
        if text.lstrip().startswith("["):
            items = [(Line(path, 1), item) for item in json.loads(text)]
        else:
            lines = enumerate(text.splitlines(), 1)
            items = [(Line(path, number), json.loads(line)) for number, line in lines if line.strip()]
    except json.JSONDecodeError as error:
        raise Line(path, error.lineno).mistake(f"this is not JSON: {error.msg}; {ACCEPTED}.") from None
    for line, item in items:
        if not isinstance(item, dict):
            raise line.mistake(f"{item!r:.40} is no object; {ACCEPTED}.")
        yield line, {str(name).lower(): value for name, value in item.items()}


def _separated(path: str, text: str) -> Iterable[tuple[Line, Mapping[str, Any]]]:
    header = text.partition("\n")[0]
    is_tabbed = header.count("\t") > header.count(",")  # `mysql --batch` writes tabs, and quotes nothing
    csv.field_size_limit(2**31 - 1)
    stream = io.StringIO(text)
    reader = csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE) if is_tabbed else csv.reader(stream)
    names = [name.strip().lower() for name in next(reader)]
    begins = reader.line_num + 1
    for row in reader:
        line, begins = Line(path, begins), reader.line_num + 1
        if row and len(row) != len(names):
            raise line.mistake(f"there are {len(row)} values under {len(names)} columns; {ACCEPTED}.")
        if row:
            yield line, dict(zip(names, map(_unescaped, row) if is_tabbed else row, strict=True))


def _unescaped(value: str) -> str:
    r"""As `mysql --batch` escapes: \n, \t, \\ and \0."""
    marks = {"n": "\n", "t": "\t", "0": "\0", "\\": "\\"}
    head, *rest = value.replace("\\\\", "\\\0").split("\\")
    return head + "".join(marks.get(part[:1].replace("\0", "\\"), part[:1]) + part[1:] for part in rest)


def _observed(record: Mapping[str, Any], line: Line) -> Observed | None:
    """None for MySQL's row of all that had no room of its own: it has no text."""
    text_key = _first(_TEXTS, record, line)
    calls_key = _first(_CALLS, record, line)
    text = record[text_key]
    if text in (None, "", "NULL"):
        return None
    calls = _number(record[calls_key], calls_key, line)
    time_key = next((name for name in _TIMES if name in record), "")
    total_ms = _number(record[time_key], time_key, line) * _TIMES[time_key] if time_key else 0.0
    example = record.get(_EXAMPLE) or ""
    is_mysql = text_key in _MYSQL or calls_key in _MYSQL
    return Observed(
        str(text),
        int(calls),
        total_ms,
        line,
        "" if example == "NULL" else str(example),
        double_quotes_are_strings=is_mysql,
    )


def _first(names: Sequence[str], record: Mapping[str, Any], line: Line) -> str:
    found = next((name for name in names if name in record), None)
    if found is None:
        raise line.mistake(f"there is no column {' or '.join(names)} among {', '.join(record)}; {ACCEPTED}.")
    return found


def _number(value: Any, name: str, line: Line) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise line.mistake(f"{name} is {value!r}, and has to be a number.") from None
