"""What pt-query-digest and mysqldumpslow make of slow logs: statements with their calls and times."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dbversus.suites.writing.place import Line
from dbversus.suites.writing.statements.observed import Observed

_QUERY = re.compile(r"^# Query \d+: ", re.MULTILINE)
_FIGURE = re.compile(r"# (Count|Exec time|Databases) +(?:\d+ +)?(\S+)")
_COUNT = re.compile(r"Count: (\d+)  Time=([\d.]+)s \(", re.MULTILINE)
_ABSTRACT = re.compile(r"""(?:\b[xbn]|_\w+\s*)?(?:'S'|"S")|\bN(?:\.N)?\b""", re.IGNORECASE)
_REPEATED = re.compile(r"(?:\?,\s*)+\{repeated \d+ times\}\s*\??|\?,,\{repeated \d+ times\}\s*\??")
_UNITS = {"": 1e3, "us": 1e-3, "µs": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4, "h": 3.6e6, "ks": 1e6, "Ms": 1e9}
_SHORT = {"": 1, "k": 1_000, "M": 1_000_000, "G": 1_000_000_000, "T": 1_000_000_000_000}


def is_pt_query_digest(text: str) -> bool:
    return bool(_QUERY.search(text))


def is_mysqldumpslow(text: str) -> bool:
    return bool(re.search(r"^Count: \d+  Time=[\d.]+s ", text, re.MULTILINE))


@dataclass
class _Query:
    """One that is reported. `is_done`: what follows its text is another form of it."""

    line: Line
    figures: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    is_done: bool = False


def read_pt_query_digest(path: str, lines: Iterable[str], broken: list[str]) -> Iterator[Observed]:
    """Of a report as text: the example of each query."""
    query: _Query | None = None
    for number, given in enumerate(lines, 1):
        line = given.rstrip("\r\n")
        if _QUERY.match(line):
            yield from _reported(query, broken)
            query = _Query(Line(path, number))
        elif query and not query.is_done:
            if not query.lines and (not line.strip() or line.startswith("#")):
                query.figures |= {found[1]: found[2] for found in [_FIGURE.match(line)] if found}
            else:
                query.is_done = line.endswith(("\\G", ";")) or line.startswith("# Converted for EXPLAIN")
                query.lines.append(line.removesuffix("\\G"))
    yield from _reported(query, broken)


def _reported(query: _Query | None, broken: list[str]) -> Iterator[Observed]:
    sql = "\n".join(query.lines).strip().rstrip("; \n") if query else ""
    if not query or not sql:
        return
    calls, total_ms = _count(query.figures.get("Count", "")), in_ms(query.figures.get("Exec time", ""))
    if calls is None:
        broken.append(f"{query.line}: there is no line '# Count'; the query is left out")
        return
    database = query.figures.get("Databases", "")
    yield Observed(sql, calls, total_ms or 0.0, query.line, sql, dialect="mysql", database=database)


def _count(text: str) -> int | None:
    found = re.fullmatch(r"([\d.]+)([kMGT]?)", text)
    return round(float(found[1]) * _SHORT[found[2]]) if found and found[1].count(".") < 2 else None


def in_ms(text: str) -> float | None:
    """A time with its unit, `726ms`; None for what is none. Seconds have no unit either."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?) *([a-zA-Zµ]*)", text)
    return float(found[1]) * _UNITS[found[2]] if found and found[2] in _UNITS else None


def of_pt_query_digest(line: Line, report: Mapping[str, Any], broken: list[str]) -> Iterator[Observed]:
    """Of a report as JSON."""
    for number, one in enumerate(report["classes"], 1):
        try:
            times = one["metrics"].get("Query_time", {})
            database = one["metrics"].get("db", {}).get("value") or ""
            example = one.get("example", {}).get("query") or ""
            text, calls, total_ms = (
                example or one["fingerprint"],
                int(one["query_count"]),
                float(times.get("sum", 0)) * 1e3,
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            broken.append(f"{line}: class {number} has no text or no query_count; it is left out")
            continue
        sql = text if example else text.replace("(?+)", "(...)")
        yield Observed(sql, calls, total_ms, line, example, dialect="mysql", database=database)


def read_mysqldumpslow(path: str, lines: Iterable[str]) -> Iterator[Observed]:
    """With N and 'S' in place of values, or with these (-a)."""
    found: list[tuple[Line, int, float, list[str]]] = []
    for number, given in enumerate(lines, 1):
        if head := _COUNT.match(given):
            found.append((Line(path, number), int(head[1]), float(head[2]), []))
        elif found and given.strip() and not given.lstrip().startswith("#"):
            found[-1][3].append(given.strip())
    texts = ["\n".join(some) for *_, some in found]
    is_abstract = any(_ABSTRACT.search(text) for text in texts)
    for (line, calls, mean_s, _), text in zip(found, texts, strict=True):
        sql = _REPEATED.sub("...", _ABSTRACT.sub("?", text)) if is_abstract else text
        if sql:
            yield Observed(sql, calls, calls * mean_s * 1e3, line, "" if is_abstract else sql, dialect="mysql")
