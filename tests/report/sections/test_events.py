"""Events of servers: a line each, the longest on the page, and what the names of lanes are."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from dbversus.report.assessment import judged_of
from dbversus.report.model import ServerEvent, TestPart
from dbversus.report.sections import events
from dbversus.results.read import open_results
from dbversus.results.records import Log, Logged, Series, Slots
from dbversus.results.records.evidence import LogEvent
from dbversus.results.schema import JOURNAL

from ..parts.each_test.test_timeline import SECOND_NS, seconds_of
from ..synthetic import write_results

TEST = "point-query"


def write(folder: Path) -> Path:
    """Results in which a checkpoint began in the first second of a test that lasts."""
    directory = write_results(folder / "results", blocks=2)
    pieces = [[(number * SECOND_NS, SECOND_NS)] for number in range(2)]
    seconds = msgspec.structs.replace(seconds_of([(100, 2, SECOND_NS)] * 2), pieces=pieces)
    logged = Logged(1, [], [LogEvent("checkpoint", SECOND_NS // 2, SECOND_NS, "wal")])
    plan = Slots(0, TEST, {"ops": 10, "slice_ms": 1000}, {}, 1)
    with (directory / JOURNAL).open("ab") as journal:
        for record in (plan, Series(0, TEST, {"t0": seconds}), Log(0, TEST, {"t0": logged})):
            journal.write(msgspec.json.encode(record) + b"\n")
    return directory


@pytest.fixture(scope="module")
def test_with_event(tmp_path_factory: pytest.TempPathFactory) -> TestPart:
    judged = judged_of(open_results(write(tmp_path_factory.mktemp("events"))))
    (test,) = (test for test in judged.tests if test.events)
    return test


def test_each_event_is_a_line(test_with_event: TestPart) -> None:
    (table,) = events.of_tests([test_with_event]).data
    (row,) = table.rows
    assert row[:3] == [TEST, test_with_event.events[0].target, "checkpoint"]


def test_the_page_has_the_longest_and_says_so(test_with_event: TestPart) -> None:
    many = tuple(ServerEvent("a", "checkpoint", float(n), n / 10, None, "driven", "") for n in range(50))
    part = events.of_tests([replace(test_with_event, events=many)]).of_tests[TEST]
    (table,) = part.tables
    assert len(table.rows) == events.MOST_ROWS and table.title.endswith("the 40 longest of 50") and table.is_folded
    assert part.notes == ["Bars above the lines of charts are server events. ckpt: checkpoint."]
