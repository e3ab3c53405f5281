"""Weighted mixes: an operation of such a test is one of several, drawn by weight."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dbversus.names import did_you_mean
from dbversus.suites.file import shape
from dbversus.suites.file.draft import Draft, Placed
from dbversus.suites.file.source import Place
from dbversus.suites.model import Part, Statement, Test
from dbversus.suites.variables import Variables


def check_one_kind(placed: Placed[shape.Test]) -> None:
    """Raises UsageError for a test that does not have just one of `statements`, `mix` and `roles`, or says what these say."""
    test, place = placed.value, placed.place
    given = [key for key in ("statements", "mix", "roles") if getattr(test, key)]
    if test.connect:
        _check_connecting(placed)
    if len(given) != 1 and not (test.connect and not given):
        has = " and ".join(f"`{key}`" for key in given) or "no `statements`"
        raise place.mistake(f"the test has {has}; one of `statements`, `mix` (of other tests) and `roles` is needed.")
    if test.transaction and not test.statements and given:
        raise place.at("transaction").mistake(
            f"`transaction` is said of each test of a mix and of each role, not beside `{given[0]}`."
        )
    if test.roles and test.bounded_by == "count":
        raise place.at("bounded_by").mistake("a test with roles is bounded by time.")


def _check_connecting(placed: Placed[shape.Test]) -> None:
    test, place = placed.value, placed.place.at("connect")
    if test.roles:
        raise place.mistake(
            "`connect` is for tests with `statements`, with a `mix` or with neither; this one has `roles`."
        )
    if test.kind != "slots":
        raise place.mistake(f'`connect` is for tests of kind = "slots", and this one\'s is "{test.kind}".')


def weighted_statements(
    given: Sequence[shape.TestStatement], statements: Sequence[Statement], place: Place, transaction: bool
) -> tuple[Statement, ...]:
    """The statements of a test or role that stands at `place`, each a part of its own where they have weights."""
    without = [index for index, one in enumerate(given) if one.weight is None]
    if without and len(without) < len(given):
        raise place.at("statements", without[0]).mistake(
            "this statement has no `weight`, and others of the test have one; all of them need it, or none. "
            "Several statements that belong together are a test, which a `mix` names."
        )
    return tuple(
        statement
        if one.weight is None
        else replace(
            statement, part=Part(statement.name, one.weight, transaction, place.at("statements", index, "weight"))
        )
        for index, (one, statement) in enumerate(zip(given, statements, strict=True))
    )


def mixed_statements(placed: Placed[shape.Test], families: Mapping[str, list[Test]]) -> tuple[Statement, ...]:
    """The statements of all tests that a `mix` names; they are called TEST.STATEMENT in it."""
    statements: list[Statement] = []
    named: list[str] = []
    for index, choice in enumerate(placed.value.mix):
        place = placed.place.at("mix", index)
        test = _named(choice, placed, index, families)
        if test.name in named:
            raise place.mistake(f"the mix names '{test.name}' twice; give it the sum of both weights.")
        named.append(test.name)
        part = Part(test.name, choice.weight, test.transaction, place.at("weight"))
        statements += _part(test, part, placed.value.variables)
    return tuple(statements)


def mixed_names(draft: Draft) -> set[str]:
    """The tests that mixes name."""
    return {choice.test for placed in draft.tests.values() for choice in placed.value.mix}


def _named(choice: shape.Choice, placed: Placed[shape.Test], index: int, families: Mapping[str, list[Test]]) -> Test:
    place = placed.place.at("mix", index, "test")
    by_name = {test.name: test for family in families.values() for test in family}
    if choice.test not in by_name:
        variants = [test.name for test in families.get(choice.test, ())]
        if variants:
            raise place.mistake(f"'{choice.test}' has several variants; accepted is one: {', '.join(variants)}.")
        known = ", ".join(by_name) or "(none)"
        raise place.mistake(
            f"unknown test '{choice.test}'.{did_you_mean(choice.test, by_name)} Accepted: tests that are no mix: {known}."
        )
    test = by_name[choice.test]
    if is_mixed(test.statements) or test.roles:
        raise place.mistake(f"'{choice.test}' is a mix or has roles; accepted are tests that are neither.")
    if test.connect:
        raise place.mistake(f"'{choice.test}' has `connect`; the mix itself has it, for all that it names.")
    return test


def is_mixed(statements: Sequence[Statement]) -> bool:
    """Whether an operation is one part of several; each part says itself whether it is a transaction."""
    return bool(statements) and statements[0].part is not None


def _part(test: Test, part: Part, own_variables: Variables) -> list[Statement]:
    names = {statement.name: f"{test.name}.{statement.name}" for statement in test.statements}
    variables = {name: value for name, value in test.own_variables.items() if name not in own_variables}
    return [
        replace(
            statement,
            name=names[statement.name],
            table=names.get(statement.table, statement.table),
            part=None if number else part,
            variables=variables,
        )
        for number, statement in enumerate(test.statements)
    ]
