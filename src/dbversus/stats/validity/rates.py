"""Rates that were asked for and not reached.

A target that does less of what it is given has more left for the closed loops beside that: the test's figures do not count there.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dbversus.results.records import Slots
from dbversus.results.stored import Results
from dbversus.stats.across.clients import test_of

_PER_BLOCK = """SELECT test, role, target, block, sum(ops) / (sum(elapsed_ns) / 1e9) AS ops_per_s, sum(errors) AS errors,
    sum(scheduled) / (sum(elapsed_ns) / 1e9) AS due_per_s, sum(ops) AS ops, sum(late) AS late,
    arg_max(overdue, "row") AS overdue
  FROM roles WHERE elapsed_ns > 0 GROUP BY test, role, target, block ORDER BY block"""

RoleBlocks = Mapping[str, Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]]]
"""Test → role → target label → what was done in each block."""


@dataclass(frozen=True)
class Rate:
    """Operations per second of a role on one target. `due`: what fell due; None: it is in a closed loop.

    `asked`: what had to be done, and `sla` the share of it that is enough; None: neither is known.
    """

    done: float
    due: float | None = None
    asked: float | None = None
    sla: float | None = None

    @property
    def held_share(self) -> float | None:
        """What was done of the rate that was asked for."""
        return self.done / self.asked if self.asked else None

    @property
    def is_missed(self) -> bool:
        return self.held_share is not None and self.sla is not None and self.held_share < self.sla


def role_blocks(results: Results) -> RoleBlocks:
    """Roles, and targets in each, are in their own order. Tests without roles are not in it, nor is a role where it has no work:
    what was counted there is the time of doing nothing."""
    found: dict[str, dict[str, dict[str, list[Mapping[str, Any]]]]] = {}
    if not len(results.roles["test"]):
        return found
    idle = _idle_roles(results)
    lines: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for line in results.lines(_PER_BLOCK):
        lines.setdefault((line["test"], line["role"], line["target"]), []).append(line)
    for test, role in dict.fromkeys(zip(results.roles["test"], results.roles["role"], strict=True)):
        of_test = found.setdefault(str(test), {})
        for label in (target.label for target in results.targets):
            blocks = lines.get((test, role, label))
            if blocks and (test_of(test), role, label) not in idle:
                of_test.setdefault(str(role), {})[label] = blocks
    return found


def _idle_roles(results: Results) -> frozenset[tuple[str, str, str]]:
    """(test, role, label) of roles that have no statement on a target."""
    from dbversus.suites.model import has_work  # with all of suites: as long to import as what judges

    return frozenset(
        (test.name, role.name, target.label)
        for test in results.stored_tests.values()
        for role in test.roles
        for target in results.targets
        if not has_work(role.statements, target.dbms)
    )


def rate_of(role: str, blocks: Sequence[Mapping[str, Any]], plan: Slots | None) -> Rate:
    """`plan`: of the test's slots. A step takes longer until all is done, so what fell due tells nothing of its rate there."""
    done = _mean(block["ops_per_s"] for block in blocks)
    if blocks[0]["due_per_s"] is None:
        return Rate(done)
    due = _mean(block["due_per_s"] for block in blocks)
    pace = plan.paces.get(role) if plan else None
    if plan is None or pace is None:
        return Rate(done, due)
    return Rate(done, due, pace.rate_per_s if "ops" in plan.slot else due, pace.sla)


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def missed_rates(results: Results) -> dict[str, frozenset[str]]:
    """Test → labels of targets on which its figures do not count; tests without any are not in it."""
    plans = results.slot_plans
    found = {
        test: spoiled_by_rates(
            {label: rate_of(role, blocks, plans.get(test)) for label, blocks in of_role.items()}
            for role, of_role in roles.items()
        )
        for test, roles in role_blocks(results).items()
    }
    return {test: labels for test, labels in found.items() if labels}


def spoiled_by_rates(roles: Iterable[Mapping[str, Rate]]) -> frozenset[str]:
    """Labels of targets on which a role missed its rate, and another is in a closed loop, which had it the easier for that.

    `roles`: of one test, each by label.
    """
    rates = [(label, rate) for of_role in roles for label, rate in of_role.items()]
    closed = {label for label, rate in rates if rate.due is None}
    return frozenset(label for label, rate in rates if rate.is_missed and label in closed)
