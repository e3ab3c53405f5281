"""What is sent to the engine when targets of different DBMSs run the same test side by side."""

from collections.abc import Iterable

from dbversus.errors import UsageError
from dbversus.suites.model import Test
from dbversus.suites.send.define import Json, definition


def definitions(test: Test, dbms: Iterable[str], table_size: int, tables: int, clients: int = 1) -> dict[str, Json]:
    """DBMS → TEST for the engine (docs/engine-protocol.md), in the order of `dbms`.

    SQL may differ, but a statement has to take the same parameters everywhere: values are drawn one after another from one
    stream, so with other parameters one DBMS would see other keys than another. Raises UsageError then, and as
    `definition` does.
    """
    made = {name: definition(test, name, table_size, tables, clients=clients) for name in dict.fromkeys(dbms)}
    first, *others = made
    for other in others:
        _check_same_values(test, first, made[first], other, made[other])
    return made


def _check_same_values(test: Test, first: str, ours: Json, second: str, theirs: Json) -> None:
    """Statements that some DBMSs have alone draw nothing (suites/assembly/check.py)."""
    known = _by_name(theirs)
    for name, one in _by_name(ours).items():
        other = known.get(name, one)
        if one["params"] != other["params"]:
            raise UsageError(
                f"test '{test.name}', statement '{one['name']}': its SQL takes {_names(one)} on {first} and {_names(other)} on "
                f"{second}; side by side both have to take the same parameters, or they would not see the same values."
            )


def _by_name(made: Json) -> dict[tuple[str, str], Json]:
    """Each statement by its role and name."""
    return {
        (role["name"], statement["name"]): statement
        for role in made.get("roles", [made])
        for statement in role["statements"]
    }


def _names(statement: Json) -> str:
    return ", ".join(statement["params"]) or "no parameters"
