"""Counters and parts of the cost: which move with a change and make enough of it."""

from dataclasses import replace

import pytest

from dbversus.explain.cause import Kind
from dbversus.stats.metrics import (
    COUNTER,
    CPU,
    IO_BYTES,
    READ_BYTES,
    THROUGHPUT,
    WAIT,
    WRITE_BYTES,
)
from dbversus.stats.model import Verdict

from .forged import SLOWER, explained, names_of, pair_of, seen_of


def test_counters_are_causes_where_they_mean_something_in_the_direction_of_the_change() -> None:
    pair = pair_of(versions=("5.7.1", "8.0.1"), dbms="mysql")
    pairs = {
        **SLOWER,
        "counter.status.qcache_hits": (0.95, 0.001),
        "counter.status.created_tmp_disk_tables": (1.0, 0.001),
        "counter.status.com_something": (1.0, 900.0),
    }
    assert names_of(pair, seen_of(pairs)) == [(Kind.COUNTER, "counter.status.qcache_hits")]


@pytest.mark.parametrize(("amount", "worse", "named"), [(0.95, True, True), (0.95, False, False), (0.01, True, False)])
def test_a_query_cache_that_the_newer_version_does_not_have_is_a_lead(amount: float, worse: bool, named: bool) -> None:
    settings = {"query_cache_type": "ON", "query_cache_size": "64MB"}
    pair = pair_of(settings | {"autocommit": "ON"}, {"autocommit": "ON"}, versions=("5.7.22", "8.0.33"), dbms="mysql")
    seen = seen_of({CPU: (10.0, 900.0) if worse else (900.0, 10.0)})
    seen = replace(seen, base={**seen.base, "counter.status.qcache_hits": amount})
    found = names_of(pair, seen)
    assert ((Kind.COUNTER, "counter.status.qcache_hits") in found) is named
    assert (found[0] in {(Kind.SETTING, name) for name in settings} if found else False) is named


def test_a_background_thread_has_its_share_of_the_change() -> None:
    pairs = {CPU: (100.0, 300.0), THROUGHPUT: (900.0, 800.0), "background.purge": (10.0, 160.0), WAIT: (50.0, 150.0)}
    (cause,) = explained(pair_of(versions=("16.1", "17.1")), seen_of(pairs, writes=True)).causes
    assert (cause.kind, cause.what, cause.share) == (Kind.BACKGROUND, "background.purge", 0.75)


@pytest.mark.parametrize("is_of_reads", [True, False])
@pytest.mark.parametrize("counter", ["status.handler_read_next", "status.innodb_dblwr_pages_written"])
def test_bytes_written_do_not_follow_from_reads_nor_bytes_read_from_writes(counter: str, is_of_reads: bool) -> None:
    most, little = (100.0, 900.0), (50.0, 60.0)
    read, written = (most, little) if is_of_reads else (little, most)
    bytes_of = {READ_BYTES: read, WRITE_BYTES: written, IO_BYTES: (150.0, 960.0)}
    pair = pair_of(versions=("8.0.1", "8.0.2"), dbms="mysql")
    named = names_of(pair, seen_of({**bytes_of, f"{COUNTER}{counter}": (100.0, 200.0)}, writes=True))
    assert ((Kind.COUNTER, f"{COUNTER}{counter}") in named) is (("read" in counter) == is_of_reads)


def test_pages_have_their_bytes_of_the_change_and_their_cost_of_cpu_time() -> None:
    pages = {f"{COUNTER}status.innodb_dblwr_pages_written": (0.0, 0.5)}
    pair = pair_of(versions=("5.7.1", "8.0.1"), dbms="mysql")
    (of_bytes,) = explained(pair, seen_of({IO_BYTES: (2000.0, 18_384.0), **pages}, writes=True)).causes
    assert of_bytes.share == pytest.approx(0.5)
    assert not names_of(pair, seen_of({CPU: (1000.0, 1500.0), IO_BYTES: (18_384.0, 18_384.0), **pages}, writes=True))


def test_what_servers_do_by_the_clock_is_no_cause_where_they_do_far_fewer_operations() -> None:
    pairs = {
        CPU: (100.0, 2600.0),
        THROUGHPUT: (2600.0, 100.0),
        IO_BYTES: (9000.0, 9000.0),
        "background.walwriter": (3.0, 80.0),
        "counter.wal.position_bytes": (1.0, 90_000.0),
        "counter.background.buffers_clean": (0.1, 2.6),
    }
    pair = pair_of(versions=("12.1", "13.1"))
    assert names_of(pair, seen_of(pairs)) == []
    assert (Kind.COUNTER, "counter.wal.position_bytes") in names_of(pair, seen_of(pairs, writes=True))


def test_a_counter_that_stands_still_while_its_parts_move_is_broken() -> None:
    pair = pair_of(versions=("10.11.5", "11.4.5"), dbms="mariadb")
    broken = {
        **SLOWER,
        "counter.status.innodb_buffer_pool_read_requests": (0.0, 400.0),
        "counter.status.rows_read": (500.0, 580.0),
    }
    assert "counter.status.innodb_buffer_pool_read_requests" not in [
        what for _, what in names_of(pair, seen_of(broken))
    ]
    sound = {
        **SLOWER,
        "counter.status.innodb_buffer_pool_read_requests": (0.0, 400.0),
        "counter.status.rows_read": (0.0, 580.0),
    }
    assert names_of(pair, seen_of(sound)) != names_of(pair, seen_of(broken))


def test_a_counter_that_counts_otherwise_is_none_between_versions() -> None:
    pairs = {
        **SLOWER,
        "counter.status.rocksdb_write_wal": (1.0, 2.0),
        "counter.status.rocksdb_stall_micros": (1.0, 90.0),
    }
    found = names_of(pair_of(versions=("5.6.1", "8.0.1"), dbms="myrocks"), seen_of(pairs, writes=True))
    assert found == [(Kind.COUNTER, "counter.status.rocksdb_stall_micros")]


@pytest.mark.parametrize(("bytes_per_op", "is_lead"), [(700.0, False), (700_000.0, True)])
def test_a_counter_whose_cost_is_next_to_nothing_of_the_change_is_no_lead(bytes_per_op: float, is_lead: bool) -> None:
    written = (1.0, bytes_per_op)
    pairs = {
        CPU: (100_000.0, 150_000.0),
        IO_BYTES: (bytes_per_op, bytes_per_op),
        f"{COUNTER}wal.position_bytes": written,
    }
    found = names_of(pair_of(versions=("16.1", "17.1")), seen_of(pairs, writes=True))
    assert ((Kind.COUNTER, f"{COUNTER}wal.position_bytes") in found) is is_lead


@pytest.mark.parametrize("busy", [False, True])
def test_waits_in_the_run_queue_are_no_lead_on_a_busy_host(busy: bool) -> None:
    pairs = {CPU: (100.0, 101.0), THROUGHPUT: (900.0, 300.0), WAIT: (50.0, 800.0)}
    seen = seen_of(pairs, busy=busy)
    quiet = {**seen.findings, CPU: replace(seen.findings[CPU], verdict=Verdict.EQUIVALENT)}
    found = names_of(pair_of(versions=("16.1", "17.1")), replace(seen, findings=quiet))
    assert ((Kind.COST, WAIT) in found) is not busy


@pytest.mark.parametrize(("wait_us", "is_lead"), [(3.0, False), (15.0, False), (100.0, True)])
def test_waits_that_are_little_of_what_an_operation_takes_longer_are_no_lead(wait_us: float, is_lead: bool) -> None:
    pairs = {THROUGHPUT: (30_000.0, 1_000.0), WAIT: (2.0, wait_us)}  # 967 µs more per operation
    found = names_of(pair_of(versions=("16.1", "17.1")), seen_of(pairs))
    assert ((Kind.COST, WAIT) in found) is is_lead


@pytest.mark.parametrize(
    ("written", "is_lead"), [((582.0, 679.0), False), ((0.0, 679.0), True), ((100.0, 679.0), True)]
)
def test_a_little_more_of_a_telling_counter_is_no_lead(written: tuple[float, float], is_lead: bool) -> None:
    pairs = {**SLOWER, f"{COUNTER}file.binlog.write_bytes": written}
    found = names_of(pair_of(versions=("5.7.1", "8.0.1"), dbms="mysql"), seen_of(pairs, writes=True))
    assert ((Kind.COUNTER, f"{COUNTER}file.binlog.write_bytes") in found) is is_lead


@pytest.mark.parametrize(("dbms", "is_lead"), [("mysql", True), ("mariadb", True), ("postgres", False)])
def test_what_only_a_dbms_of_another_family_counts_is_no_lead(dbms: str, is_lead: bool) -> None:
    pair = pair_of(versions=("5.7.1", "8.0.1"), dbms="mysql")
    other = replace(pair, target=replace(pair.target, dbms=dbms))
    seen = seen_of(SLOWER, writes=True)
    seen = replace(seen, mine={**seen.mine, f"{COUNTER}status.created_tmp_disk_tables": 2.0})
    assert bool(names_of(other, seen)) is is_lead
