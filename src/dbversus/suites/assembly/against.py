"""Tests that are forms of one statement: `against` names the one that another is judged against, on the same target."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dbversus.names import did_you_mean
from dbversus.suites.model import Statement, Suite, Test

Families = dict[str, list[Test]]


def with_partners(families: Families) -> Families:
    """With `against` naming one test. Raises UsageError, with file and line, for one that cannot be judged against it."""
    known = {test.base: test for family in families.values() for test in family}
    return {key: [_with_partner(key, test, known, families) for test in family] for key, family in families.items()}


def _with_partner(key: str, test: Test, known: Mapping[str, Test], families: Families) -> Test:
    """Of a family of variants, the one of the same variant."""
    if not test.against:
        return test
    name = next((each for each in (f"{test.against}{test.base[len(key) :]}", test.against) if each in known), None)
    place = test.place.at("against")
    if name is None:
        family = families.get(test.against, ())
        accepted = [each.base for each in family] or [each for each in known if each != test.base]
        what = "a test with other variants" if family else "no test"
        raise place.mistake(
            f"'{test.against}' is {what}.{did_you_mean(test.against, accepted)} Accepted: {', '.join(accepted)}."
        )
    if name == test.base:
        raise place.mistake(f"test '{name}' is against itself; name another form of its statements.")
    if further := known[name].against:
        raise place.mistake(
            f"'{name}' is itself against '{further}'; several forms are all against the same test, which has no `against`."
        )
    if why := _not_alike(test, known[name]):
        raise place.mistake(f"'{test.base}' cannot be judged against '{name}': {why}.")
    return replace(test, against=name)


def _not_alike(test: Test, other: Test) -> str:
    """Why the two cannot take turns on the same data with the same values; empty if they can."""
    for one in (test, other):
        if one.changes_data:
            return f"'{one.base}' changes data, so that one form would find what the other has changed; both have to only read"
        if one.roles or one.work or any(statement.part for statement in one.statements):
            return f"'{one.base}' is no plain test; both need `statements` without weights, and kind = \"slots\""
    if test.transaction != other.transaction:
        return "one is a transaction and the other is not; `transaction` has to be the same"
    if _drawn(test) != _drawn(other):
        return (
            "they draw other values; both need as many statements, in the same order with the same `params`, `repeat`, `rows`, "
            "`table`, `keep`, `when` and `only`"
        )
    return ""


def _drawn(test: Test) -> list[Any]:
    """All that decides which values are drawn, for each statement; names and texts of statements do not."""
    places = {statement.name: place for place, statement in enumerate(test.statements)}
    return [
        (
            [(name, parameter.generator) for name, parameter in one.params.items()],
            {name: value for name, value in test.own_variables.items() if _is_used(name, one)},
            places.get(one.table, one.table),
            (one.repeat, one.rows, one.keep, one.when, one.only),
        )
        for one in test.statements
    ]


def _is_used(variable: str, statement: Statement) -> bool:
    """Whether a value, or how often one is drawn, may depend on a variable."""
    generators = [parameter.generator for parameter in statement.params.values()]
    return (
        re.search(rf"\b{variable}\b", repr((generators, statement.repeat, statement.rows, statement.when))) is not None
    )


def partner_name(test: Test, suffix: str) -> str:
    return f"{test.against}{suffix}" if test.against and not test.warm_up else ""


def check_phases(suite: Suite) -> None:
    """Raises UsageError where a test is in a phase without the one that it is against: both need the same data."""
    for phase in suite.phases:
        names = [test.name for test in phase.tests]
        for test in phase.tests:
            if test.against and test.against not in names:
                raise test.place.at("against").mistake(
                    f"'{test.name}' is against '{test.against}', which is not in the same phase, '{phase.name}'; add it there."
                )
