"""Causes of forged changes: what is tested, what is a lead, what is neither."""

from dataclasses import replace

import msgspec
import pytest

from dbversus.explain.cause import COUNT, Cause, Kind
from dbversus.explain.change import Seen
from dbversus.explain.find import explain
from dbversus.explain.pair import Pair
from dbversus.explain.settings_diff import SettingDifference
from dbversus.explain.storage import READS_OF_WHAT_FITS, SLOW_BLOCK, WAITS_FOR_DEVICE
from dbversus.stats.metrics import (
    CPU,
    DISK_READ_BYTES,
    DISK_READS,
    IO_BYTES,
    READ_BYTES,
    THROUGHPUT,
)

from .forged import FASTER, INDEX, SEQ, SLOWER, TEST, Pairs, explained, finding_of, names_of, pair_of, seen_of


def test_what_did_not_change_is_not_explained() -> None:
    assert explain(pair_of({"jit": "off"}, {"jit": "on"}), seen_of({CPU: (100.0, 100.0)}, plans=(SEQ, INDEX))) is None


def test_the_one_setting_that_differs_between_equal_builds_is_tested() -> None:
    found = explained(pair_of({"jit": "off"}, {"jit": "on"}), seen_of(SLOWER))
    (cause,) = found.causes
    assert (cause.kind, cause.what, cause.base, cause.mine) == (Kind.SETTING, "jit", "off", "on")
    assert cause.tested and cause.is_sure and found.explained == 1.0
    assert "compiles" in cause.means and cause.source


def test_several_settings_are_tested_together_and_those_with_a_sign_are_leads() -> None:
    pair = pair_of({"work_mem": "4MB", "jit": "on"}, {"work_mem": "64kB", "jit": "off"})
    first, *rest = explained(pair, seen_of(SLOWER, plans=("Sort", "Materialize"))).causes
    assert first.tested and first.what == "jit, work_mem" and (first.base, first.mine) == ("on, 4MB", "off, 64kB")
    assert [cause.what for cause in rest if cause.kind is Kind.SETTING] == ["work_mem"]
    assert not any(cause.tested for cause in rest)


def test_an_option_that_servers_show_under_another_name_is_tested_too() -> None:
    shown = {"log_bin": "ON", "log_replica_updates": "ON"}, {"log_bin": "OFF", "log_replica_updates": "OFF"}
    pair = pair_of(*shown, dbms="mysql", asked=({}, {"skip_log_bin": "ON"}))
    found = explained(pair, seen_of({CPU: (300.0, 100.0)}, writes=True))
    assert [(cause.what, cause.mine, cause.tested) for cause in found.causes] == [("skip_log_bin", "ON", True)]


def test_an_option_that_changed_nothing_is_no_cause() -> None:
    pair = pair_of({"jit": "off"}, {"jit": "off"}, asked=({}, {"jit": "off"}), versions=("16.1", "17.1"))
    assert names_of(pair, seen_of(SLOWER)) == [] and explained(pair, seen_of(SLOWER)).same_config


def test_two_dbms_have_no_config_in_common() -> None:
    pair = pair_of(asked=({}, {}), versions=("16.1", "17.1"))
    base, mine = pair.header.targets
    header = msgspec.structs.replace(pair.header, targets=[base, msgspec.structs.replace(mine, dbms="mysql")])
    assert explained(pair, seen_of(SLOWER)).same_config
    assert not explained(replace(pair, header=header), seen_of(SLOWER)).same_config


def test_what_was_asked_for_counts_where_servers_did_not_tell() -> None:
    pair = pair_of({"jit": "off"}, {"jit": "on"})
    found = explained(replace(pair, settings=None), seen_of(SLOWER))
    assert [(cause.what, cause.tested) for cause in found.causes] == [("jit", True)]


@pytest.mark.parametrize("inject", [None, {"cpu": 0.1}])
def test_equal_targets_name_none(inject: dict[str, float] | None) -> None:
    pairs = {**SLOWER, "counter.database.temp_bytes": (0.0, 1e6), "background.walwriter": (10.0, 150.0)}
    seen = seen_of(pairs, plans=(SEQ, INDEX), conditions=[Cause(Kind.MEMORY, TEST, "postgres:17.1@c", "faults")])
    found = explained(pair_of(spec={"inject": inject} if inject else {}), seen)
    assert found.same == (inject is None)
    assert (found.causes == ()) == (inject is None)


def test_the_same_config_and_another_build_is_told() -> None:
    found = explained(pair_of(versions=("16.1", "17.1")), seen_of(SLOWER))
    assert found.same_config and not found.same_build and not found.causes and found.explained is None
    assert not explained(pair_of({"a": "1"}, {"a": "2"}, versions=("16.1", "17.1")), seen_of(SLOWER)).same_config


@pytest.mark.parametrize(("amount", "first"), [(0.95, Kind.SETTING), (0.3, Kind.PLAN)])
def test_what_a_query_cache_answered_comes_before_the_plans_that_it_saved(amount: float, first: Kind) -> None:
    kept = {"autocommit": "ON"}
    pair = pair_of({"query_cache_size": "64MB"} | kept, kept, versions=("5.7.22", "8.0.33"), dbms="mysql")
    seen = seen_of({CPU: (10.0, 900.0)}, plans=("t ref key=k rows=? (Using index condition)", "t ref key=k rows=?"))
    seen = replace(seen, base={**seen.base, "counter.status.qcache_hits": amount})
    assert names_of(pair, seen)[0][0] is first


def test_of_a_trade_what_got_worse_is_explained() -> None:
    found = explained(pair_of(versions=("16.1", "17.1")), seen_of({CPU: (100.0, 200.0), IO_BYTES: (900.0, 90.0)}))
    assert found.metric == CPU


def test_where_nothing_tells_of_the_largest_change_another_is_explained() -> None:
    io, background = {IO_BYTES: (100.0, 400.0)}, {"background.purge": (10.0, 90.0)}
    pair = pair_of(versions=("16.1", "17.1"))
    assert explained(pair, seen_of({CPU: (100.0, 220.0), **io}, writes=True)).metric == IO_BYTES
    assert explained(pair, seen_of({CPU: (100.0, 220.0), **io, **background}, writes=True)).metric == CPU
    # but none that is a trifle beside it
    assert explained(pair, seen_of({CPU: (100.0, 130.0), **io, **background}, writes=True)).metric == IO_BYTES


def test_what_one_of_the_two_had_to_bear_counts_against_it_alone() -> None:
    memory = [Cause(Kind.MEMORY, TEST, label, "major page faults") for label in ("postgres:16.1", "postgres:17.1@c")]
    pair = pair_of(versions=("16.1", "17.1"))
    assert names_of(pair, seen_of(SLOWER, conditions=memory[1:])) == [(Kind.MEMORY, "major page faults")]
    assert names_of(pair, seen_of(SLOWER, conditions=memory[:1])) == []
    assert names_of(pair, seen_of(SLOWER, conditions=memory)) == []


@pytest.mark.parametrize("what", WAITS_FOR_DEVICE)
def test_who_waits_for_a_device_uses_no_cpu_time_and_moves_no_bytes(what: str) -> None:
    pair = pair_of(versions=("17.1", "17.2"))
    waits = [Cause(Kind.STORAGE, TEST, pair.target.label, what)]
    fewer, dearer, bulkier = {THROUGHPUT: (900.0, 300.0)}, {CPU: (100.0, 300.0)}, {IO_BYTES: (100.0, 300.0)}
    assert names_of(pair, seen_of(fewer, conditions=waits)) == [(Kind.STORAGE, what)]
    assert names_of(pair, seen_of(dearer, conditions=waits)) == []
    assert names_of(pair, seen_of(bulkier, conditions=waits)) == []
    both = {THROUGHPUT: (900.0, 300.0), CPU: (100.0, 200.0)}
    assert names_of(pair, seen_of(both, conditions=waits)) == []


@pytest.mark.parametrize(("there", "is_named"), [(0.1, True), (0.5, False), (0.87, False)])
def test_a_slow_block_is_a_lead_where_it_could_have_moved_all_of_them(there: float, is_named: bool) -> None:
    pair = pair_of(versions=("17.1", "17.2"))
    slow = Cause(Kind.STORAGE, TEST, pair.target.label, SLOW_BLOCK, facts={"throughput_of_median": there, "blocks": 6})
    assert bool(names_of(pair, seen_of({THROUGHPUT: (900.0, 300.0)}, conditions=[slow]))) is is_named


@pytest.mark.parametrize(("throughput", "metric"), [(50.0, CPU), (20.0, THROUGHPUT)])
def test_cpu_time_tells_more_where_it_changed_nearly_as_much(throughput: float, metric: str) -> None:
    seen = seen_of({CPU: (100.0, 186.0), THROUGHPUT: (100.0, throughput)})
    assert explained(pair_of(versions=("17.1", "17.2")), seen).metric == metric


def test_a_known_bug_of_the_slower_side_comes_first() -> None:
    pair = pair_of(versions=("8.0.15", "8.0.25"), dbms="mysql")
    seen = Seen("random-points-100", {CPU: finding_of(CPU, (100.0, 110.0))}, {CPU: 100.0}, {CPU: 110.0})
    assert names_of(pair, seen) == [(Kind.KNOWN, "MySQL bug 102037")]
    faster = Seen("random-points-100", {CPU: finding_of(CPU, (110.0, 100.0))}, {CPU: 110.0}, {CPU: 100.0})
    assert names_of(pair, faster) == []


@pytest.mark.parametrize(("read", "is_named"), [((9e6, 2e5), True), ((0.0, 0.0), False), ((2e5, 9e6), False)])
def test_what_is_known_to_cost_reads_is_a_lead_where_they_moved_with_the_change(
    read: tuple[float, float], is_named: bool
) -> None:
    pair = pair_of(versions=("10.5.23", "10.11.19"), dbms="myrocks")
    seen = replace(seen_of({CPU: (300.0, 100.0), READ_BYTES: read}), test="points-covered-si")
    assert ((Kind.KNOWN, "readahead of random reads") in names_of(pair, seen)) is is_named


def test_settings_of_another_dbms_are_not_compared() -> None:
    pair = pair_of(versions=("16.1", "17.1"))
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
    seen = seen_of(SLOWER, planning_ms={"search/s": planning_ms})
    found = [
        cause for cause in explained(pair_of(versions=("16.1", "17.1")), seen).causes if cause.kind is Kind.PLANNING
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
    seen = seen_of(SLOWER, plans=plans, counted={"search/s": counted})
    causes = explained(pair_of(versions=("3.45.0", "3.46.0"), dbms="sqlite"), seen).causes
    assert [cause.facts[COUNT] for cause in causes if cause.kind is Kind.DONE] == found


NINE = "Seq Scan on t\n  Filter: ((j + i) = ANY ('{1,2,3,4,5,6,7,8,9}'::integer[]))"


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
    causes = explained(pair_of(versions=versions), seen_of(pairs, same_plans={"search/s": plan})).causes
    found = [cause for cause in causes if cause.what == "hashed lists of constants"]
    assert [cause.facts["on"] for cause in found] == on and all(cause.kind is Kind.KNOWN for cause in found)
    other = seen_of(pairs, same_plans={"search/s": plan}, plans=("Seq Scan on t", "Result"))
    assert "hashed lists of constants" not in [
        cause.what for cause in explained(pair_of(versions=versions), other).causes
    ]


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
    pair = pair_of(versions=("16.1", "17.1"))
    reads = [Cause(Kind.STORAGE, TEST, pair.target.label, READS_OF_WHAT_FITS)]
    seen = seen_of(pairs, conditions=reads)
    judged = {name: one for name, one in seen.findings.items() if one.judged}
    assert bool(names_of(pair, replace(seen, findings=judged))) is is_lead
