"""Tests that are work with an end: steps and single statements, as a suite file says them."""

from collections.abc import Mapping
from dataclasses import replace

from dbversus.names import did_you_mean
from dbversus.suites.assembly.check import check_number
from dbversus.suites.expression import Expression
from dbversus.suites.file import shape
from dbversus.suites.file.source import Place
from dbversus.suites.model import STATEMENT, STEP, Role, Statement, Test, Work
from dbversus.suites.sql import placeholders

SLICE_MS = 1000
_KEYS_OF = {"operations": STEP, "slice_ms": STEP, "undo": STATEMENT}
_NOT_OF_WORK = {"bounded_by": "its end bounds it", "slow": "it is measured whole"}


def with_work(test: Test, given: shape.Test, undo: Statement | None) -> Test:
    """The test as its `kind` makes it; raises UsageError with file and line for what does not go with that."""
    place = test.place
    for key, kind in _KEYS_OF.items():
        if place.has(key) and given.kind != kind:
            raise place.at(key).mistake(f'`{key}` is for tests of kind = "{kind}", and this one\'s is "{given.kind}".')
    _check_keys_of_roles(test, given.kind)
    if given.kind == "slots":
        return test
    if test.roles and given.kind == STATEMENT:
        raise place.at("kind").mistake('a test of kind = "statement" is one statement: it has no roles.')
    for key, why in _NOT_OF_WORK.items():
        if place.has(key):
            raise place.at(key).mistake(f'`{key}` is not for tests of kind = "{given.kind}": {why}.')
    return _single(test, undo) if given.kind == STATEMENT else _step(test, given)


def _check_keys_of_roles(test: Test, kind: str) -> None:
    for role in test.roles:
        for key in ("operations", "follows", "lead"):
            if kind != STEP and role.place.has(key):
                raise role.place.at(key).mistake(
                    f'`{key}` of a role is for tests of kind = "step", and this one\'s is "{kind}".'
                )


def _step(test: Test, given: shape.Test) -> Test:
    if test.roles:
        return _step_of_roles(test, given)
    if given.operations is None:
        raise test.place.mistake(
            "a step needs `operations`, how many it has in all, such as operations = 100000 or "
            '"table_size / 2"; a test without an end is of kind = "slots".'
        )
    variables = {**test.suite_variables, **test.own_variables}
    check_number(given.operations, variables, test.place.at("operations"), at_least=1)
    return replace(test, work=Work(STEP, given.operations, given.slice_ms or SLICE_MS))


def _step_of_roles(test: Test, given: shape.Test) -> Test:
    if given.operations is not None:
        raise test.place.at("operations").mistake(
            "a step with roles has no `operations` of its own: give them to its roles, one at least."
        )
    by_name = {role.name: role for role in test.roles}
    roles = tuple(replace(role, operations=_operations(role, by_name)) for role in test.roles)
    if all(role.operations is None for role in roles):
        raise test.place.at("roles").mistake(
            "a step needs a role with `operations`, how many it has in all; the step ends when they are done."
        )
    return replace(test, roles=roles, work=Work(STEP, None, given.slice_ms or SLICE_MS))


def _operations(role: Role, roles: Mapping[str, Role]) -> Expression | None:
    """Its own, or those of the role that it follows: with fewer, what it leaves undone would depend on the target's speed."""
    _check_follows(role, roles)
    leader: Role | None = role
    while leader is not None and leader.operations is None:
        leader = roles[leader.follows] if leader.follows else None
    return leader.operations if leader else None


def _check_follows(role: Role, roles: Mapping[str, Role]) -> None:
    if role.follows is None:
        if role.lead is not None:
            raise role.place.at("lead").mistake(
                "`lead` says by how many operations another role may be ahead: it goes with `follows`, which names that role."
            )
        return
    place = role.place.at("follows")
    if role.follows not in roles:
        others = [name for name in roles if name != role.name]
        raise place.mistake(
            f"there is no role '{role.follows}' in this test.{did_you_mean(role.follows, others)} "
            f"Accepted: {', '.join(others) or 'none, as it has one role alone'}."
        )
    leader: Role | None = roles[role.follows]
    passed = {role.name}
    while leader is not None and leader.name not in passed:
        passed.add(leader.name)
        leader = roles.get(leader.follows or "")
    if leader is not None:
        raise place.mistake(
            f"{role.name} follows {role.follows}, which in the end follows {leader.name}: none could begin."
        )


def _single(test: Test, undo: Statement | None) -> Test:
    place = test.place
    if test.transaction:
        raise place.at("transaction").mistake(
            'a test of kind = "statement" is no transaction: leave `transaction` out.'
        )
    for statement in test.statements:
        if statement.repeat != 1:
            raise statement.place_of("repeat").mistake(
                'the statements of a test of kind = "statement" are run once: leave `repeat` out.'
            )
        if statement.part is not None:
            raise statement.place_of("weight").mistake(
                'all statements of kind = "statement" are run; leave `weight` out.'
            )
    if undo is not None:
        _check_undo(undo, place.at("undo"))
    # as text, the way such statements are sent; and where there are equal tables, on the first, which `undo` then finds
    statements = tuple(replace(one, mode=one.mode or "text", table="client") for one in test.statements)
    return replace(test, statements=statements, work=Work(STATEMENT, 1, undo=undo))


def _check_undo(undo: Statement, place: Place) -> None:
    if undo.keep or undo.when is not None:
        raise place.mistake("`undo` is sent as it stands: it has no `keep` and no `when`.")
    for sql in undo.sql.values():
        if names := placeholders(sql):
            raise place.mistake(f"`undo` is sent as it stands, without values; it names :{names[0]}.")
