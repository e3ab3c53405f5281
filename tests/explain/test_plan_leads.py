"""Plans that differ: what stands with them, and which did not run."""

from dataclasses import replace

import pytest

from dbversus.explain.cause import Kind
from dbversus.explain.plan_diff import PlanDifference, normalise_plan
from dbversus.report.parts.notes.cause_words import brief

from .forged import FASTER, INDEX, SEQ, SLOWER, TEST, explained, names_of, pair_of, seen_of


def test_tables_of_mysql_stand_at_the_verdict_with_their_rows() -> None:
    tree = "-> {} on t using k  (cost=1 rows=9) (actual time=0.1..{} rows={} loops=1)"
    executed = tuple(
        f"t {access} key=k rows=9\n--- FORMAT=TREE, executed\n{tree.format(access, ms, rows)}"
        for access, ms, rows in (("ref", 0.5, 310), ("index", 12.5, 98000))
    )
    plan = PlanDifference(f"{TEST}/s", tuple(map(normalise_plan, executed)), executed)
    pair = pair_of({}, {}, versions=("8.0.20", "8.0.33"), dbms="mysql")
    (cause,) = explained(pair, replace(seen_of(SLOWER), plans=[plan])).causes
    told = {name: cause.facts[name] for name in ("base_rows", "mine_rows", "base_ms", "mine_total_ms")}
    assert told == {"base_rows": 310, "mine_rows": 98000, "base_ms": 0.5, "mine_total_ms": 12.5}
    assert brief(cause) == "another plan, t: ref by k → t: index by k, 310 → 98,000 rows, 0.5 → 12 ms"


@pytest.mark.parametrize(("reads", "is_cause"), [(900.0, True), (0.0, False)])
def test_a_plan_with_an_index_that_was_not_read_is_not_the_plan_that_ran(reads: float, is_cause: bool) -> None:
    plans = ("t ALL rows=?", "t ref key=k_1 rows=?")
    pairs = {**SLOWER, "counter.index.t.none.reads": (900.0, 900.0), "counter.index.t.k_1.reads": (0.0, reads)}
    pair = pair_of(versions=("5.6.1", "5.7.1"), dbms="mysql")
    assert ((Kind.PLAN, f"{TEST}/s") in names_of(pair, seen_of(pairs, plans=plans))) is is_cause


@pytest.mark.parametrize(
    ("versions", "means"), [(("11.1", "12.1"), "WITH"), (("12.1", "11.1"), ""), (("12.1", "13.1"), "")]
)
def test_what_a_version_plans_otherwise_stands_with_the_plan(versions: tuple[str, str], means: str) -> None:
    (plan,) = explained(
        pair_of(versions=versions), seen_of(SLOWER, plans=("CTE Scan on t", "Subquery Scan on t"))
    ).causes
    assert plan.means.startswith(means) and bool(plan.means) == bool(means) == bool(plan.source)


def test_rows_that_moved_with_the_change_stand_with_the_plan() -> None:
    pairs = {**SLOWER, "counter.table.seq_tup_read": (100.0, 90_000.0), "counter.database.blks_hit": (40.0, 45.0)}
    (plan,) = explained(pair_of(versions=("16.1", "17.1")), seen_of(pairs, plans=(INDEX, SEQ))).causes
    assert (plan.facts["rows"], plan.facts["rows_base"], plan.facts["rows_mine"]) == (
        "table.seq_tup_read",
        100.0,
        90_000.0,
    )


def test_the_time_of_one_execution_is_not_told_against_the_verdict() -> None:
    """Hundreds of executions say that the target is slower, and one on a busy host the opposite."""
    ran = tuple(f"{scan}\nExecution Time: {ms} ms" for scan, ms in (("Sort", 278.0), ("Result", 188.0)))
    for pairs, told in ((SLOWER, (None, None)), (FASTER, (278.0, 188.0))):
        seen = replace(seen_of(pairs), plans=[PlanDifference(f"{TEST}/s", ("Sort", "Result"), ran)])
        (plan,) = (one for one in explained(pair_of(versions=("16.1", "17.1")), seen).causes if one.kind is Kind.PLAN)
        assert (plan.facts["base_total_ms"], plan.facts["mine_total_ms"]) == told
