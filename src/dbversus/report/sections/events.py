"""What servers did of their own accord in a test that lasts: checkpoints, vacuum, bursts of writes."""

from collections.abc import Sequence

from dbversus.report.charts.lanes import SHORT
from dbversus.report.judged import Judged
from dbversus.report.model import ServerEvent, TestPart
from dbversus.report.section import Part, Section
from dbversus.report.table import Column, Form, Row, Table

LACKS = "has no events of servers; --table events needs a test that lasts."
MOST_ROWS = 40
"""The page has so many of each test, those that took longest."""
_NOTE = (
    "Moments and lengths are of driven time, which stands still while a target is frozen; what a server says that it took goes "
    "on meanwhile. `show --sql` has the events of all blocks (table `events`)."
)
_COLUMNS = (
    Column("target"),
    Column("what"),
    Column("at, s", Form.NUMBER, name="at_s"),
    Column("driven, s", Form.NUMBER, name="driven_s"),
    Column("took, s", Form.NUMBER, name="took_s"),
    Column("where"),
    Column("as told", name="as_told"),
)


def section(judged: Judged) -> Section | None:
    tests = [test for test in judged.tests if test.events]
    return of_tests(tests) if tests else None


def of_tests(tests: Sequence[TestPart]) -> Section:
    rows = [[test.name, *_row(one)] for test in tests for one in test.events]
    data = Table(
        [Column("test"), *_COLUMNS],
        rows,
        2,
        title="Server events of the first block",
        sheet="Server events",
        notes=[_NOTE],
    )
    return Section(title="Server events", data=[data], of_tests={test.name: _of_test(test) for test in tests})


def _row(one: ServerEvent) -> Row:
    return [one.target, one.what, one.at_s, one.driven_s, one.took_s, one.placed, one.words]


def _of_test(test: TestPart) -> Part:
    """A line per event, by target and moment; under it what the names of lanes above charts stand for."""
    kept = sorted(test.events, key=lambda one: one.driven_s, reverse=True)[:MOST_ROWS]
    rows = [_row(one) for one in test.events if one in kept]
    title = "Server events of the first block"
    if len(rows) < len(test.events):
        title = f"{title}, the {len(rows)} longest of {len(test.events)}"
    lanes = [f"{short}: {what}" for what, short in SHORT.items() if any(one.what == what for one in test.events)]
    key = [f"Bars above the lines of charts are server events. {', '.join(lanes)}."] if lanes and test.courses else []
    return Part([Table(_COLUMNS, rows, title=title, notes=[_NOTE], is_folded=True)], key)
