"""Events of logs on the clock of the series, which stands still while a target is frozen, and bursts that counters tell."""

from collections.abc import Sequence
from typing import Any

import pytest

from dbversus.results.records import Log, Logged, Seconds, Series
from dbversus.results.records.evidence import LogEvent
from dbversus.results.tables.events import event_rows
from dbversus.results.tables.timeline import timeline_rows

S = 10**9
T0 = 1_700_000_000 * S
LABELS = {"t0": "a"}


def series(pieces: Sequence[Sequence[tuple[float, float]]], **more: Any) -> Series:
    """Seconds that were driven in these pieces, in s after T0."""
    number = len(pieces)
    nothing = [0] * number
    figures = {"second": list(range(number)), "elapsed_ns": [S] * number, "ops": [9] * number, "rows": nothing}
    figures |= {"affected": nothing, "errors": nothing, "slowest_ns": nothing, "server_cpu_ns": nothing}
    figures |= {"server_read_bytes": nothing, "server_write_bytes": nothing}
    clock = [[(T0 + round(at * S), round(length * S)) for at, length in second] for second in pieces]
    return Series(0, "load", {"t0": Seconds(**{**figures, **more}, pieces=clock)})


def placed(began_s: float | None, ended_s: float | None) -> tuple[str, float, float]:
    """Three seconds: driven from 0 to 1, from 2 to 2.5 and 4 to 4.5, and from 6 to 7."""
    course = series([[(0, 1)], [(2, 0.5), (4, 0.5)], [(6, 1)]])
    moments = [None if at is None else T0 + round(at * S) for at in (began_s, ended_s)]
    log = Log(0, "load", {"t0": Logged(1, [], [LogEvent("checkpoint", moments[0], moments[1], "time")])})
    (row,) = event_rows([course, log], LABELS, [])
    assert (row["test"], row["target"], row["what"], row["source"]) == ("load", "a", "checkpoint", "log")
    return row["placed"], row["second"], row["driven_s"]


@pytest.mark.parametrize(
    ("began_s", "ended_s", "expected"),
    [
        (0.25, 0.75, ("driven", 0.25, 0.5)),
        (0.25, 4.25, ("driven", 0.25, 1.5)),  # 3 s of the 4 it was frozen
        (1.2, 1.6, ("between slices", 1.0, 0.0)),
        (2.7, 3.0, ("between slices", 1.5, 0.0)),
        (1.5, 3.0, ("driven", 1.0, 0.5)),  # both ends lie between slices, what is driven lies within
        (-5, -4, ("before", 0.0, 0.0)),
        (-5, 0.5, ("driven", 0.0, 0.5)),
        (9, 10, ("after", 3.0, 0.0)),
        (6.5, None, ("driven", 2.5, 0.5)),
        (None, 6.5, ("driven", 2.5, 0.0)),
        (1.9995, 2.1, ("driven", 1.0, 0.1)),  # logs tell whole milliseconds
    ],
)
def test_an_event_lies_where_its_target_was_driven(
    began_s: float | None, ended_s: float | None, expected: tuple[str, float, float]
) -> None:
    where, second, driven_s = placed(began_s, ended_s)
    assert where == expected[0]
    assert [second, driven_s] == pytest.approx([*expected[1:]])


def test_events_of_a_resumed_test_lie_in_its_later_seconds() -> None:
    later = series([[(100, 1)], [(102, 1)]])
    log = Log(0, "load", {"t0": Logged(1, [], [LogEvent("checkpoint", T0 + 102 * S, T0 + 102 * S + S // 2, "")])})
    (row,) = event_rows([series([[(0, 1)]]), later, log], LABELS, [])
    assert (row["second"], row["driven_s"]) == (2.0, 0.5)


def test_a_test_without_a_clock_has_no_events() -> None:
    log = Log(0, "load", {"t0": Logged(1, [], [LogEvent("checkpoint", T0, T0, "")])})
    assert event_rows([log], LABELS, []) == []
    assert event_rows([series([]), log], LABELS, []) == []


def test_seconds_with_far_more_writes_than_usual_are_a_burst_unless_the_log_tells_what_it_was() -> None:
    writes = [2_000_000] * 12
    writes[4:6] = [9_000_000, 11_000_000]
    course = series([[(2 * number, 1)] for number in range(12)], server_write_bytes=writes)
    rows = timeline_rows([course], LABELS)
    (row,) = event_rows([course], LABELS, rows)
    assert (row["what"], row["source"], row["second"], row["driven_s"]) == ("burst of writes", "counters", 4.0, 2.0)
    assert row["words"] == "20.0 MB in 2.0 s, when quiet 2.00 MB/s" and row["began_unix_ns"] == T0 + 8 * S
    log = Log(0, "load", {"t0": Logged(1, [], [LogEvent("checkpoint", T0, T0, "")])})
    assert [row["source"] for row in event_rows([course, log], LABELS, rows)] == ["log"]


@pytest.mark.parametrize(
    "writes",
    [
        [2_000_000] * 12,
        [1000] * 11 + [900_000],  # less than is worth telling
        [2_000_000] * 8 + [20_000_000],  # of so few seconds nobody knows when it is quiet
        [2_000_000] * 2 + [20_000_000] * 10,  # more, nearly always
    ],
)
def test_there_is_not_always_a_burst(writes: list[int]) -> None:
    course = series([[(number, 1)] for number in range(len(writes))], server_write_bytes=writes)
    assert event_rows([course], LABELS, timeline_rows([course], LABELS)) == []


def test_a_server_that_flushes_in_every_other_second_has_bursts() -> None:
    course = series([[(number, 1)] for number in range(12)], server_write_bytes=[200_000, 20_000_000] * 6)
    rows = event_rows([course], LABELS, timeline_rows([course], LABELS))
    assert [(row["second"], row["driven_s"]) for row in rows] == [(float(at), 1.0) for at in range(1, 12, 2)]
