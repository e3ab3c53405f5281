"""Reads exports of pg_stat_statements and of MySQL's digests, slow logs, and what tools make of these."""

import csv
import io
import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, TextIO

from dbversus.errors import UsageError
from dbversus.suites.writing.place import Line
from dbversus.suites.writing.statements.observed import Observed, Seen
from dbversus.suites.writing.statements.slow_log import is_slow_log, read_slow_log
from dbversus.suites.writing.statements.summaries import (
    in_ms,
    is_mysqldumpslow,
    is_pt_query_digest,
    of_pt_query_digest,
    read_mysqldumpslow,
    read_pt_query_digest,
)
from dbversus.suites.writing.statements.text_file import decoded, opened
from dbversus.suites.writing.toml_text import excerpt

# in lower case, the first that is there counts; times with what makes them ms
_TEXTS = ("query", "digest_text")
_CALLS = ("calls", "count_star", "exec_count")
_TIMES = {"total_exec_time": 1.0, "total_time": 1.0, "sum_timer_wait": 1e-9, "total_latency": 1e-9}
_EXAMPLE = "query_sample_text"
_DATABASES = ("schema_name", "db")
_MYSQL = ("digest_text", "exec_count")
_HEAD_CHARS = 1 << 20
_MOST_BROKEN = 5

ACCEPTED = (
    "accepted are exports (CSV with a header, tab-separated or JSON) of pg_stat_statements with `query` and `calls`, or of "
    "events_statements_summary_by_digest with DIGEST_TEXT and COUNT_STAR, slow logs of MySQL or MariaDB, and what "
    "pt-query-digest (as text or JSON) or mysqldumpslow make of these"
)


def read_statements(paths: Sequence[str], encoding: str = "") -> Seen:
    """What all files tell, in their order. A broken entry is left out, with a note. Raises UsageError with file and line."""
    seen = Seen()
    for path in paths:
        broken: list[str] = []
        with opened(path, encoding, ACCEPTED) as file:
            found = list(_read(path, file, broken))
        if broken and not found:
            raise UsageError(f"{broken[0]}; {ACCEPTED}.")
        seen.statements += found
        seen.notes += broken[:_MOST_BROKEN]
        seen.notes += [f"{path}: so are {len(broken) - _MOST_BROKEN} others"] if len(broken) > _MOST_BROKEN else []
    return seen


def _read(path: str, file: TextIO, broken: list[str]) -> Iterable[Observed]:
    head = file.read(_HEAD_CHARS) + file.readline()
    lines = chain(io.StringIO(head), file)
    if is_slow_log(head):
        return read_slow_log(path, lines, broken)
    text = decoded(path, "".join(lines))
    if not text.strip():
        raise UsageError(f"{path} is empty; {ACCEPTED}.")
    if is_pt_query_digest(text):
        return read_pt_query_digest(path, io.StringIO(text), broken)
    if is_mysqldumpslow(text):
        return read_mysqldumpslow(path, io.StringIO(text))
    return _records(path, text, broken)


def _records(path: str, text: str, broken: list[str]) -> Iterator[Observed]:
    found = _json(path, text, broken) if text.lstrip()[0] in "[{" else _separated(path, text, broken)
    for line, record in found:
        if isinstance(record.get("classes"), list):
            yield from of_pt_query_digest(line, record, broken)
            continue
        try:
            yield from _observed(record, line)
        except ValueError as error:
            broken.append(f"{line}: {error}; it is left out")


def _json(path: str, text: str, broken: list[str]) -> Iterator[tuple[Line, Mapping[str, Any]]]:
    """A list of objects, one object, or one object a line."""
    try:
        whole = json.loads(text)
        items = [(Line(path, 1), item) for item in (whole if isinstance(whole, list) else [whole])]
    except json.JSONDecodeError as error:
        if text.lstrip().startswith("[") or "\n{" not in text.strip():
            raise Line(path, error.lineno).mistake(f"this is not JSON: {error.msg}; {ACCEPTED}.") from None
        items = list(_json_lines(path, text, broken))
    for line, item in items:
        if isinstance(item, dict):
            record = {str(name).lower(): value for name, value in item.items()}
            if "classes" not in record:
                _check_columns(list(record), line)
            yield line, record
        else:
            broken.append(f"{line}: {excerpt(repr(item), 40)} is no object; it is left out")


def _json_lines(path: str, text: str, broken: list[str]) -> Iterator[tuple[Line, Any]]:
    for number, given in enumerate(text.split("\n"), 1):
        try:
            if given.strip():
                yield Line(path, number), json.loads(given)
        except json.JSONDecodeError as error:
            broken.append(f"{Line(path, number)}: this is not JSON: {error.msg}; it is left out")


def _separated(path: str, text: str, broken: list[str]) -> Iterator[tuple[Line, Mapping[str, Any]]]:
    """With the header's names; rows that have more or fewer values are broken."""
    first = text[: len(text) - len(text.lstrip())].count("\n")
    header, *_ = text.lstrip().partition("\n")
    delimiter = max(",;\t|", key=header.count)
    is_quoted = delimiter in ",;"  # `mysql --batch` and `psql --no-align` quote nothing
    csv.field_size_limit(2**31 - 1)
    stream = io.StringIO(text.lstrip(), newline="")
    reader = csv.reader(stream, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if is_quoted else csv.QUOTE_NONE)
    names = [name.strip().lower() for name in next(reader)]
    _check_columns(names, Line(path, first + 1))
    begins = reader.line_num + 1
    for row in reader:
        line, begins = Line(path, first + begins), reader.line_num + 1
        if row and len(row) != len(names):
            broken.append(f"{line}: there are {len(row)} values under {len(names)} columns; it is left out")
        elif row:
            yield line, dict(zip(names, map(_unescaped, row) if delimiter == "\t" else row, strict=True))


def _unescaped(value: str) -> str:
    r"""As `mysql --batch` escapes: \n, \t, \\ and \0."""
    marks = {"n": "\n", "t": "\t", "0": "\0", "\\": "\\"}
    head, *rest = value.replace("\\\\", "\\\0").split("\\")
    return head + "".join(marks.get(part[:1].replace("\0", "\\"), part[:1]) + part[1:] for part in rest)


def _check_columns(names: Sequence[str], line: Line) -> None:
    """UsageError that names what is missing."""
    missing = [f"`{some[0]}` (or {', '.join(some[1:])})" for some in (_TEXTS, _CALLS) if not _first(some, names)]
    if missing:
        has = excerpt(", ".join(names), 120)
        raise line.mistake(f"there is no column {' and no column '.join(missing)} among: {has}; {ACCEPTED}.")


def _observed(record: Mapping[str, Any], line: Line) -> Iterator[Observed]:
    """None for MySQL's row of all that had no room of its own: it has no text. ValueError says what is wrong."""
    text_key, calls_key, time_key = (_first(names, record) for names in (_TEXTS, _CALLS, _TIMES))
    text, example = (str(record.get(name) or "").replace("\0", "\ufffd") for name in (text_key, _EXAMPLE))
    if text in ("", "NULL"):
        return
    yield Observed(
        text,
        int(_number(record[calls_key], calls_key)),
        _ms(record[time_key], time_key) if time_key else 0.0,
        line,
        "" if example == "NULL" else example,
        dialect="mysql" if text_key in _MYSQL or calls_key in _MYSQL else "postgres",
        database=str(record.get(_first(_DATABASES, record)) or ""),
    )


def _first(names: Iterable[str], record: Container[str]) -> str:
    return next((name for name in names if name in record), "")


def _ms(value: Any, name: str) -> float:
    """`sys` writes its times with units."""
    with_unit = in_ms(str(value)) if name == "total_latency" and not str(value).replace(".", "").isdigit() else None
    return with_unit if with_unit is not None else _number(value, name) * _TIMES[name]


def _number(value: Any, name: str) -> float:
    try:
        number = float(str(value).strip().replace(",", ""))
    except ValueError:
        number = -1.0
    if not 0 <= number < 1e30:
        raise ValueError(f"{name} is {excerpt(repr(value), 40)}, and has to be a number")
    return number
