"""Settings that differ: which show a sign of having to do with a change, and which are weak."""

from dataclasses import replace

import pytest
from msgspec.structs import replace as replace_facts

from dbversus.explain.cause import Kind
from dbversus.explain.settings_diff import AS_SUITE
from dbversus.report.parts.notes.cause_words import brief
from dbversus.results.records.experiment import Rendered
from dbversus.stats.metrics import (
    BACKGROUND_CPU,
    CPU,
    IO_BYTES,
    THROUGHPUT,
)

from .forged import INDEX, SEQ, SLOWER, TEST, explained, finding_of, names_of, pair_of, seen_of


def test_a_setting_between_two_versions_is_a_lead_with_the_command_that_tests_it() -> None:
    pair = pair_of({"work_mem": "16MB"}, {"work_mem": "4MB"}, versions=("14.1", "17.1"))
    (plan, setting) = explained(pair, seen_of(SLOWER, plans=("Filter: (hashed SubPlan ?)", "Materialize"))).causes
    assert plan.kind is Kind.PLAN and (plan.base, plan.mine) == ("hashed SubPlan", "Materialize")
    assert setting.what == "work_mem" and not setting.tested and not setting.is_sure
    assert setting.command == (
        f"dbversus compare postgres:17.1@c postgres:17.1@c,work_mem=16MB --tests {TEST} --profile quick --suite /s.toml"
    )


def test_a_setting_that_only_one_version_has_is_a_lead_where_its_operator_came_or_went() -> None:
    new = {"enable_memoize": "on", "enable_new_thing": "on"}
    pair = pair_of({"jit": "off"}, {"jit": "off", **new}, asked=({}, {}), versions=("13.1", "14.1"))
    found = explained(pair, seen_of(SLOWER, plans=("Seq Scan on a", "Memoize")))
    assert [cause.what for cause in found.causes] == [f"{TEST}/s", "enable_memoize"]
    assert "enable_memoize=off" in found.causes[1].command
    assert names_of(pair, seen_of(SLOWER, plans=(SEQ, INDEX))) == [(Kind.PLAN, f"{TEST}/s")]


def test_files_of_an_index_build_point_to_how_it_sorts_and_not_to_temporary_tables() -> None:
    both = {"innodb_sort_buffer_size": "1048576"}
    only_new = {"innodb_ddl_buffer_size": "1048576", "temptable_max_ram": "1073741824"}
    pair = pair_of(both, both | only_new, asked=({}, {}), dbms="mysql", versions=("5.6.24", "8.0.33"))
    files = {CPU: (1000.0, 1250.0), IO_BYTES: (100.0, 347.0), "counter.status.created_tmp_files": (7.0, 24.0)}
    assert [what for kind, what in names_of(pair, seen_of(files, writes=True)) if kind is Kind.SETTING] == [
        "innodb_ddl_buffer_size"
    ]
    tables = {CPU: (1000.0, 1250.0), "counter.status.created_tmp_disk_tables": (1.0, 4.0)}
    assert [what for kind, what in names_of(pair, seen_of(tables)) if kind is Kind.SETTING] == ["temptable_max_ram"]


def test_a_setting_of_an_engine_without_tables_is_no_lead_but_is_known_where_it_was_asked_for() -> None:
    name, seen = "innodb_purge_batch_size", seen_of(SLOWER, writes=True)
    between = ({name: "300"}, {name: "127"})
    assert names_of(pair_of(*between, versions=("10.5.1", "10.11.1"), dbms="mariadb", asked=({}, {})), seen)
    assert names_of(pair_of(*between, versions=("10.5.1", "10.11.1"), dbms="myrocks", asked=({}, {})), seen) == []
    found = explained(pair_of(*between, dbms="myrocks"), seen)
    assert [cause.what for cause in found.causes if cause.tested] == [name] and not found.same_config


def test_settings_without_a_sign_are_no_causes() -> None:
    base, mine = ({"max_wal_size": f"{size}GB", "work_mem": f"{size}MB"} for size in (1, 2))
    pair = pair_of(base, mine, versions=("16.1", "17.1"))
    assert names_of(pair, seen_of(SLOWER)) == []
    assert names_of(pair, seen_of(SLOWER, writes=True)) == [(Kind.SETTING, "max_wal_size")]
    assert [cause.is_weak for cause in explained(pair, seen_of(SLOWER, writes=True)).causes] == [False]
    of_defaults = pair_of(base, mine, versions=("16.1", "17.1"), asked=({}, {}))
    found = explained(of_defaults, seen_of(SLOWER, writes=True))
    assert [cause.is_weak for cause in found.causes] == [True] and not found.likely
    by_version = pair_of(base, mine, versions=("16.1", "17.1"), configs=("c", "c"))
    found = explained(by_version, seen_of(SLOWER, writes=True))
    assert [cause.is_weak for cause in found.causes] == [True] and not found.likely


def test_what_a_config_sets_by_version_is_weak_beside_what_another_config_asks_for() -> None:
    """A third target, of the newer build with the base's config, tells the two apart."""
    base, mine = {"max_wal_size": "1GB"}, {"max_wal_size": "2GB", "wal_compression": "on"}
    asked = base, mine
    pair = pair_of(
        {**base, "wal_compression": "off"}, mine, versions=("16.1", "17.1"), configs=("c", "c,d"), asked=asked
    )
    rendered = Rendered("c", {"max_wal_size": "2GB"})
    without = replace_facts(pair.facts[1], name="t2", label="postgres:17.1@c", config="c", rendered=rendered)
    third = replace(pair, header=replace_facts(pair.header, targets=[*pair.header.targets, without]))
    weak = [
        {cause.what: cause.is_weak for cause in explained(one, seen_of(SLOWER, writes=True)).causes}
        for one in (pair, third)
    ]
    assert weak == [
        {"max_wal_size": False, "wal_compression": False},
        {"max_wal_size": True, "wal_compression": False},
    ]


@pytest.mark.parametrize(("ratio", "is_weak"), [(2.9, True), (1.2, False), (0.4, False)])
def test_what_another_target_of_the_build_changed_by_as_much_without_is_no_cause(ratio: float, is_weak: bool) -> None:
    base, mine = {"wal_compression": "off"}, {"wal_compression": "on"}
    pair = pair_of(base, mine, versions=("16.1", "17.1"), configs=("c", "c,d"), asked=({}, mine))
    without = replace_facts(pair.facts[1], name="t2", label="postgres:17.1@c", config="c", rendered=Rendered("c", {}))
    three = replace(pair, header=replace_facts(pair.header, targets=[*pair.header.targets, without]))
    others = {without.label: {CPU: finding_of(CPU, (100.0, 100.0 * ratio))}}
    (cause,) = explained(three, replace(seen_of({CPU: (100.0, 300.0)}, writes=True), others=others)).causes
    assert (cause.what, cause.is_weak) == ("wal_compression", is_weak)


def test_no_command_puts_back_what_only_a_config_less_would() -> None:
    ddl = "ddl.index"
    base, mine = {ddl: AS_SUITE}, {ddl: "WITH (deduplicate_items = off)"}
    there, back = (pair_of(*values, versions=("16.1", "17.1")) for values in ((base, mine), (mine, base)))
    (asked,), (less,) = (explained(pair, seen_of(SLOWER, writes=True)).causes for pair in (there, back))
    assert (asked.what, asked.command) == (ddl, "")
    assert "deduplicate_items" in less.command


def test_settings_of_connections_are_told_where_operations_connect() -> None:
    pair = pair_of({"thread_cache_size": "9"}, {"thread_cache_size": "0"}, versions=("5.7.1", "8.0.1"), dbms="mysql")
    assert names_of(pair, seen_of(SLOWER)) == []
    assert names_of(pair, seen_of(SLOWER, connects=True)) == [(Kind.SETTING, "thread_cache_size")]
    started = {CPU: (100.0, 130.0), THROUGHPUT: (900.0, 700.0), "counter.status.threads_created": (0.0, 1.0)}
    first, second = explained(pair, seen_of(started, connects=True)).likely
    assert (first.what, second.what) == ("thread_cache_size", "counter.status.threads_created")


def test_a_setting_whose_counter_came_from_nothing_is_likely() -> None:
    pair = pair_of({"log_bin": "OFF"}, {"log_bin": "ON"}, asked=({}, {}), versions=("5.7.1", "8.0.1"), dbms="mysql")
    first, second = explained(
        pair, seen_of({**SLOWER, "counter.status.binlog_cache_use": (0.0, 1.0)}, writes=True)
    ).likely
    assert (first.what, first.base, first.mine) == ("log_bin", "OFF", "ON")
    assert second.what == "counter.status.binlog_cache_use" and "@c,skip_log_bin=ON" in first.command


@pytest.mark.parametrize(("thread", "is_lead"), [("ib_log_writer", True), ("ib_srv_purge", False)])
def test_a_setting_of_one_version_is_a_lead_where_its_thread_does_the_work(thread: str, is_lead: bool) -> None:
    of_thread = {
        f"background.{thread}": (0.0, 140.0),
        "background.mysqld": (10.0, 0.0),
        "background.other": (0.0, 10.0),
    }
    pairs = {CPU: (100.0, 300.0), THROUGHPUT: (900.0, 800.0), BACKGROUND_CPU: (10.0, 150.0), **of_thread}
    values = {"flush": "OFF"}, {"flush": "OFF", "innodb_log_writer_threads": "ON"}
    pair = pair_of(*values, versions=("5.6.1", "8.0.33"), dbms="mysql")
    *settings, background = explained(pair, seen_of(pairs, writes=True)).causes
    assert brief(background) == f"background CPU per op 10.00 → 150.0 ({thread})"
    assert [cause.what for cause in settings] == ["innodb_log_writer_threads"] * is_lead
    assert all("@c,innodb_log_writer_threads=OFF --tests" in cause.command for cause in settings)


@pytest.mark.parametrize(("writer", "is_lead"), [((0.0, 40.0), True), ((38.0, 40.0), False)])
def test_threads_of_a_setting_are_a_sign_though_servers_do_as_much_by_the_second(
    writer: tuple[float, float], is_lead: bool
) -> None:
    """MySQL 5.6 calls all threads mysqld, and does four times the operations of 8.0 in a second."""
    threads = {"background.ib_log_writer": writer, "background.mysqld": (12.0, 0.0), BACKGROUND_CPU: (12.0, 40.0)}
    pairs = {CPU: (60.0, 180.0), THROUGHPUT: (12_000.0, 3000.0), **threads}
    values = {"flush": "OFF"}, {"flush": "OFF", "innodb_log_writer_threads": "ON"}
    pair = pair_of(*values, versions=("5.6.1", "8.0.33"), dbms="mysql")
    named = (Kind.SETTING, "innodb_log_writer_threads") in names_of(pair, seen_of(pairs, writes=True))
    assert named is is_lead


@pytest.mark.parametrize(
    ("plan", "is_weak"),
    [("d ALL (Using temporary)", False), ("d const key=PRIMARY", True)],
    ids=["compares", "does not"],
)
def test_a_collation_is_a_likely_lead_of_plans_that_compare_texts(plan: str, is_weak: bool) -> None:
    base, mine = {"collation_server": "latin1_swedish_ci"}, {"collation_server": "utf8mb4_0900_ai_ci"}
    pair = pair_of(base, mine, versions=("5.7.22", "8.0.33"), dbms="mysql", asked=({}, {}))
    found = explained(pair, seen_of(SLOWER, same_plans={"search/s": plan})).causes
    assert [cause.is_weak for cause in found if cause.what == "collation_server"] == ([] if is_weak else [False])
