"""Roles of a test: how they follow from a suite's file, what may be wrong with them, and what the engine is told of them."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from dbversus.names import did_you_mean
from dbversus.suites.assembly.check import check_number, value_of
from dbversus.suites.assembly.mix import is_mixed
from dbversus.suites.expression import Expression, variables_of
from dbversus.suites.file import shape
from dbversus.suites.file.draft import Draft, Placed
from dbversus.suites.file.source import Place
from dbversus.suites.model import STEP, Arrivals, Role, Statement, Test
from dbversus.suites.variables import Variables

CLIENTS = "clients"
"""In a role's numbers: the number of clients that the experiment asks for (--clients)."""

USUAL_SLA = 0.95
"""Of the Insert Benchmark: in each read+write step at least this share of the target rate has to be inserted."""

HIGHEST_RATE = 10_000_000
"""What the engine accepts; more is a mistake of the unit."""


def named_roles(test: shape.Test, place: Place, draft: Draft) -> Iterator[tuple[str, Placed[shape.Role]]]:
    """The roles of a test by name: its own, or those of the suite that it names. Raises UsageError for an unknown one."""
    for name, given in test.roles.items():
        where = place.at("roles", name)
        if isinstance(given, shape.Role):
            yield name, Placed(given, where)
        elif given in draft.roles:
            yield name, draft.roles[given]
        else:
            known = ", ".join(draft.roles) or "(none)"
            raise where.mistake(
                f"unknown role '{given}'.{did_you_mean(given, draft.roles)} Accepted: {known} of [roles], or a role of the "
                "test's own."
            )


def with_roles(draft: Draft, phase: Placed[shape.Phase]) -> Draft:
    """The definitions as a phase with roles of its own has them: its tests have these besides, or instead of theirs of that
    name. Raises UsageError for a role that is not among [roles], and for a test without roles."""
    for name, given in phase.value.roles.items():
        if given not in draft.roles:
            known = ", ".join(draft.roles) or "(none)"
            raise phase.place.at("roles", name).mistake(
                f"unknown role '{given}'.{did_you_mean(given, draft.roles)} Accepted: {known} of [roles]."
            )
    named = {key: placed for key, placed in draft.tests.items() if any(_is_of(key, one) for one in phase.value.tests)}
    for key, placed in named.items():
        if not placed.value.roles:
            raise phase.place.at("roles").mistake(f"test '{key}' of this phase has no roles.")
    return replace(draft, tests=draft.tests | {key: _with_roles(one, phase.value.roles) for key, one in named.items()})


def _is_of(key: str, name: str) -> bool:
    """Whether a phase that names a test means the definition, or a variant of it."""
    return name == key or name.startswith(f"{key}-")


def _with_roles(test: Placed[shape.Test], roles: Mapping[str, str]) -> Placed[shape.Test]:
    return replace(test, value=test.value.model_copy(update={"roles": {**test.value.roles, **roles}}))


def make_role(
    name: str, given: shape.Role, statements: tuple[Statement, ...], others_closed: bool, place: Place
) -> Role:
    """`others_closed`: whether a role in a closed loop counts, so that those whose operations are due anyway need not."""
    counts = given.arrivals is None or not others_closed if given.counts is None else given.counts
    usual = CLIENTS if given.arrivals is None else 1
    clients = usual if given.clients is None else given.clients
    due = given.arrivals
    arrivals = Arrivals(due.kind, due.rate, due.size) if due else None
    sla = (given.sla or USUAL_SLA) if due else None
    of_step = given.operations, given.follows, given.lead
    return Role(name, statements, given.transaction, clients, arrivals, counts, place, sla, *of_step)


def check_roles(test: Test, variables: Variables) -> None:
    """Raises UsageError with file and line for numbers that make no sense, and where no operation counts."""
    for role in test.roles:
        for key in ("clients", "operations", "lead"):
            _check_number(getattr(role, key), variables, role.place.at(key))
        if role.arrivals:
            place = role.place.at("arrivals")
            _check_number(role.arrivals.size, variables, place.at("size"))
            _check_rate(role.arrivals.rate, variables, place.at("rate"))
    if test.roles and not any(role.counts for role in test.roles):
        raise test.place.at("roles").mistake("no role has counts = true; the operations of one at least have to count.")


def check_pauses(test: Test, kind: str) -> None:
    """Raises UsageError for a pause where it would hold up the turns of targets, or the moments at which operations are due."""
    accepted = [role for role in test.roles if role.arrivals is None] if kind == STEP else []
    may_pause = [id(statement) for role in accepted for statement in role.statements]
    for statement in test.statements:
        if statement.pause is not None and id(statement) not in may_pause:
            raise statement.place_of("pause").mistake(
                '`pause` is for statements of a role without `arrivals`, in a test of kind = "step".'
            )


def _check_number(expression: Expression | None, variables: Variables, place: Place) -> None:
    """1 or more, as far as it can be told before the number of clients is known."""
    if expression is None:
        return
    check_number(expression, {**variables, CLIENTS: 1}, place)
    if CLIENTS not in variables_of(expression):
        check_number(expression, variables, place, at_least=1)


def _check_rate(rate: Expression | float, variables: Variables, place: Place) -> None:
    if not isinstance(rate, float):
        _check_number(rate, variables, place)
    elif not 0 < rate < float("inf"):
        raise place.mistake(f"rate is {rate:g}; a number of operations per second above 0 is accepted.")


def role_fields(role: Role, scope: Variables) -> dict[str, Any]:
    """What the engine is told of a role beside its statements; `scope` has CLIENTS. Raises UsageError as `check_roles`."""
    fields: dict[str, Any] = {
        "name": role.name,
        "clients": _at_least_one(role.clients, scope, role.place.at("clients")),
        "counted": role.counts,
        "transaction": role.transaction and not is_mixed(role.statements),
    }
    if (arrivals := role.arrivals) is not None:
        place, rate = role.place.at("arrivals"), arrivals.rate
        made: dict[str, Any] = {"kind": arrivals.kind}
        made["rate"] = rate if isinstance(rate, float) else _at_least_one(rate, scope, place.at("rate"))
        if made["rate"] > HIGHEST_RATE:
            raise place.at("rate").mistake(
                f"rate is {made['rate']:g}; up to {HIGHEST_RATE:,} operations/s are accepted."
            )
        if arrivals.size is not None:
            made["size"] = _at_least_one(arrivals.size, scope, place.at("size"))
        fields["arrivals"] = made
    return fields | _fields_of_step(role, scope)


def _fields_of_step(role: Role, scope: Variables) -> dict[str, Any]:
    given = {"operations": role.operations, "lead": role.lead}
    numbers = {
        key: _at_least_one(value, scope, role.place.at(key)) for key, value in given.items() if value is not None
    }
    return numbers | ({"follows": role.follows} if role.follows else {})


def operations_of_roles(test: Test, table_size: int, tables: int, clients: int) -> dict[str, int]:
    """Operations of the roles of a step that have so many to do, by name. Raises UsageError as `check_roles`, and for a role
    that would wait for ever for the one that it follows."""
    scope = {**test.scope(table_size, tables), CLIENTS: clients}
    found = {role.name: _fields_of_step(role, scope).get("operations") for role in test.roles}
    for role in test.roles:
        own, of_leader = found[role.name], found.get(role.follows or "")
        if own and of_leader and own > of_leader:
            raise role.place.at("operations").mistake(
                f"{role.name} would wait for ever: it has {own:,} operations and follows {role.follows}, "
                f"which has {of_leader:,}; as many or fewer are accepted."
            )
    return {name: operations for name, operations in found.items() if operations is not None}


def _at_least_one(expression: Expression, scope: Variables, place: Place) -> int:
    if (value := value_of(expression, scope, place)) < 1:
        raise place.mistake(f"{place.keys[-1]} is {value}; 1 or more is accepted.")
    return value


def clients_of(test: Test, table_size: int, tables: int, clients: int) -> int:
    """Clients of a test, all roles together; `clients` where it has no roles."""
    scope = {**test.scope(table_size, tables), CLIENTS: clients}
    return sum(_at_least_one(role.clients, scope, role.place.at("clients")) for role in test.roles) or clients


def paces_of(test: Test, table_size: int, tables: int, clients: int) -> dict[str, dict[str, float]]:
    """Role → its rate in operations per second and the share of it that has to be done; roles with arrivals alone."""
    scope = {**test.scope(table_size, tables), CLIENTS: clients}
    return {
        role.name: {"rate_per_s": float(role_fields(role, scope)["arrivals"]["rate"]), "sla": role.sla}
        for role in test.roles
        if role.arrivals and role.sla
    }


def planned_s_of(test: Test, table_size: int, tables: int, clients: int) -> float:
    """How long the operations of a step take at the rates of their roles, in seconds; 0 of one without rates."""
    scope = {**test.scope(table_size, tables), CLIENTS: clients}
    made = [role_fields(role, scope) for role in test.roles if role.arrivals and role.operations is not None]
    return max((float(fields["operations"] / fields["arrivals"]["rate"]) for fields in made), default=0.0)


def offered_rate(test: Test, table_size: int, tables: int, clients: int) -> float | None:
    """Operations per second that are due, of a test whose counted roles all have arrivals; else None."""
    counted = [role for role in test.roles if role.counts]
    if not counted or not all(role.arrivals for role in counted):
        return None
    scope = {**test.scope(table_size, tables), CLIENTS: clients}
    return float(sum(role_fields(role, scope)["arrivals"]["rate"] for role in counted))
