"""The first sheet: what was compared and what came out, the targets, the host in words, and which sheets there are."""

from collections import Counter
from collections.abc import Iterator, Sequence

from dbversus.report.formats.xlsx.sheets.comparisons.verdicts import verdict_cell
from dbversus.report.model import Assessment
from dbversus.report.parts.experiment import disturbance
from dbversus.report.table import Cell, Column, Form, Lines, Link, Row, Sheet, Table
from dbversus.report.words import MEANINGS, experiment_facts, flat_facts, in_order
from dbversus.units import count_of

_OF_HOST = ("cpu.model", "cpu.cores", "memory.total_bytes", "distribution", "kernel", "virtualisation")
"""What is worth a line here; a sheet has all facts."""
_NO_COMMAND = "The command was not recorded."
_NOTHING_MISSING = "Nothing is missing."


def sheet(assessment: Assessment, others: Sequence[Sheet]) -> Sheet:
    facts = experiment_facts(assessment.header, len(assessment.tests), assessment.blocks)
    about = [
        f"{'; '.join(facts)}; dbversus {assessment.header.dbversus or 'of an unknown version'}.",
        assessment.outcome,
        *assessment.chosen_base,
        *(note for section in assessment.sections if section.is_broken for note in section.notes),
    ]
    parts: list[Table | Lines] = [Lines("", [line for line in about if line]), *_outcome(assessment)]
    parts.append(_targets(assessment))
    if assessment.comparisons:
        parts.append(_counts(assessment))
    parts += _host(assessment)
    parts += _surroundings(assessment)
    return Sheet("Overview", assessment.title, [*parts, _contents(others)])


def _outcome(assessment: Assessment) -> Iterator[Lines]:
    """Sentences of each candidate, and that something went wrong."""
    for facts in assessment.candidates:
        if facts.sentences:
            yield Lines(f"{facts.target.label} against {assessment.base.label}", facts.sentences)
    if not assessment.candidates:
        yield Lines("", [assessment.of_one_target])
    if count := len(assessment.failures):
        yield Lines("What went wrong", [f"{count_of(count, 'failure')}: see the sheet “What went wrong”."])


def _targets(assessment: Assessment) -> Table:
    columns = [Column("target"), Column("is"), Column("DBMS"), Column("version"), Column("config")]
    rows = [
        [one.label, "candidate" if place else "base", one.dbms, one.version, one.config]
        for place, one in enumerate(facts.target for facts in assessment.targets)
    ]
    return Table(columns, rows, title="Targets").trimmed()


def _counts(assessment: Assessment) -> Table:
    """Tests by verdict, a column per candidate."""
    labels = [facts.target.label for facts in assessment.candidates]
    counts = Counter((item.verdict, item.target) for item in assessment.comparisons)
    shown = in_order(Counter(item.verdict for item in assessment.comparisons))
    columns = [Column("verdict"), *(Column(label, Form.COUNT) for label in labels), Column("meaning")]
    rows: list[Row] = [
        [verdict_cell(verdict), *(Cell(counts[verdict, label], verdict) for label in labels), MEANINGS[verdict]]
        for verdict, _ in shown
    ]
    return Table(columns, rows, title="Tests by verdict")


def _host(assessment: Assessment) -> Iterator[Table]:
    facts = dict(flat_facts(assessment.host))
    rows = [[name, facts[name]] for name in _OF_HOST if name in facts]
    if rows:
        yield Table([Column("fact"), Column("value")], rows, title="Host")


def _surroundings(assessment: Assessment) -> Iterator[Lines]:
    for title, lines in (
        ("Builds that differ in code", [assessment.code_layout]),
        ("Disturbance", disturbance.sentences(assessment)),
        ("Calibration", [assessment.calibration]),
        ("The data at the start of blocks", assessment.data_state),
        ("What could not be measured", assessment.not_measured or [_NOTHING_MISSING]),
    ):
        if said := [line for line in lines if line]:
            yield Lines(title, said)
    yield Lines("To repeat it", [assessment.command or _NO_COMMAND], verbatim=True)


def _contents(others: Sequence[Sheet]) -> Table:
    columns = [Column("sheet"), Column("what it has"), Column("lines", Form.COUNT)]
    rows: list[Row] = [[Link(sheet.name), sheet.title, _lines(sheet)] for sheet in others]
    return Table(columns, rows, title="Sheets")


def _lines(sheet: Sheet) -> int:
    return sum(len(part.rows) for part in sheet.parts if isinstance(part, Table))
