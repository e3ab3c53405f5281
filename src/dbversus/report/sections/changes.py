"""What changed: the tests that did, what each does, both values and their ratio, and the likely cause; largest changes first."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from dbversus.report.judged import Judged
from dbversus.report.model import Figure, NotedComparison, TestPart
from dbversus.report.parts.notes.cause_words import LIKELY_CAUSE, likely_cause
from dbversus.report.section import Section
from dbversus.report.table import Column, Form, Row, Table
from dbversus.report.terminal import say
from dbversus.report.words import SHORT_TITLES, SIGNS, change, finding_text, number, trade
from dbversus.stats.model import CHANGES, SPOILT, Finding
from dbversus.units import count_of

MOST_SHOWN = 12
_LONGEST = 140
"""Characters of a statement."""
_NOTHING = "Nothing changed."
_DATA = (
    *map(Column, ("test", "target", "metric", "verdict")),
    Column("base", Form.NUMBER, name="of_base"),
    Column("value", Form.NUMBER, name="of_target"),
    Column("unit"),
    *(Column(name, Form.RATIO) for name in ("ratio", "low", "high")),
    Column(LIKELY_CAUSE, name="likely_cause"),
)


def section(judged: Judged) -> Section | None:
    return asked(judged) if changed(judged.tests) else None


def asked(judged: Judged) -> Section:
    """Whose table may be empty: that nothing changed is an answer."""
    base, several = judged.labels[0], len(judged.labels) > 2
    tests = {test.name: test for test in judged.tests}
    found = changed(judged.tests)
    values = f"{base} → {'target' if several else judged.labels[1]}"
    titles = ["test", *(["target"] if several else []), "what it does", values, LIKELY_CAUSE]
    rows: list[Row] = []
    for item in found[:MOST_SHOWN]:
        test = tests[item.test]
        target = [item.target] if several else []
        said = "\n".join(told_changes(test, item, base))
        rows.append([test.name, *target, what_it_does(test) or None, said, _cause(test, item)])
    more = len(found) - len(rows)
    notes = [f"{count_of(more, 'more change')} in the table of all tests."] if more > 0 else []
    data = [line for item in found for line in _lines(tests[item.test], item, base)]
    table = Table(list(map(Column, titles)), rows, notes=notes).trimmed()
    return Section(
        title="What changed",
        tables=[table] if found else [],
        print_on=None if found else lambda console: say(console, _NOTHING),
        data=[Table(_DATA, data, lead=2, sheet="Changes")],
        is_first=True,
    )


def changed(tests: Sequence[TestPart]) -> list[NotedComparison]:
    """What changed or could not be compared: wrong results and failures, what is worse, what is better; the largest first."""
    items = [item for test in tests for item in test.comparisons]
    return sorted((one for one in items if one.verdict in (*CHANGES, *SPOILT) or one.is_worse), key=_size, reverse=True)


def _size(item: NotedComparison) -> tuple[bool, bool, float]:
    sizes = [abs(math.log(one.ratio)) for one in changes_of(item) if one.ratio]
    return item.verdict in SPOILT, item.is_worse, max(sizes, default=0.0)


def changes_of(item: NotedComparison) -> list[Finding]:
    return [one for one in item.findings.values() if one.judged and one.counted in CHANGES]


def told_changes(test: TestPart, item: NotedComparison, base: str) -> list[str]:
    """Each judged metric that changed, with both values, the ratio and its interval; else the verdict and why."""
    if item.verdict in SPOILT or not (found := changes_of(item)):
        return [f"{SIGNS[item.verdict]} {item.verdict}", *item.notes[:1]]
    said = [_told(_figure(test, one), one, base) for one in found]
    return [f"a trade: {traded}", *said] if (traded := trade(item)) else said


def _told(figure: Figure | None, finding: Finding, base: str) -> str:
    """`▼ CPU/op 57.1 → 67.3 µs: +18 %, 1.179 [1.150, 1.209]`"""
    title = f"{SIGNS[finding.counted]} {SHORT_TITLES[finding.metric]}"
    over = " over all its work" if finding.whole_work else ""
    said = f"{change(finding.ratio)}{over}, {finding_text(finding)}"
    before, after = _values(figure, finding, base)
    if figure is None or before is None or after is None:
        return f"{title} {said}"
    return f"{title} {number(before)} → {number(after)} {figure.unit.removesuffix('/op')}: {said}"


def _figure(test: TestPart, finding: Finding) -> Figure | None:
    return next((figure for figure in test.figures if figure.metric == finding.metric), None)


def _values(figure: Figure | None, finding: Finding, base: str) -> tuple[float | None, float | None]:
    if figure is None:
        return None, None
    sides = [figure.estimates.get(label) for label in (base, finding.target)]
    before, after = (one.value if one else None for one in sides)
    return before, after


def what_it_does(test: TestPart) -> str:
    """Its statement, or the names of its statements; empty where no suite is stored."""
    if len(test.statements) != 1:
        return ", ".join(one.name for one in test.statements)
    sql = " ".join(next(iter(test.statements[0].sql.values()), "").split())
    return sql if len(sql) <= _LONGEST else f"{sql[:_LONGEST]}…"


def _cause(test: TestPart, item: NotedComparison) -> str | None:
    """None where nothing is known."""
    found = next((one for one in test.explanations if one.target == item.target), None)
    return likely_cause(found) if found and (found.likely or found.same) else None


def _lines(test: TestPart, item: NotedComparison, base: str) -> Iterator[Any]:
    """A line per metric that changed; one where there is none."""
    why = _cause(test, item)
    if item.verdict in SPOILT or not changes_of(item):
        yield [item.test, item.target, None, str(item.verdict), *[None] * 6, why]
        return
    for one in changes_of(item):
        figure = _figure(test, one)
        values = _values(figure, one, base)
        yield [
            item.test,
            item.target,
            one.metric,
            str(one.counted),
            *values,
            figure.unit if figure else None,
            one.ratio,
            one.low,
            one.high,
            why,
        ]
