"""Tests that are work with an end: steps and single statements, as a suite file says them."""

from dataclasses import replace

from dbversus.suites.build.check import check_number
from dbversus.suites.file import shape
from dbversus.suites.file.source import Place
from dbversus.suites.model import STATEMENT, STEP, Statement, Test, Work
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
    if given.kind == "slots":
        return test
    if test.roles:
        raise place.at("kind").mistake("a test with roles has no end of its own: leave `kind` out.")
    for key, why in _NOT_OF_WORK.items():
        if place.has(key):
            raise place.at(key).mistake(f'`{key}` is not for tests of kind = "{given.kind}": {why}.')
    return _single(test, undo) if given.kind == STATEMENT else _step(test, given)


def _step(test: Test, given: shape.Test) -> Test:
    if given.operations is None:
        raise test.place.mistake(
            "a step needs `operations`, how many it has in all, such as operations = 100000 or "
            '"table_size / 2"; a test without an end is of kind = "slots".'
        )
    variables = {**test.suite_variables, **test.own_variables}
    check_number(given.operations, variables, test.place.at("operations"), at_least=1)
    return replace(test, work=Work(STEP, given.operations, given.slice_ms or SLICE_MS))


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
    for sql in undo.sql.values():
        if names := placeholders(sql):
            raise place.mistake(f"`undo` is sent as it stands, without values; it names :{names[0]}.")
