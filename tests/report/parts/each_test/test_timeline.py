"""Seconds of tests that last: the worst of them in words, and what charts draw of them."""

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from dbversus.report.parts.each_test.timeline import courses, server_events, worst_seconds
from dbversus.results.records import Log, Logged, Seconds, Series, Slots
from dbversus.results.records.evidence import LogEvent, RoleSeconds
from dbversus.results.stored import Results

from ....stats.twin_results import Truth, twin_results

SECOND_NS = 10**9


def series_results(*blocks: Sequence[tuple[int, int, int]]) -> Results:
    """Blocks of the base's seconds: operations, slowest response in ms, length in ns."""
    results: Results = twin_results(Truth(blocks=2, tests=1))
    records = [
        Series(number, "test0", {results.base.name: seconds_of(seconds)}) for number, seconds in enumerate(blocks)
    ]
    return replace(results, records=(*results.records, *records))


def seconds_of(seconds: Sequence[tuple[int, int, int]]) -> Seconds:
    nothing = [0] * len(seconds)
    unknown: list[int | None] = [None] * len(seconds)
    return Seconds(
        second=list(range(len(seconds))),
        elapsed_ns=[length for *_, length in seconds],
        ops=[ops for ops, *_ in seconds],
        rows=nothing,
        affected=nothing,
        errors=nothing,
        slowest_ns=[slowest * 10**6 for _, slowest, _ in seconds],
        server_cpu_ns=unknown,
        server_read_bytes=unknown,
        server_write_bytes=unknown,
    )


def test_the_worst_second_of_all_blocks_is_named() -> None:
    results = series_results(
        [(100, 2, SECOND_NS), (90, 3, SECOND_NS), (1, 1, SECOND_NS // 10)],
        [(100, 2, SECOND_NS), (10, 950, SECOND_NS)],
    )
    label = results.base.label
    assert worst_seconds(results, "test0") == (
        f"worst second of {label}: slowest response 950.0 ms (block 2, second 2); "
        "lowest rate 10 operations/s, 75 on average (block 2, second 2)",
    )
    # of the first block, without its short end
    (course,) = courses(results, "test0")
    drawn = course.targets[label]
    assert [(second.at_s, second.rate, second.slowest_ms) for second in drawn] == [(0, 100, 2), (1, 90, 3)]


def test_of_work_in_which_next_to_nothing_ends_there_is_no_worst_second() -> None:
    results = series_results([(0, 0, SECOND_NS), (0, 0, SECOND_NS), (1, 2500, SECOND_NS)])
    assert worst_seconds(results, "test0") == ()
    drawn = courses(results, "test0")[0].targets[results.base.label]
    assert [second.slowest_ms for second in drawn] == [None, None, 2500]


def test_a_test_without_seconds_says_nothing() -> None:
    results = series_results()
    assert worst_seconds(results, "test0") == () and courses(results, "test0") == ()


def test_each_role_has_a_course_of_its_own() -> None:
    results = series_results()
    roles = {
        "orders": RoleSeconds(ops=[4, 2], slowest_ns=[10**6] * 2),
        "readers": RoleSeconds(ops=[9, 0], slowest_ns=[10**7, 0]),
    }
    both = msgspec.structs.replace(seconds_of([(9, 10, SECOND_NS), (0, 0, SECOND_NS)]), roles=roles)
    results = replace(results, records=(*results.records, Series(0, "test0", {results.base.name: both})))
    label = results.base.label
    found = {course.role: course.targets[label] for course in courses(results, "test0")}
    assert [(second.rate, second.slowest_ms) for second in found["orders"]] == [(4, 1.0), (2, 1.0)]
    assert [(second.rate, second.slowest_ms) for second in found["readers"]] == [(9, 10.0), (0, None)]
    assert list(found) == ["orders", "readers"]


def test_rows_inserted_are_counted_where_that_is_what_operations_do() -> None:
    results = series_results([(100, 2, SECOND_NS), (50, 2, SECOND_NS)])
    plan = Slots(0, "test0", slot={}, settle={}, rows=1, does={"": "insert"})
    slots = {**results.slots, "affected": results.slots["ops"] * 50}
    (course,) = courses(replace(results, records=(*results.records, plan), slots=slots), "test0")
    assert course.unit == "rows inserted/s (ips)"
    assert [second.rate for second in course.targets[results.base.label]] == [5000, 2500]


def test_events_are_those_of_the_block_whose_seconds_are_drawn() -> None:
    seconds = [(100, 2, SECOND_NS), (50, 2, SECOND_NS)]
    results = series_results(seconds, seconds)
    name = results.base.name
    pieces = [[(number * SECOND_NS, SECOND_NS)] for number in range(2)]
    clocked = [
        msgspec.structs.replace(record, targets={name: msgspec.structs.replace(record.targets[name], pieces=pieces)})
        if isinstance(record, Series)
        else record
        for record in results.records
    ]
    event = LogEvent("checkpoint", SECOND_NS // 2, SECOND_NS, "wal")
    logs = [Log(block, "test0", {name: Logged(1, [], [event])}) for block in range(2)]
    (one,) = server_events(replace(results, records=(*clocked, *logs)), "test0")
    assert (one.target, one.what, one.at_s, one.driven_s, one.took_s) == (
        results.base.label,
        "checkpoint",
        0.5,
        0.5,
        0.5,
    )
