"""What is named beside a verdict, and in which order, from constructed findings and figures."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from dbversus.explain.costs import Place, cost_causes
from dbversus.report.parts.notes.cause_words import NAMED_AT_MOST, also_changed, brief
from dbversus.stats.metrics import CPU, DRAIN_CPU, IO_BYTES, THROUGHPUT
from dbversus.stats.model import Finding, Verdict

Pairs = Mapping[str, tuple[float, float]]
FOREGROUND, BACKGROUND = "server_foreground_cpu_us_per_op", "server_background_cpu_us_per_op"
USER, SYSTEM = "server_user_us_per_op", "server_system_us_per_op"


def _finding(metric: str, pair: tuple[float, float], verdict: Verdict | None = None) -> Finding:
    ratio = max(pair[1], 0.01) / max(pair[0], 0.01)
    known = verdict or (Verdict.REGRESSION if ratio > 1 else Verdict.IMPROVEMENT)
    figures = ratio, None, None, 0.95, 4, 0.0, 0.0, 0.05, None, None, None
    return Finding("t", "new", metric, known, *figures, judged=metric in (CPU, IO_BYTES))


def _named(pairs: Pairs, **verdicts: Verdict) -> list[str]:
    """Titles and figures, in order."""
    findings = {name: _finding(name, pair, verdicts.get(name)) for name, pair in pairs.items()}
    base, mine = ({name: pair[side] for name, pair in pairs.items()} for side in (0, 1))
    sentence = also_changed(cost_causes(findings, base, mine), max(base[CPU], mine[CPU]))
    return sentence.removeprefix("also changed: ").split(", ") if sentence else []


def test_a_background_thread_that_costs_much_is_named_first_with_its_share() -> None:
    pairs = {
        CPU: (270.0, 457.0),
        FOREGROUND: (250.0, 262.0),
        BACKGROUND: (20.0, 195.0),
        "background.ib_srv_purge": (10.0, 180.0),
        "background.ib_log_writer": (5.0, 9.0),
        "minor_faults_per_op": (0.02, 0.2),
        "counter.status.innodb_pages_created": (0.01, 0.5),
    }
    named = _named(pairs)
    assert named[0] == "background: ib_srv_purge ×18 (10 → 180 of 457 µs/op)"
    assert [name.partition(" ")[0] for name in named[1:]] == ["foreground", "status.innodb_pages_created"]


@pytest.mark.parametrize(
    ("of_base", "of_mine", "named"),
    [
        # MySQL 5.6 calls all of its threads mysqld
        ({"mysqld": 90.0}, {"innodb/srv_purge_thread": 120.0, "ib_log_writer": 60.0}, ["background CPU"]),
        ({"mysqld": 90.0}, {"innodb/srv_purge_thread": 120.0, "mysqld": 60.0}, ["background CPU"]),
        ({"mysqld": 90.0, "aria": 5.0}, {"checkpointer": 160.0, "walwriter": 20.0}, ["background CPU"]),
        ({"purge": 10.0, "page_cleaner": 80.0}, {"purge": 100.0, "page_cleaner": 80.0}, ["background: purge"]),
        ({"purge": 10.0, "mysqld": 80.0}, {"purge": 10.0, "mysqld": 80.0, "log": 90.0}, ["background: log"]),
    ],
)
def test_background_work_of_other_names_is_compared_as_a_whole(
    of_base: dict[str, float], of_mine: dict[str, float], named: list[str]
) -> None:
    names = {*of_base, *of_mine}
    whole = {CPU: (300.0, 400.0), BACKGROUND: (90.0, 180.0)}
    parts = {f"background.{name}": (of_base.get(name, 0.0), of_mine.get(name, 0.0)) for name in names}
    same = [f"background.{name}" for name in names if of_base.get(name) == of_mine.get(name)]
    said = _named({**whole, **parts}, **dict.fromkeys(same, Verdict.EQUIVALENT))
    assert [one.split(" ×")[0].removesuffix(" per op") for one in said] == named


def test_background_work_as_a_whole_names_the_threads_that_do_most_of_it() -> None:
    threads = {"log_writer": (0.0, 35.0), "log_notifier": (0.0, 30.0), "flusher": (0.0, 11.0), "mysqld": (7.0, 0.0)}
    pairs = {CPU: (40.0, 180.0), BACKGROUND: (7.0, 80.0), **{f"background.{name}": of for name, of in threads.items()}}
    for swapped, told in ((False, "7.000 → 80.00"), (True, "80.00 → 7.000")):
        base, mine = ({name: pair[side != swapped] for name, pair in pairs.items()} for side in (0, 1))
        findings = {name: _finding(name, (base[name], mine[name])) for name in pairs}
        (cause,) = (one for one in cost_causes(findings, base, mine) if one.what == BACKGROUND)
        assert brief(cause) == f"background CPU per op {told} (log_writer and log_notifier)"


@pytest.mark.parametrize(
    ("counter", "pair", "is_other", "named"),
    [
        ("innodb.buffer_pool_read_requests", (112.0, 0.0), True, False),
        ("innodb.buffer_pool_read_requests", (112.0, 20.0), True, True),
        ("innodb.buffer_pool_read_requests", (112.0, 0.0), False, True),
        ("status.rocksdb_stall_micros", (0.0, 112.0), True, True),  # whoever is stalled, it costs
        ("status.handler_read_next", (112.0, 0.0), True, True),
    ],
)
def test_what_another_engine_does_not_count_is_no_cost(
    counter: str, pair: tuple[float, float], is_other: bool, named: bool
) -> None:
    pairs = {CPU: (100.0, 150.0), f"counter.{counter}": pair}
    findings = {name: _finding(name, values) for name, values in pairs.items()}
    base, mine = ({name: values[side] for name, values in pairs.items()} for side in (0, 1))
    assert bool(cost_causes(findings, base, mine, Place("myrocks", is_other))) is named


@pytest.mark.parametrize(
    ("metric", "pair", "when_paced"),
    [
        ("counter.file.binlog.write_bytes", (405.0, 345.0), False),  # each query has less of the same inserts
        ("counter.status.innodb_dblwr_writes", (1.63, 0.2), True),
        ("counter.file.binlog.write_bytes", (405.0, 500.0), True),
        ("background.ib_pg_flush_co", (20.0, 16.5), False),
        ("counter.status.handler_read_next", (400.0, 330.0), True),  # of the queries
    ],
)
def test_what_follows_from_writes_at_a_set_rate_is_compared_by_the_second(
    metric: str, pair: tuple[float, float], when_paced: bool
) -> None:
    pairs = {CPU: (100.0, 88.0), THROUGHPUT: (1261.0, 1538.0), IO_BYTES: (2000.0, 1700.0), metric: pair}
    findings = {name: _finding(name, values) for name, values in pairs.items()}
    base, mine = ({name: values[side] for name, values in pairs.items()} for side in (0, 1))
    for paced, named in ((False, True), (True, when_paced)):
        assert (metric in [one.what for one in cost_causes(findings, base, mine, Place("mysql", paced=paced))]) is named


def test_cpu_is_named_in_one_spelling() -> None:
    pairs = {CPU: (100.0, 150.0), FOREGROUND: (70.0, 95.0), BACKGROUND: (30.0, 55.0), USER: (60.0, 100.0)}
    assert [name.split()[0] for name in _named({**pairs, SYSTEM: (40.0, 50.0)})] == ["foreground", "background"]
    # where foreground and background are not known, modes are all there is
    assert [name.split()[1] for name in _named({CPU: (100, 150), USER: (60, 100), SYSTEM: (40, 50)})] == [
        "user",
        "system",
    ]


def test_a_part_that_is_nearly_the_whole_is_named_only_where_the_verdict_does_not_say_it() -> None:
    pairs = {CPU: (100.0, 150.0), FOREGROUND: (98.0, 148.0), IO_BYTES: (1000.0, 2000.0)}
    pairs["write_bytes_per_op"] = (990.0, 1980.0)
    assert _named(pairs) == []
    undecided = _named(pairs, **{CPU: Verdict.UNDECIDED})
    assert [name.split()[0] for name in undecided] == ["foreground"]


def test_one_counter_in_two_views_is_named_once() -> None:
    pairs = {
        CPU: (100.0, 100.0),
        "counter.status.innodb_rows_read": (101.0, 202.0),
        "counter.innodb.dml_reads": (101.2, 201.8),
        "counter.status.handler_read_next": (100.0, 400.0),
    }
    assert [name.split()[0] for name in _named(pairs)] == ["status.handler_read_next", "status.innodb_rows_read"]


def test_trifles_are_left_out() -> None:
    pairs = {
        CPU: (100.0, 130.0),
        "background.ib_buf_dump": (0.05, 0.5),
        "minor_faults_per_op": (0.02, 0.9),
        "counter.status.opened_tables": (0.01, 0.04),
        "write_bytes_per_op": (100.0, 200.0),
        IO_BYTES: (100_000.0, 100_100.0),
        DRAIN_CPU: (1.0, 2.0),
    }
    assert _named(pairs) == []


def test_bytes_count_by_their_share_and_counters_without_a_cost_come_last() -> None:
    pairs = {
        CPU: (100.0, 130.0),
        IO_BYTES: (4000.0, 9000.0),
        "counter.wal.position_bytes": (300.0, 3000.0),
        "counter.status.bytes_sent": (10.0, 9000.0),
        "read_bytes_per_op": (2000.0, 5500.0),
        "counter.status.of_unknown_cost": (1.0, 2.0),
        "server_switches_per_op": (1.0, 9.0),
    }
    named = [name.split(" ×")[0] for name in _named(pairs)]
    assert named == [
        "bytes read per op",
        "wal.position_bytes per op",
        "context switches per op",
        "status.bytes_sent per op",
        "status.of_unknown_cost per op",
    ]


def test_what_is_not_beyond_doubt_or_is_a_response_time_is_not_named() -> None:
    pairs = {CPU: (100.0, 100.0), DRAIN_CPU: (10.0, 60.0), "latency_p99_us": (100.0, 300.0)}
    assert _named(pairs, **{DRAIN_CPU: Verdict.UNDECIDED}) == []
    assert _named(pairs) == ["drained CPU per op ×6"]


def test_cpu_that_makes_no_verdict_is_named() -> None:
    findings = {CPU: replace(_finding(CPU, (100.0, 150.0)), judged=False)}
    (cause,) = cost_causes(findings, {CPU: 100.0}, {CPU: 150.0})
    assert (cause.test, cause.target, cause.what, cause.base, cause.mine) == ("t", "new", CPU, 100.0, 150.0)
    assert (
        also_changed([cause], 150.0)
        == "also changed: server CPU per op +50\N{NO-BREAK SPACE}% (100 → 150 of 150 µs/op)"
    )


def test_only_so_many_are_named() -> None:
    pairs = {CPU: (100.0, 100.0)} | {f"counter.status.c{n}": (1.0, 2.0 + n) for n in range(20)}
    assert len(_named(pairs)) == NAMED_AT_MOST
