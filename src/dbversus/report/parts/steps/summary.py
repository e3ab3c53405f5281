"""The summary of steps, as the Insert Benchmark has it: how fast each target was, against the base, and at what insert rate.

Only ratios are coloured, by their verdicts, and what missed its SLA: a second scale beside the verdicts
would call fast or slow what these do not.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from dbversus.report.figures import estimate
from dbversus.report.model import RolePart, Step, StepCell, StepsPart, spoiled_labels
from dbversus.report.parts.each_test.roles import roles_of_tests
from dbversus.report.parts.steps import columns
from dbversus.report.parts.steps.imported import imported_steps_part
from dbversus.results.records import Slots
from dbversus.results.stored import Results
from dbversus.stats.across.clients import test_of
from dbversus.stats.metrics import THROUGHPUT
from dbversus.stats.model import Finding, Verdict
from dbversus.stats.values.imported import is_imported
from dbversus.stats.values.levels import scaled

SLOWER, FASTER, BELOW, VOID = "slower", "faster", "below", "void"
"""Marks: of ratios by their verdicts, of insert rates, and of what does not count."""

_MARKS = {Verdict.REGRESSION: SLOWER, Verdict.IMPROVEMENT: FASTER}

_SLOTS = """SELECT test, target, block, sum(elapsed_ns) / 1e9 AS seconds, sum(ops) AS ops, sum(affected) AS affected
  FROM slots WHERE elapsed_ns > 0 GROUP BY ALL ORDER BY block"""
_ROLES = """SELECT test, target, block, role, sum(ops) AS ops, sum(affected) AS affected FROM roles GROUP BY ALL"""

Line = Mapping[str, Any]


def steps_part(results: Results, findings: Iterable[Finding]) -> StepsPart | None:
    """None where no test is a step; steps whose roles all have rates of their own (a pause) tell nothing of a target."""
    if is_imported(results):
        return imported_steps_part(results, findings)
    plans = {test: plan for test in results.tests if (plan := results.slot_plans.get(test)) and "slice_ms" in plan.slot}
    if not plans:
        return None
    of_throughput = {(one.test, one.target): one for one in findings if one.metric == THROUGHPUT}
    roles, blocks = roles_of_tests(results), _blocks(results)
    titles = {name: test.title for name, test in results.stored_tests.items()}
    steps = tuple(
        replace(_step(results, plan, blocks, roles.get(test, ()), of_throughput), title=titles.get(test_of(test), ""))
        for test, plan in plans.items()
        if _is_free(plan, roles.get(test, ()))
    )
    lines = tuple(line for line in columns.steps(results) if line["test"] in plans)
    return StepsPart(steps, lines, columns.COLUMNS)


def _is_free(plan: Slots, roles: Sequence[RolePart]) -> bool:
    return not roles or any(part.name not in plan.paces for part in roles)


def _blocks(results: Results) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """(test, target label) → its blocks, each with what its roles did in `roles`."""
    of_roles: dict[tuple[str, str, int], dict[str, Line]] = {}
    for line in results.lines(_ROLES):
        of_roles.setdefault((line["test"], line["target"], line["block"]), {})[line["role"]] = line
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for line in results.lines(_SLOTS):
        place = line["test"], line["target"], line["block"]
        found.setdefault(place[:2], []).append({**line, "roles": of_roles.get(place, {"": line})})
    return found


def _step(
    results: Results,
    plan: Slots,
    blocks: Mapping[tuple[str, str], Sequence[Line]],
    roles: Sequence[RolePart],
    findings: Mapping[tuple[str, str], Finding],
) -> Step:
    failed = spoiled_labels(roles)
    unit, count = _counted(plan)
    paced = [role for role, does in plan.does.items() if does == "insert" and role in plan.paces]
    has_target = count == "query" and bool(paced)
    of_base = [_rate(block, plan, count) for block in blocks.get((plan.test, results.base.label), ())]
    cells = {}
    for label in (target.label for target in results.targets):
        if own := blocks.get((plan.test, label)):
            inserts = [_sum(block, plan, ("insert",), "affected") / block["seconds"] for block in own]
            rates = [_rate(block, plan, count) for block in own]
            finding = findings.get((plan.test, label))
            if finding and finding.ratio and of_base and not roles:
                rates = scaled(rates, fmean(of_base) * finding.ratio)
            cells[label] = StepCell(
                estimate(rates),
                estimate(inserts) if has_target else None,
                finding,
                label in failed,
            )
    if not has_target:
        return Step(plan.test, unit, cells)
    every = [block for label in cells for block in blocks[plan.test, label]]
    target_per_s = sum(plan.paces[role].rate_per_s * _rows_per_op(every, role) for role in paced)
    return Step(plan.test, unit, cells, target_per_s, min(plan.paces[role].sla for role in paced))


def _counted(plan: Slots) -> tuple[str, str]:
    """The unit of its rate, and what is counted: queries where there are any, else rows, else operations."""
    kinds = set(plan.does.values())
    if "query" in kinds:
        return "queries/s", "query"
    if "insert" in kinds:
        return "rows/s", "insert"
    if "index" in kinds and plan.rows_scanned_per_op:
        return "rows/s", "index"
    return "operations/s", ""


def _rate(block: Line, plan: Slots, count: str) -> float:
    if count == "query":
        done = _sum(block, plan, ("query",), "ops")
    elif count == "insert":
        done = _sum(block, plan, ("insert",), "affected")
    else:
        done = block["ops"] * (plan.rows_scanned_per_op or 1 if count else 1)
    return done / float(block["seconds"])


def _sum(block: Line, plan: Slots, kinds: Sequence[str], figure: str) -> float:
    return float(sum(line[figure] or 0 for role, line in block["roles"].items() if plan.does.get(role) in kinds))


def _rows_per_op(blocks: Sequence[Line], role: str) -> float:
    lines = [block["roles"][role] for block in blocks if role in block["roles"]]
    ops = sum(line["ops"] for line in lines)
    return sum(line["affected"] or 0 for line in lines) / ops if ops else 0.0


def rate_mark(step: Step, label: str) -> str:
    """VOID where the rate does not count."""
    return VOID if step.cells[label].sla_failed else ""


def ratio_mark(step: Step, base: str, label: str) -> str:
    """SLOWER and FASTER as the verdict has it, or VOID; "" where no change is shown, or a small one."""
    cell, of_base = step.cells[label], step.cells.get(base)
    if cell.sla_failed or (of_base and of_base.sla_failed):
        return VOID
    return _MARKS.get(cell.finding.verdict, "") if cell.finding else ""


def insert_mark(step: Step, label: str) -> str:
    """BELOW where fewer rows came than is enough."""
    cell = step.cells[label]
    if cell.inserts_per_s is None or step.target_per_s is None or step.sla is None:
        return ""
    return BELOW if (cell.inserts_per_s.value or 0.0) < step.sla * step.target_per_s else ""
