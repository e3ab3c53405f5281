"""A test in words, for people who look at a suite: its kind, what it builds on, and who does how much at what rate."""

from collections.abc import Iterable, Iterator

from dbversus.suites.assembly.roles import CLIENTS
from dbversus.suites.expression import Expression, variables_of
from dbversus.suites.model import STATEMENT, Role, Test


def work_words(test: Test) -> list[str]:
    """Lines such as `step: table_size / 50 operations`, `builds on l.i0`, `rate = 100`; none of a plain test."""
    return [*_kind(test), *([f"builds on {', '.join(test.builds_on)}"] if test.builds_on else []), *_values(test)]


def role_words(role: Role) -> str:
    """`2 clients, closed loop`, `1 client, 500/s (poisson), 30000 operations`, `1 client, closed loop, follows inserters`."""
    parts = [_clients(role), _pace(role)]
    if role.operations is not None:
        parts.append(f"{role.operations} operations")
    if role.follows:
        parts.append(f"follows {role.follows}" + (f", lead {role.lead}" if role.lead is not None else ""))
    return ", ".join(parts)


def _clients(role: Role) -> str:
    asked = "as many clients as asked for"
    return {1: "1 client", CLIENTS: asked}.get(role.clients, f"{role.clients} clients")


def _pace(role: Role) -> str:
    arrivals = role.arrivals
    if arrivals is None:
        return "closed loop"
    rate = f"({arrivals.rate})" if " " in str(arrivals.rate) else arrivals.rate
    return f"{rate}/s ({arrivals.kind}{f' of {arrivals.size}' if arrivals.size else ''})"


def _kind(test: Test) -> Iterator[str]:
    if test.connect:
        yield "each operation opens a connection, and closes it"
    if test.work is None:
        return
    if test.work.kind == STATEMENT:
        yield "run, undone and repeated" if test.work.undo else "run once"
    elif test.work.operations is None:
        yield "step: ends with the operations of its roles"
    else:
        yield f"step: {test.work.operations} operations"


def _values(test: Test) -> Iterator[str]:
    """Variables of the numbers that are shown, except those that every test has."""
    known = {**test.suite_variables, **test.own_variables}
    names = dict.fromkeys(name for number in _numbers(test) for name in sorted(variables_of(number)))
    if said := [f"{name} = {known[name]}" for name in names if name in known]:
        yield f"where {', '.join(said)}"


def _numbers(test: Test) -> Iterable[Expression]:
    given = [test.work.operations] if test.work else []
    for role in test.roles:
        arrivals = [role.arrivals.rate, role.arrivals.size] if role.arrivals else []
        given += [role.clients, role.operations, role.lead, *arrivals]
    return [number for number in given if isinstance(number, int | str)]
