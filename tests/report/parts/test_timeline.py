"""Seconds of tests that last: the worst of them in words, and what charts draw of them."""

from collections.abc import Sequence
from dataclasses import replace

from dbversus.report.parts.timeline import timelines, worst_seconds
from dbversus.results.read import Results
from dbversus.results.records import Seconds, Series

from ...stats.twin_results import Truth, twin_results

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
    drawn = timelines(results, "test0")[label]
    assert [(second.at_s, second.ops_per_s, second.slowest_ms) for second in drawn] == [(0, 100, 2), (1, 90, 3)]


def test_of_work_in_which_next_to_nothing_ends_there_is_no_worst_second() -> None:
    results = series_results([(0, 0, SECOND_NS), (0, 0, SECOND_NS), (1, 2500, SECOND_NS)])
    assert worst_seconds(results, "test0") == ()
    drawn = timelines(results, "test0")[results.base.label]
    assert [second.slowest_ms for second in drawn] == [None, None, 2500]


def test_a_test_without_seconds_says_nothing() -> None:
    results = series_results()
    assert worst_seconds(results, "test0") == () and timelines(results, "test0") == {}
