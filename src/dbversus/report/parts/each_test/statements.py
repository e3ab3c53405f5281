"""What each test asks: its statements as the results hold them, and what each target does with them."""

import re
from collections.abc import Callable, Mapping

from dbversus.dbms.known import find_dbms
from dbversus.explain.plan_diff import flat_plans, normalise_plan
from dbversus.report.model import StatementPart
from dbversus.results.stored import Results
from dbversus.stats.across.clients import test_of
from dbversus.suites.model import Statement

LONGEST_LINE = 160
"""Characters of a line of a plan: lists of values are longer."""
_SECOND_FORM = re.compile(r"^--- FORMAT=.*", re.MULTILINE | re.DOTALL)

Plans = Mapping[str, Mapping[str, str]]
"""Target label → `test/statement`, in older results `test / statement` → plan."""


def statements_of_tests(results: Results) -> Callable[[str], tuple[StatementPart, ...]]:
    """From a test, also with its number of clients, to its statements; to none where no suite is stored."""
    tests = results.stored_tests
    plans = {target.label: flat_plans(results.server_json(target, "plans.json")) for target in results.targets}
    executed = {target.label: results.server_json(target, "executed.json") for target in results.targets}

    def of_test(case: str) -> tuple[StatementPart, ...]:
        test = tests.get(test_of(case))
        if test is None:
            return ()
        return tuple(
            StatementPart(
                name,
                _sql(results, statement),
                _plans(_telling(plans, executed, f"{test.name}/{name}"), test.name, name),
            )
            for name, statement in test.named_statements
        )

    return of_test


def _sql(results: Results, statement: Statement) -> dict[str, str]:
    """Title of a DBMS → its SQL, with `:name` for values; `""`: the same for all. A DBMS that does not run it is left out."""
    texts = {
        find_dbms(dbms).title: statement.sql_for(dbms)
        for dbms in dict.fromkeys(target.dbms for target in results.targets)
        if statement.is_for(dbms)
    }
    if len(set(texts.values())) == 1:
        return {"": next(iter(texts.values()))}
    return texts


def _telling(plans: Plans, executed: Plans, statement: str) -> Plans:
    """The plans that ran, with what they took, where they differ in shape; else one that was only asked for is enough."""
    ran = {label: of_target.get(statement, "") for label, of_target in executed.items()}
    shapes = {normalise_plan(text) for text in ran.values()}
    return {label: {statement: text} for label, text in ran.items()} if len(shapes) > 1 and all(ran.values()) else plans


def _plans(plans: Plans, test: str, statement: str) -> tuple[tuple[tuple[str, ...], str], ...]:
    """Labels of the targets that have a plan, and the plan."""
    labels: dict[str, list[str]] = {}
    for label, of_target in plans.items():
        whole = of_target.get(f"{test}/{statement}") or of_target.get(f"{test} / {statement}", "")
        if text := _brief(whole):
            labels.setdefault(text, []).append(label)
    return tuple((tuple(those), text) for text, those in labels.items())


def _brief(plan: str) -> str:
    """The first of two forms, without the ends of long lines."""
    lines = _SECOND_FORM.sub("", plan).strip().splitlines()
    return "\n".join(line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…" for line in lines)
