"""Tests that are judged against each other on each target: two forms of a statement, a workaround and what it is to replace."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from dbversus.explain.executed import planning_in_all_ms
from dbversus.report.judged import Judged
from dbversus.report.section import Part, Section
from dbversus.report.table import Cell, Column, Form, Row, Table, ratio_cell
from dbversus.report.words import SHORT_TITLES, SIGNS, number
from dbversus.stats.across.clients import test_of
from dbversus.stats.forms import FormsCompared
from dbversus.stats.judged import judged_metrics
from dbversus.stats.model import SPOILT, Metric, Verdict
from dbversus.units import count_of

LACKS = "has no test that is `against` another; --table forms needs one (docs/suites/clients.md)."
TITLE = "Forms of a statement against each other"
NOTE = (
    "A test ÷ the one that it is against, on the same target, from slots of the same rows; a regression: the form costs more. "
    "Counters of servers are from a row of each by itself."
)


def section(judged: Judged) -> Section | None:
    found = judged.forms
    if not found:
        return None
    metrics = judged_metrics(judged.results.header)
    table = _table(found, metrics)
    return Section(
        title=TITLE,
        sentences=[sentence(one, _planning(judged, one)) for one in found],
        tables=[table],
        notes=[NOTE],
        on_terminal=Part([table]),
        content=[_content(one, _planning(judged, one)) for one in found],
    )


def _table(found: Sequence[FormsCompared], metrics: Sequence[Metric]) -> Table:
    columns = [Column("test"), Column("against"), Column("target"), Column("verdict"), *map(_column, metrics)]
    rows = [_row(one, metrics) for one in found]
    return Table([*columns, Column("blocks", Form.COUNT)], rows, lead=3, sheet="Forms")


def _column(metric: Metric) -> Column:
    name = SHORT_TITLES[metric.name].lower().replace("/", "_per_").replace(" ", "_")
    return Column(f"{SHORT_TITLES[metric.name]} ratio", Form.RATIO, spread=True, name=f"{name}_ratio", ends=f"{name}_")


def _row(one: FormsCompared, metrics: Sequence[Metric]) -> Row:
    verdict, findings = one.comparison.verdict, one.comparison.findings
    ratios = [ratio_cell(findings.get(metric.name)) for metric in metrics]
    blocks = max((finding.blocks for finding in findings.values()), default=0)
    place = (one.pair.form, one.pair.against, one.pair.target.label)
    return [*place, Cell(str(verdict), sign=SIGNS[verdict]), *ratios, blocks]


def _planning(judged: Judged, one: FormsCompared) -> tuple[float | None, float | None]:
    """Milliseconds of the test that it is against and of the form, each time that they are executed."""
    plans, told = (judged.results.server_json(one.pair.target, name) for name in ("executed.json", "planning.json"))
    against, form = (planning_in_all_ms(test_of(test), plans, told) for test in (one.pair.against, one.pair.form))
    return against, form


def sentence(one: FormsCompared, planning_ms: tuple[float | None, float | None] = (None, None)) -> str:
    """`busy-text ÷ busy on postgres:17: regression, server CPU per op +16.5 % (at least +14.8 %), … (6 blocks).`"""
    item = one.comparison
    if item.verdict is Verdict.WRONG_RESULT:
        return f"{one.pair.name}: {item.verdict}: the two give other answers, so their speeds do not count."
    if item.verdict in SPOILT or not item.findings:
        return f"{one.pair.name}: {item.verdict}."
    blocks = count_of(max(finding.blocks for finding in item.findings.values()), "block")
    against, form = planning_ms
    planning = f"; planning {number(against)} → {number(form)} ms" if against is not None and form is not None else ""
    said = ", ".join(dict.fromkeys(filter(None, (str(item.verdict), one.words))))
    return f"{one.pair.name}: {said} ({blocks}{planning})."


def _content(one: FormsCompared, planning_ms: tuple[float | None, float | None]) -> dict[str, Any]:
    return {
        "test": one.pair.form,
        "against": one.pair.against,
        "target": one.pair.target.label,
        "verdict": one.comparison.verdict,
        "words": one.words,
        "planning_ms": {"against": planning_ms[0], "test": planning_ms[1]},
        "findings": {
            name: asdict(finding) | {"test": one.pair.form, "target": one.pair.target.label}
            for name, finding in one.comparison.findings.items()
        },
    }
