"""The lists of what counters and settings mean: they can be read, and each says where it is written."""

import re

import pytest

from dbversus.dbms.model import Family
from dbversus.explain import known
from dbversus.explain.known import is_broken, is_by_the_clock, is_restated, meaning_of, settings_named
from dbversus.stats.metrics import BACKGROUND


def test_every_entry_has_a_source_and_no_name_stands_twice() -> None:
    causes, settings = known._counters().causes, known._settings().settings
    assert all(one.source and one.means for one in causes) and all(one.source and one.means for one in settings)
    names = [name for one in causes for name in one.names]
    assert len(names) == len(set(names))
    for setting in settings:
        assert setting.dbms in set(Family) and (setting.operators or setting.counters or setting.has or setting.tests)
        for pattern in (*setting.operators, setting.has):
            re.compile(pattern)


def test_what_is_executed_otherwise_has_a_source_and_a_pattern() -> None:
    for one in known._plans().executed:
        assert one.source and one.means and one.name and re.compile(one.has).pattern


def test_signs_of_settings_are_threads_or_counters_that_mean_something() -> None:
    named = [name for one in known._counters().causes for name in one.names]
    for setting in known._settings().settings:
        for pattern in setting.counters:
            assert pattern.startswith(BACKGROUND) or any(known.is_named(name, [pattern]) for name in named), pattern


@pytest.mark.parametrize(
    ("counter", "reads", "writes"),
    [("checkpointer.num_timed", True, True), ("wal.wal_bytes", True, False), ("table.seq_tup_read", False, False)],
)
def test_what_is_done_by_the_clock(counter: str, reads: bool, writes: bool) -> None:
    assert (is_by_the_clock(counter, writes=False), is_by_the_clock(counter, writes=True)) == (reads, writes)


def test_times_of_statements_are_no_news() -> None:
    assert is_restated("database.active_time") and not is_restated("database.temp_bytes")


def test_meanings_are_found_by_pattern() -> None:
    found = meaning_of("index.legs.PRIMARY.reads")
    assert found and found.rows
    assert meaning_of("status.uptime") is None
    assert settings_named("optimizer_switch.mrr", "mysql") and not settings_named("optimizer_switch.mrr", "postgres")


@pytest.mark.parametrize("dbms", ["mysql", "mariadb", "myrocks"])
def test_settings_of_an_engine_without_tables_act_on_no_test(dbms: str) -> None:
    assert bool(settings_named("innodb_purge_batch_size", dbms)) == (dbms != "myrocks")
    assert bool(settings_named("rocksdb_flush_log_at_trx_commit", dbms)) == (dbms == "myrocks")
    assert settings_named("sync_binlog", dbms)


def test_a_counter_is_broken_only_where_it_stands_still_beside_others_that_move() -> None:
    name, parts = "status.innodb_buffer_pool_read_requests", "status.rows_read"
    assert is_broken(name, [{name: 0.0, parts: 5_000.0}, {name: 9_000.0, parts: 6_000.0}])
    assert not is_broken(name, [{name: 0.0, parts: 0.0}, {name: 9_000.0, parts: 6_000.0}])
    assert not is_broken(name, [{name: 5_000.0, parts: 5_000.0}, {name: 9_000.0, parts: 6_000.0}])
    assert not is_broken("status.sort_rows", [{"status.sort_rows": 0.0, parts: 5e6}, {"status.sort_rows": 9.0}])
