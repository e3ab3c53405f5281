"""Causes of forged changes: what is tested, what is a lead, what is neither."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from msgspec.structs import replace as replace_facts

from dbversus.explain.cause import Cause, Explanation, Kind
from dbversus.explain.find import COUNT, Seen, explain
from dbversus.explain.pair import Pair
from dbversus.explain.plan_diff import PlanDifference, normalise_plan
from dbversus.explain.settings_diff import AS_SUITE, SettingDifference, differing_settings
from dbversus.explain.storage import READS_OF_WHAT_FITS, SLOW_BLOCK, WAITS_FOR_DEVICE
from dbversus.report.parts.notes.cause_words import brief
from dbversus.results.records import Experiment
from dbversus.results.records.experiment import Rendered, TargetFacts
from dbversus.results.stored import Target
from dbversus.stats.metrics import (
    BACKGROUND_CPU,
    COUNTER,
    CPU,
    DISK_READ_BYTES,
    DISK_READS,
    IO_BYTES,
    READ_BYTES,
    THROUGHPUT,
    WAIT,
    WRITE_BYTES,
)
from dbversus.stats.model import Finding, Verdict

TEST = "search"
JUDGED = (CPU, THROUGHPUT, IO_BYTES)
SEQ, INDEX = (
    "Seq Scan on items a\n  Filter: (class = ?)",
    "Index Scan using items_class on items a\n  Index Cond: (class = ?)",
)
Pairs = Mapping[str, tuple[float, float]]


def _pair(
    base: dict[str, str] | None = None,
    mine: dict[str, str] | None = None,
    *,
    versions: tuple[str, str] = ("17.1", "17.1"),
    dbms: str = "postgres",
    asked: tuple[dict[str, str], dict[str, str]] | None = None,
    configs: tuple[str, str] = ("b", "c"),
    **header: Any,
) -> Pair:
    """Two targets with these settings; `asked`: what their configs say, all of it unless told otherwise."""
    values = base or {}, mine or {}
    rendered = [Rendered("c", settings) for settings in asked or values]
    labels = [f"{dbms}:{versions[0]}", f"{dbms}:{versions[1]}@c"]
    facts = [
        TargetFacts(f"t{n}", labels[n], dbms, versions[n], configs[n], f"sum of {versions[n]}", rendered[n])
        for n in range(2)
    ]
    command = f"dbversus compare {' '.join(labels)} --profile quick --tests 'a,b' --suite /s.toml --out x"
    known = Experiment(schema=2, targets=facts, tests=[TEST], suite="/s.toml", command=command, **header)
    targets = [Target(f"t{n}", labels[n], dbms, versions[n], "c") for n in range(2)]
    return Pair(known, targets[0], targets[1], (0, 1), differing_settings(values, [dbms, dbms]))


def _seen(pairs: Pairs, *, plans: tuple[str, str] | None = None, **more: Any) -> Seen:
    findings = {name: _finding(name, pair) for name, pair in pairs.items()}
    differing = [PlanDifference(f"{TEST}/s", plans)] if plans else []
    base, mine = ({name: pair[side] for name, pair in pairs.items()} for side in (0, 1))
    return Seen(TEST, findings, base, mine, plans=differing, **more)


def _finding(metric: str, pair: tuple[float, float]) -> Finding:
    ratio = max(pair[1], 0.01) / max(pair[0], 0.01)
    better = metric == THROUGHPUT
    verdict = Verdict.EQUIVALENT if ratio == 1 else Verdict.REGRESSION if (ratio > 1) != better else Verdict.IMPROVEMENT
    figures = ratio, ratio * 0.9, ratio * 1.1, 0.95, 4, 0.0, 0.0, 0.05, None, None, None
    return Finding(TEST, "new", metric, verdict, *figures, judged=metric in JUDGED, higher_is_better=better)


SLOWER = {CPU: (100.0, 300.0), THROUGHPUT: (900.0, 300.0)}


def _explained(pair: Pair, seen: Seen) -> Explanation:
    found = explain(pair, seen)
    assert found is not None
    return found


def _names(pair: Pair, seen: Seen) -> list[tuple[Kind, str]]:
    return [(cause.kind, cause.what) for cause in _explained(pair, seen).causes]


def test_what_did_not_change_is_not_explained() -> None:
    assert explain(_pair({"jit": "off"}, {"jit": "on"}), _seen({CPU: (100.0, 100.0)}, plans=(SEQ, INDEX))) is None


def test_the_one_setting_that_differs_between_equal_builds_is_tested() -> None:
    found = _explained(_pair({"jit": "off"}, {"jit": "on"}), _seen(SLOWER))
    (cause,) = found.causes
    assert (cause.kind, cause.what, cause.base, cause.mine) == (Kind.SETTING, "jit", "off", "on")
    assert cause.tested and cause.is_sure and found.explained == 1.0
    assert "compiles" in cause.means and cause.source


def test_several_settings_are_tested_together_and_those_with_a_sign_are_leads() -> None:
    pair = _pair({"work_mem": "4MB", "jit": "on"}, {"work_mem": "64kB", "jit": "off"})
    first, *rest = _explained(pair, _seen(SLOWER, plans=("Sort", "Materialize"))).causes
    assert first.tested and first.what == "jit, work_mem" and (first.base, first.mine) == ("on, 4MB", "off, 64kB")
    assert [cause.what for cause in rest if cause.kind is Kind.SETTING] == ["work_mem"]
    assert not any(cause.tested for cause in rest)


def test_an_option_that_servers_show_under_another_name_is_tested_too() -> None:
    shown = {"log_bin": "ON", "log_replica_updates": "ON"}, {"log_bin": "OFF", "log_replica_updates": "OFF"}
    pair = _pair(*shown, dbms="mysql", asked=({}, {"skip_log_bin": "ON"}))
    found = _explained(pair, _seen({CPU: (300.0, 100.0)}, writes=True))
    assert [(cause.what, cause.mine, cause.tested) for cause in found.causes] == [("skip_log_bin", "ON", True)]


def test_an_option_that_changed_nothing_is_no_cause() -> None:
    pair = _pair({"jit": "off"}, {"jit": "off"}, asked=({}, {"jit": "off"}), versions=("16.1", "17.1"))
    assert _names(pair, _seen(SLOWER)) == [] and _explained(pair, _seen(SLOWER)).same_config


def test_what_was_asked_for_counts_where_servers_did_not_tell() -> None:
    pair = _pair({"jit": "off"}, {"jit": "on"})
    found = _explained(replace(pair, settings=None), _seen(SLOWER))
    assert [(cause.what, cause.tested) for cause in found.causes] == [("jit", True)]


def test_a_setting_between_two_versions_is_a_lead_with_the_command_that_tests_it() -> None:
    pair = _pair({"work_mem": "16MB"}, {"work_mem": "4MB"}, versions=("14.1", "17.1"))
    (plan, setting) = _explained(pair, _seen(SLOWER, plans=("Filter: (hashed SubPlan ?)", "Materialize"))).causes
    assert plan.kind is Kind.PLAN and (plan.base, plan.mine) == ("hashed SubPlan", "Materialize")
    assert setting.what == "work_mem" and not setting.tested and not setting.is_sure
    assert setting.command == (
        f"dbversus compare postgres:17.1@c postgres:17.1@c,work_mem=16MB --tests {TEST} --profile quick --suite /s.toml"
    )


def test_a_setting_that_only_one_version_has_is_a_lead_where_its_operator_came_or_went() -> None:
    new = {"enable_memoize": "on", "enable_new_thing": "on"}
    pair = _pair({"jit": "off"}, {"jit": "off", **new}, asked=({}, {}), versions=("13.1", "14.1"))
    found = _explained(pair, _seen(SLOWER, plans=("Seq Scan on a", "Memoize")))
    assert [cause.what for cause in found.causes] == [f"{TEST}/s", "enable_memoize"]
    assert "enable_memoize=off" in found.causes[1].command
    assert _names(pair, _seen(SLOWER, plans=(SEQ, INDEX))) == [(Kind.PLAN, f"{TEST}/s")]


def test_files_of_an_index_build_point_to_how_it_sorts_and_not_to_temporary_tables() -> None:
    both = {"innodb_sort_buffer_size": "1048576"}
    only_new = {"innodb_ddl_buffer_size": "1048576", "temptable_max_ram": "1073741824"}
    pair = _pair(both, both | only_new, asked=({}, {}), dbms="mysql", versions=("5.6.24", "8.0.33"))
    files = {CPU: (1000.0, 1250.0), IO_BYTES: (100.0, 347.0), "counter.status.created_tmp_files": (7.0, 24.0)}
    assert [what for kind, what in _names(pair, _seen(files, writes=True)) if kind is Kind.SETTING] == [
        "innodb_ddl_buffer_size"
    ]
    tables = {CPU: (1000.0, 1250.0), "counter.status.created_tmp_disk_tables": (1.0, 4.0)}
    assert [what for kind, what in _names(pair, _seen(tables)) if kind is Kind.SETTING] == ["temptable_max_ram"]


def test_a_setting_of_an_engine_without_tables_is_no_lead_but_is_known_where_it_was_asked_for() -> None:
    name, seen = "innodb_purge_batch_size", _seen(SLOWER, writes=True)
    between = ({name: "300"}, {name: "127"})
    assert _names(_pair(*between, versions=("10.5.1", "10.11.1"), dbms="mariadb", asked=({}, {})), seen)
    assert _names(_pair(*between, versions=("10.5.1", "10.11.1"), dbms="myrocks", asked=({}, {})), seen) == []
    found = _explained(_pair(*between, dbms="myrocks"), seen)
    assert [cause.what for cause in found.causes if cause.tested] == [name] and not found.same_config


def test_settings_without_a_sign_are_no_causes() -> None:
    base, mine = ({"max_wal_size": f"{size}GB", "work_mem": f"{size}MB"} for size in (1, 2))
    pair = _pair(base, mine, versions=("16.1", "17.1"))
    assert _names(pair, _seen(SLOWER)) == []
    assert _names(pair, _seen(SLOWER, writes=True)) == [(Kind.SETTING, "max_wal_size")]
    assert [cause.is_weak for cause in _explained(pair, _seen(SLOWER, writes=True)).causes] == [False]
    of_defaults = _pair(base, mine, versions=("16.1", "17.1"), asked=({}, {}))
    found = _explained(of_defaults, _seen(SLOWER, writes=True))
    assert [cause.is_weak for cause in found.causes] == [True] and not found.likely
    by_version = _pair(base, mine, versions=("16.1", "17.1"), configs=("c", "c"))
    found = _explained(by_version, _seen(SLOWER, writes=True))
    assert [cause.is_weak for cause in found.causes] == [True] and not found.likely


def test_what_a_config_sets_by_version_is_weak_beside_what_another_config_asks_for() -> None:
    """A third target, of the newer build with the base's config, tells the two apart."""
    base, mine = {"max_wal_size": "1GB"}, {"max_wal_size": "2GB", "wal_compression": "on"}
    asked = base, mine
    pair = _pair({**base, "wal_compression": "off"}, mine, versions=("16.1", "17.1"), configs=("c", "c,d"), asked=asked)
    rendered = Rendered("c", {"max_wal_size": "2GB"})
    without = replace_facts(pair.facts[1], name="t2", label="postgres:17.1@c", config="c", rendered=rendered)
    third = replace(pair, header=replace_facts(pair.header, targets=[*pair.header.targets, without]))
    weak = [
        {cause.what: cause.is_weak for cause in _explained(one, _seen(SLOWER, writes=True)).causes}
        for one in (pair, third)
    ]
    assert weak == [
        {"max_wal_size": False, "wal_compression": False},
        {"max_wal_size": True, "wal_compression": False},
    ]


@pytest.mark.parametrize(("ratio", "is_weak"), [(2.9, True), (1.2, False), (0.4, False)])
def test_what_another_target_of_the_build_changed_by_as_much_without_is_no_cause(ratio: float, is_weak: bool) -> None:
    base, mine = {"wal_compression": "off"}, {"wal_compression": "on"}
    pair = _pair(base, mine, versions=("16.1", "17.1"), configs=("c", "c,d"), asked=({}, mine))
    without = replace_facts(pair.facts[1], name="t2", label="postgres:17.1@c", config="c", rendered=Rendered("c", {}))
    three = replace(pair, header=replace_facts(pair.header, targets=[*pair.header.targets, without]))
    others = {without.label: {CPU: _finding(CPU, (100.0, 100.0 * ratio))}}
    (cause,) = _explained(three, replace(_seen({CPU: (100.0, 300.0)}, writes=True), others=others)).causes
    assert (cause.what, cause.is_weak) == ("wal_compression", is_weak)


def test_no_command_puts_back_what_only_a_config_less_would() -> None:
    ddl = "ddl.index"
    base, mine = {ddl: AS_SUITE}, {ddl: "WITH (deduplicate_items = off)"}
    there, back = (_pair(*values, versions=("16.1", "17.1")) for values in ((base, mine), (mine, base)))
    (asked,), (less,) = (_explained(pair, _seen(SLOWER, writes=True)).causes for pair in (there, back))
    assert (asked.what, asked.command) == (ddl, "")
    assert "deduplicate_items" in less.command


def test_settings_of_connections_are_told_where_operations_connect() -> None:
    pair = _pair({"thread_cache_size": "9"}, {"thread_cache_size": "0"}, versions=("5.7.1", "8.0.1"), dbms="mysql")
    assert _names(pair, _seen(SLOWER)) == []
    assert _names(pair, _seen(SLOWER, connects=True)) == [(Kind.SETTING, "thread_cache_size")]
    started = {CPU: (100.0, 130.0), THROUGHPUT: (900.0, 700.0), "counter.status.threads_created": (0.0, 1.0)}
    first, second = _explained(pair, _seen(started, connects=True)).likely
    assert (first.what, second.what) == ("thread_cache_size", "counter.status.threads_created")


def test_tables_of_mysql_stand_at_the_verdict_with_their_rows() -> None:
    tree = "-> {} on t using k  (cost=1 rows=9) (actual time=0.1..{} rows={} loops=1)"
    executed = tuple(
        f"t {access} key=k rows=9\n--- FORMAT=TREE, executed\n{tree.format(access, ms, rows)}"
        for access, ms, rows in (("ref", 0.5, 310), ("index", 12.5, 98000))
    )
    plan = PlanDifference(f"{TEST}/s", tuple(map(normalise_plan, executed)), executed)
    pair = _pair({}, {}, versions=("8.0.20", "8.0.33"), dbms="mysql")
    (cause,) = _explained(pair, replace(_seen(SLOWER), plans=[plan])).causes
    told = {name: cause.facts[name] for name in ("base_rows", "mine_rows", "base_ms", "mine_total_ms")}
    assert told == {"base_rows": 310, "mine_rows": 98000, "base_ms": 0.5, "mine_total_ms": 12.5}
    assert brief(cause) == "another plan, t: ref by k → t: index by k, 310 → 98,000 rows, 0.5 → 12 ms"


def test_a_setting_whose_counter_came_from_nothing_is_likely() -> None:
    pair = _pair({"log_bin": "OFF"}, {"log_bin": "ON"}, asked=({}, {}), versions=("5.7.1", "8.0.1"), dbms="mysql")
    first, second = _explained(
        pair, _seen({**SLOWER, "counter.status.binlog_cache_use": (0.0, 1.0)}, writes=True)
    ).likely
    assert (first.what, first.base, first.mine) == ("log_bin", "OFF", "ON")
    assert second.what == "counter.status.binlog_cache_use" and "@c,skip_log_bin=ON" in first.command


@pytest.mark.parametrize("inject", [None, {"cpu": 0.1}])
def test_equal_targets_name_none(inject: dict[str, float] | None) -> None:
    pairs = {**SLOWER, "counter.database.temp_bytes": (0.0, 1e6), "background.walwriter": (10.0, 150.0)}
    seen = _seen(pairs, plans=(SEQ, INDEX), conditions=[Cause(Kind.MEMORY, TEST, "postgres:17.1@c", "faults")])
    found = _explained(_pair(spec={"inject": inject} if inject else {}), seen)
    assert found.same == (inject is None)
    assert (found.causes == ()) == (inject is None)


def test_the_same_config_and_another_build_is_told() -> None:
    found = _explained(_pair(versions=("16.1", "17.1")), _seen(SLOWER))
    assert found.same_config and not found.same_build and not found.causes and found.explained is None
    assert not _explained(_pair({"a": "1"}, {"a": "2"}, versions=("16.1", "17.1")), _seen(SLOWER)).same_config


def test_counters_are_causes_where_they_mean_something_in_the_direction_of_the_change() -> None:
    pair = _pair(versions=("5.7.1", "8.0.1"), dbms="mysql")
    pairs = {
        **SLOWER,
        "counter.status.qcache_hits": (0.95, 0.001),
        "counter.status.created_tmp_disk_tables": (1.0, 0.001),
        "counter.status.com_something": (1.0, 900.0),
    }
    assert _names(pair, _seen(pairs)) == [(Kind.COUNTER, "counter.status.qcache_hits")]


@pytest.mark.parametrize(("amount", "worse", "named"), [(0.95, True, True), (0.95, False, False), (0.01, True, False)])
def test_a_query_cache_that_the_newer_version_does_not_have_is_a_lead(amount: float, worse: bool, named: bool) -> None:
    settings = {"query_cache_type": "ON", "query_cache_size": "64MB"}
    pair = _pair(settings | {"autocommit": "ON"}, {"autocommit": "ON"}, versions=("5.7.22", "8.0.33"), dbms="mysql")
    seen = _seen({CPU: (10.0, 900.0) if worse else (900.0, 10.0)})
    seen = replace(seen, base={**seen.base, "counter.status.qcache_hits": amount})
    found = _names(pair, seen)
    assert ((Kind.COUNTER, "counter.status.qcache_hits") in found) is named
    assert (found[0] in {(Kind.SETTING, name) for name in settings} if found else False) is named


@pytest.mark.parametrize(("amount", "first"), [(0.95, Kind.SETTING), (0.3, Kind.PLAN)])
def test_what_a_query_cache_answered_comes_before_the_plans_that_it_saved(amount: float, first: Kind) -> None:
    kept = {"autocommit": "ON"}
    pair = _pair({"query_cache_size": "64MB"} | kept, kept, versions=("5.7.22", "8.0.33"), dbms="mysql")
    seen = _seen({CPU: (10.0, 900.0)}, plans=("t ref key=k rows=? (Using index condition)", "t ref key=k rows=?"))
    seen = replace(seen, base={**seen.base, "counter.status.qcache_hits": amount})
    assert _names(pair, seen)[0][0] is first


@pytest.mark.parametrize(("reads", "is_cause"), [(900.0, True), (0.0, False)])
def test_a_plan_with_an_index_that_was_not_read_is_not_the_plan_that_ran(reads: float, is_cause: bool) -> None:
    plans = ("t ALL rows=?", "t ref key=k_1 rows=?")
    pairs = {**SLOWER, "counter.index.t.none.reads": (900.0, 900.0), "counter.index.t.k_1.reads": (0.0, reads)}
    pair = _pair(versions=("5.6.1", "5.7.1"), dbms="mysql")
    assert ((Kind.PLAN, f"{TEST}/s") in _names(pair, _seen(pairs, plans=plans))) is is_cause


def test_a_background_thread_has_its_share_of_the_change() -> None:
    pairs = {CPU: (100.0, 300.0), THROUGHPUT: (900.0, 800.0), "background.purge": (10.0, 160.0), WAIT: (50.0, 150.0)}
    (cause,) = _explained(_pair(versions=("16.1", "17.1")), _seen(pairs, writes=True)).causes
    assert (cause.kind, cause.what, cause.share) == (Kind.BACKGROUND, "background.purge", 0.75)


@pytest.mark.parametrize("is_of_reads", [True, False])
@pytest.mark.parametrize("counter", ["status.handler_read_next", "status.innodb_dblwr_pages_written"])
def test_bytes_written_do_not_follow_from_reads_nor_bytes_read_from_writes(counter: str, is_of_reads: bool) -> None:
    most, little = (100.0, 900.0), (50.0, 60.0)
    read, written = (most, little) if is_of_reads else (little, most)
    bytes_of = {READ_BYTES: read, WRITE_BYTES: written, IO_BYTES: (150.0, 960.0)}
    pair = _pair(versions=("8.0.1", "8.0.2"), dbms="mysql")
    named = _names(pair, _seen({**bytes_of, f"{COUNTER}{counter}": (100.0, 200.0)}, writes=True))
    assert ((Kind.COUNTER, f"{COUNTER}{counter}") in named) is (("read" in counter) == is_of_reads)


@pytest.mark.parametrize(("thread", "is_lead"), [("ib_log_writer", True), ("ib_srv_purge", False)])
def test_a_setting_of_one_version_is_a_lead_where_its_thread_does_the_work(thread: str, is_lead: bool) -> None:
    of_thread = {
        f"background.{thread}": (0.0, 140.0),
        "background.mysqld": (10.0, 0.0),
        "background.other": (0.0, 10.0),
    }
    pairs = {CPU: (100.0, 300.0), THROUGHPUT: (900.0, 800.0), BACKGROUND_CPU: (10.0, 150.0), **of_thread}
    values = {"flush": "OFF"}, {"flush": "OFF", "innodb_log_writer_threads": "ON"}
    pair = _pair(*values, versions=("5.6.1", "8.0.33"), dbms="mysql")
    *settings, background = _explained(pair, _seen(pairs, writes=True)).causes
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
    pair = _pair(*values, versions=("5.6.1", "8.0.33"), dbms="mysql")
    named = (Kind.SETTING, "innodb_log_writer_threads") in _names(pair, _seen(pairs, writes=True))
    assert named is is_lead


def test_of_a_trade_what_got_worse_is_explained() -> None:
    found = _explained(_pair(versions=("16.1", "17.1")), _seen({CPU: (100.0, 200.0), IO_BYTES: (900.0, 90.0)}))
    assert found.metric == CPU


def test_where_nothing_tells_of_the_largest_change_another_is_explained() -> None:
    io, background = {IO_BYTES: (100.0, 400.0)}, {"background.purge": (10.0, 90.0)}
    pair = _pair(versions=("16.1", "17.1"))
    assert _explained(pair, _seen({CPU: (100.0, 220.0), **io}, writes=True)).metric == IO_BYTES
    assert _explained(pair, _seen({CPU: (100.0, 220.0), **io, **background}, writes=True)).metric == CPU
    # but none that is a trifle beside it
    assert _explained(pair, _seen({CPU: (100.0, 130.0), **io, **background}, writes=True)).metric == IO_BYTES


def test_pages_have_their_bytes_of_the_change_and_their_cost_of_cpu_time() -> None:
    pages = {f"{COUNTER}status.innodb_dblwr_pages_written": (0.0, 0.5)}
    pair = _pair(versions=("5.7.1", "8.0.1"), dbms="mysql")
    (of_bytes,) = _explained(pair, _seen({IO_BYTES: (2000.0, 18_384.0), **pages}, writes=True)).causes
    assert of_bytes.share == pytest.approx(0.5)
    assert not _names(pair, _seen({CPU: (1000.0, 1500.0), IO_BYTES: (18_384.0, 18_384.0), **pages}, writes=True))


def test_what_servers_do_by_the_clock_is_no_cause_where_they_do_far_fewer_operations() -> None:
    pairs = {
        CPU: (100.0, 2600.0),
        THROUGHPUT: (2600.0, 100.0),
        IO_BYTES: (9000.0, 9000.0),
        "background.walwriter": (3.0, 80.0),
        "counter.wal.position_bytes": (1.0, 90_000.0),
        "counter.background.buffers_clean": (0.1, 2.6),
    }
    pair = _pair(versions=("12.1", "13.1"))
    assert _names(pair, _seen(pairs)) == []
    assert (Kind.COUNTER, "counter.wal.position_bytes") in _names(pair, _seen(pairs, writes=True))


def test_a_counter_that_stands_still_while_its_parts_move_is_broken() -> None:
    pair = _pair(versions=("10.11.5", "11.4.5"), dbms="mariadb")
    broken = {
        **SLOWER,
        "counter.status.innodb_buffer_pool_read_requests": (0.0, 400.0),
        "counter.status.rows_read": (500.0, 580.0),
    }
    assert "counter.status.innodb_buffer_pool_read_requests" not in [what for _, what in _names(pair, _seen(broken))]
    sound = {
        **SLOWER,
        "counter.status.innodb_buffer_pool_read_requests": (0.0, 400.0),
        "counter.status.rows_read": (0.0, 580.0),
    }
    assert _names(pair, _seen(sound)) != _names(pair, _seen(broken))


def test_a_counter_that_counts_otherwise_is_none_between_versions() -> None:
    pairs = {
        **SLOWER,
        "counter.status.rocksdb_write_wal": (1.0, 2.0),
        "counter.status.rocksdb_stall_micros": (1.0, 90.0),
    }
    found = _names(_pair(versions=("5.6.1", "8.0.1"), dbms="myrocks"), _seen(pairs, writes=True))
    assert found == [(Kind.COUNTER, "counter.status.rocksdb_stall_micros")]


@pytest.mark.parametrize(
    ("versions", "means"), [(("11.1", "12.1"), "WITH"), (("12.1", "11.1"), ""), (("12.1", "13.1"), "")]
)
def test_what_a_version_plans_otherwise_stands_with_the_plan(versions: tuple[str, str], means: str) -> None:
    (plan,) = _explained(_pair(versions=versions), _seen(SLOWER, plans=("CTE Scan on t", "Subquery Scan on t"))).causes
    assert plan.means.startswith(means) and bool(plan.means) == bool(means) == bool(plan.source)


def test_rows_that_moved_with_the_change_stand_with_the_plan() -> None:
    pairs = {**SLOWER, "counter.table.seq_tup_read": (100.0, 90_000.0), "counter.database.blks_hit": (40.0, 45.0)}
    (plan,) = _explained(_pair(versions=("16.1", "17.1")), _seen(pairs, plans=(INDEX, SEQ))).causes
    assert (plan.facts["rows"], plan.facts["rows_base"], plan.facts["rows_mine"]) == (
        "table.seq_tup_read",
        100.0,
        90_000.0,
    )


def test_what_one_of_the_two_had_to_bear_counts_against_it_alone() -> None:
    memory = [Cause(Kind.MEMORY, TEST, label, "major page faults") for label in ("postgres:16.1", "postgres:17.1@c")]
    pair = _pair(versions=("16.1", "17.1"))
    assert _names(pair, _seen(SLOWER, conditions=memory[1:])) == [(Kind.MEMORY, "major page faults")]
    assert _names(pair, _seen(SLOWER, conditions=memory[:1])) == []
    assert _names(pair, _seen(SLOWER, conditions=memory)) == []


@pytest.mark.parametrize("what", WAITS_FOR_DEVICE)
def test_who_waits_for_a_device_uses_no_cpu_time_and_moves_no_bytes(what: str) -> None:
    pair = _pair(versions=("17.1", "17.2"))
    waits = [Cause(Kind.STORAGE, TEST, pair.target.label, what)]
    fewer, dearer, bulkier = {THROUGHPUT: (900.0, 300.0)}, {CPU: (100.0, 300.0)}, {IO_BYTES: (100.0, 300.0)}
    assert _names(pair, _seen(fewer, conditions=waits)) == [(Kind.STORAGE, what)]
    assert _names(pair, _seen(dearer, conditions=waits)) == []
    assert _names(pair, _seen(bulkier, conditions=waits)) == []
    both = {THROUGHPUT: (900.0, 300.0), CPU: (100.0, 200.0)}
    assert _names(pair, _seen(both, conditions=waits)) == []


@pytest.mark.parametrize(("there", "is_named"), [(0.1, True), (0.5, False), (0.87, False)])
def test_a_slow_block_is_a_lead_where_it_could_have_moved_all_of_them(there: float, is_named: bool) -> None:
    pair = _pair(versions=("17.1", "17.2"))
    slow = Cause(Kind.STORAGE, TEST, pair.target.label, SLOW_BLOCK, facts={"throughput_of_median": there, "blocks": 6})
    assert bool(_names(pair, _seen({THROUGHPUT: (900.0, 300.0)}, conditions=[slow]))) is is_named


@pytest.mark.parametrize(("throughput", "metric"), [(50.0, CPU), (20.0, THROUGHPUT)])
def test_cpu_time_tells_more_where_it_changed_nearly_as_much(throughput: float, metric: str) -> None:
    seen = _seen({CPU: (100.0, 186.0), THROUGHPUT: (100.0, throughput)})
    assert _explained(_pair(versions=("17.1", "17.2")), seen).metric == metric


def test_a_known_bug_of_the_slower_side_comes_first() -> None:
    pair = _pair(versions=("8.0.15", "8.0.25"), dbms="mysql")
    seen = Seen("random-points-100", {CPU: _finding(CPU, (100.0, 110.0))}, {CPU: 100.0}, {CPU: 110.0})
    assert _names(pair, seen) == [(Kind.KNOWN, "MySQL bug 102037")]
    faster = Seen("random-points-100", {CPU: _finding(CPU, (110.0, 100.0))}, {CPU: 110.0}, {CPU: 100.0})
    assert _names(pair, faster) == []


def test_settings_of_another_dbms_are_not_compared() -> None:
    pair = _pair(versions=("16.1", "17.1"))
    other = SettingDifference("jit", ("on", None), others=(1,))
    assert Pair(pair.header, pair.base, pair.target, (0, 1), [other]).differing == {}


@pytest.mark.parametrize(
    ("planning_ms", "share"),
    [
        ((0.05, 0.2), 0.75),
        ((0.05, 0.3), 1.0),
        ((0.05, 0.6), None),
        ((0.05, 0.055), None),
        ((0.2, 0.05), None),
        ((0.05, 0.065), None),
    ],
    ids=["most of it", "no more than all", "far more than all", "too little", "the other way", "less than a tenth"],
)
def test_planning_is_a_lead_where_it_is_a_part_of_the_change(
    planning_ms: tuple[float, float], share: float | None
) -> None:
    seen = _seen(SLOWER, planning_ms={"search/s": planning_ms})
    found = [
        cause for cause in _explained(_pair(versions=("16.1", "17.1")), seen).causes if cause.kind is Kind.PLANNING
    ]
    assert [cause.share for cause in found] == ([] if share is None else [pytest.approx(share)])
    assert all(cause.what == "search/s" and not cause.tested for cause in found)


@pytest.mark.parametrize(
    ("counted", "plans", "found"),
    [
        (("vm_steps", 100, 300), None, ["VM steps"]),
        (("vm_steps", 300, 100), None, []),
        (("vm_steps", 100, 300), ("SEARCH t", "SCAN t"), []),
    ],
    ids=["more often", "the other way", "the plan says it"],
)
def test_what_statements_of_equal_plans_do_more_often_is_a_lead(
    counted: tuple[str, int, int], plans: tuple[str, str] | None, found: list[str]
) -> None:
    seen = _seen(SLOWER, plans=plans, counted={"search/s": counted})
    causes = _explained(_pair(versions=("3.45.0", "3.46.0"), dbms="sqlite"), seen).causes
    assert [cause.facts[COUNT] for cause in causes if cause.kind is Kind.DONE] == found


NINE = "Seq Scan on t\n  Filter: ((j + i) = ANY ('{1,2,3,4,5,6,7,8,9}'::integer[]))"
FASTER = {name: (mine, base) for name, (base, mine) in SLOWER.items()}


@pytest.mark.parametrize(
    ("plan", "versions", "pairs", "on"),
    [
        (NINE, ("13.1", "14.1"), FASTER, ["postgres:14.1@c"]),
        (NINE, ("14.1", "13.1"), SLOWER, ["postgres:14.1"]),
        (NINE, ("13.1", "14.1"), SLOWER, []),
        (NINE, ("14.1", "16.1"), FASTER, []),
        (NINE.replace(",9", ""), ("13.1", "14.1"), FASTER, []),
        (NINE.replace("Filter:", "Index Cond:"), ("13.1", "14.1"), FASTER, []),
    ],
    ids=["newer", "older", "the other way", "both have it", "too few", "by an index"],
)
def test_what_a_version_executes_otherwise_by_the_same_plan_is_a_lead(
    plan: str, versions: tuple[str, str], pairs: Pairs, on: list[str]
) -> None:
    causes = _explained(_pair(versions=versions), _seen(pairs, same_plans={"search/s": plan})).causes
    found = [cause for cause in causes if cause.what == "hashed lists of constants"]
    assert [cause.facts["on"] for cause in found] == on and all(cause.kind is Kind.KNOWN for cause in found)
    other = _seen(pairs, same_plans={"search/s": plan}, plans=("Seq Scan on t", "Result"))
    assert "hashed lists of constants" not in [
        cause.what for cause in _explained(_pair(versions=versions), other).causes
    ]


def test_the_time_of_one_execution_is_not_told_against_the_verdict() -> None:
    """Hundreds of executions say that the target is slower, and one on a busy host the opposite."""
    ran = tuple(f"{scan}\nExecution Time: {ms} ms" for scan, ms in (("Sort", 278.0), ("Result", 188.0)))
    for pairs, told in ((SLOWER, (None, None)), (FASTER, (278.0, 188.0))):
        seen = replace(_seen(pairs), plans=[PlanDifference(f"{TEST}/s", ("Sort", "Result"), ran)])
        (plan,) = (one for one in _explained(_pair(versions=("16.1", "17.1")), seen).causes if one.kind is Kind.PLAN)
        assert (plan.facts["base_total_ms"], plan.facts["mine_total_ms"]) == told


@pytest.mark.parametrize(
    ("plan", "is_weak"),
    [("d ALL (Using temporary)", False), ("d const key=PRIMARY", True)],
    ids=["compares", "does not"],
)
def test_a_collation_is_a_likely_lead_of_plans_that_compare_texts(plan: str, is_weak: bool) -> None:
    base, mine = {"collation_server": "latin1_swedish_ci"}, {"collation_server": "utf8mb4_0900_ai_ci"}
    pair = _pair(base, mine, versions=("5.7.22", "8.0.33"), dbms="mysql", asked=({}, {}))
    found = _explained(pair, _seen(SLOWER, same_plans={"search/s": plan})).causes
    assert [cause.is_weak for cause in found if cause.what == "collation_server"] == ([] if is_weak else [False])


@pytest.mark.parametrize(("bytes_per_op", "is_lead"), [(700.0, False), (700_000.0, True)])
def test_a_counter_whose_cost_is_next_to_nothing_of_the_change_is_no_lead(bytes_per_op: float, is_lead: bool) -> None:
    written = (1.0, bytes_per_op)
    pairs = {
        CPU: (100_000.0, 150_000.0),
        IO_BYTES: (bytes_per_op, bytes_per_op),
        f"{COUNTER}wal.position_bytes": written,
    }
    found = _names(_pair(versions=("16.1", "17.1")), _seen(pairs, writes=True))
    assert ((Kind.COUNTER, f"{COUNTER}wal.position_bytes") in found) is is_lead


@pytest.mark.parametrize(
    ("pairs", "is_lead"),
    [
        ({CPU: (300.0, 400.0), DISK_READS: (0.0, 0.01)}, False),
        ({CPU: (300.0, 400.0), DISK_READS: (0.0, 1.0)}, True),
        ({CPU: (300.0, 400.0), DISK_READS: (1.0, 1.0)}, False),
        ({THROUGHPUT: (900.0, 300.0), DISK_READS: (0.0, 0.01)}, False),
        ({THROUGHPUT: (900.0, 300.0), DISK_READS: (0.0, 0.5)}, True),
        ({IO_BYTES: (20_000.0, 40_000.0), DISK_READ_BYTES: (0.0, 160.0)}, False),
        ({IO_BYTES: (20_000.0, 40_000.0), DISK_READ_BYTES: (0.0, 16_000.0)}, True),
    ],
)
def test_reads_of_what_fits_are_a_lead_where_there_are_enough_of_them(pairs: Pairs, is_lead: bool) -> None:
    pair = _pair(versions=("16.1", "17.1"))
    reads = [Cause(Kind.STORAGE, TEST, pair.target.label, READS_OF_WHAT_FITS)]
    seen = _seen(pairs, conditions=reads)
    judged = {name: one for name, one in seen.findings.items() if one.judged}
    assert bool(_names(pair, replace(seen, findings=judged))) is is_lead


@pytest.mark.parametrize("busy", [False, True])
def test_waits_in_the_run_queue_are_no_lead_on_a_busy_host(busy: bool) -> None:
    pairs = {CPU: (100.0, 101.0), THROUGHPUT: (900.0, 300.0), WAIT: (50.0, 800.0)}
    seen = _seen(pairs, busy=busy)
    quiet = {**seen.findings, CPU: replace(seen.findings[CPU], verdict=Verdict.EQUIVALENT)}
    found = _names(_pair(versions=("16.1", "17.1")), replace(seen, findings=quiet))
    assert ((Kind.COST, WAIT) in found) is not busy


@pytest.mark.parametrize(
    ("written", "is_lead"), [((582.0, 679.0), False), ((0.0, 679.0), True), ((100.0, 679.0), True)]
)
def test_a_little_more_of_a_telling_counter_is_no_lead(written: tuple[float, float], is_lead: bool) -> None:
    pairs = {**SLOWER, f"{COUNTER}file.binlog.write_bytes": written}
    found = _names(_pair(versions=("5.7.1", "8.0.1"), dbms="mysql"), _seen(pairs, writes=True))
    assert ((Kind.COUNTER, f"{COUNTER}file.binlog.write_bytes") in found) is is_lead


@pytest.mark.parametrize(("dbms", "is_lead"), [("mysql", True), ("mariadb", True), ("postgres", False)])
def test_what_only_a_dbms_of_another_family_counts_is_no_lead(dbms: str, is_lead: bool) -> None:
    pair = _pair(versions=("5.7.1", "8.0.1"), dbms="mysql")
    other = replace(pair, target=replace(pair.target, dbms=dbms))
    seen = _seen(SLOWER, writes=True)
    seen = replace(seen, mine={**seen.mine, f"{COUNTER}status.created_tmp_disk_tables": 2.0})
    assert bool(_names(other, seen)) is is_lead
