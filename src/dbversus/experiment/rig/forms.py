"""Tests that are judged against each other on each target: their slots are in the same rows, those of one target next to others'.

To the engine a form on a target is a target of its own, with connections of its own to the same server. What it answers is put to
target and test again before anything is journaled.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from dbversus.errors import UsageError
from dbversus.experiment.plan.cases import Case
from dbversus.experiment.rig.engine import EngineRefused, Reply
from dbversus.experiment.rig.rig import Rig
from dbversus.suites.send.define import Json, statements_in

_BETWEEN = "/"
_PER_TARGET = ("latency", "roles", "error_examples")


def forms_of(case: Case) -> list[Case]:
    """The case itself, and what is judged against it."""
    return [replace(case, forms=()), *case.forms]


def drivers(rig: Rig, case: Case) -> list[str]:
    """What the engine calls those whose slots make a row: the targets, and the other forms on each."""
    return [driver_name(target, case, form) for form in forms_of(case) for target in rig.measured(form)]


def all_drivers(rig: Rig, case: Case) -> list[str]:
    """Those of all targets that are up, whether their rows are run or not."""
    return [driver_name(target, case, form) for form in forms_of(case) for target in rig.alive_names]


def target_of(driver: str) -> str:
    """Name of the target."""
    return driver.partition(_BETWEEN)[0]


def driver_name(target: str, case: Case, form: Case) -> str:
    return target if form.name == case.name else f"{target}{_BETWEEN}{form.name}"


def introduce_forms(rig: Rig, case: Case) -> None:
    """Makes the forms known to the engine, with the servers as they are now."""
    for form in case.forms:
        for target in rig.alive:
            rig.introduce_as(driver_name(target.name, case, form), target)


def forget_forms(rig: Rig, case: Case) -> None:
    for name in all_drivers(rig, case):
        if target_of(name) != name:
            with contextlib.suppress(EngineRefused):  # the engine is another by now
                rig.engine.call("drop", target=name)


def named_as(made: Json, of_first: Json, case: Case) -> Json:
    """What is sent of a form, its statements called as those of the first, since the engine tells by names what draws alike."""
    names = [statement["name"] for statement in statements_in(of_first)]
    own = [statement["name"] for statement in statements_in(made)]
    called = dict(zip(own, names, strict=True))
    statements = [
        {**one, "name": called[one["name"]], "table": called.get(one["table"], one["table"])}
        for one in statements_in(made)
    ]
    if [one["params"] for one in statements] != [one["params"] for one in statements_in(of_first)]:
        raise UsageError(
            f"test '{case.name}' draws other values than the test that it is against, so it cannot be judged."
        )
    return {**made, "statements": statements}


def by_form(case: Case, reply: Reply) -> list[tuple[Case, Reply]]:
    """A row, or what is told at the end of rows, parted by form, with the names of targets."""
    return [(form, _of_form(reply, case, form)) for form in forms_of(case)] if case.forms else [(case, reply)]


def _of_form(reply: Reply, case: Case, form: Case) -> Reply:
    def is_own(driver: str) -> bool:
        return driver_name(target_of(driver), case, form) == driver

    made = dict(reply)
    if "tag" in made:
        made["tag"] = {**made["tag"], "test": form.name}
    if "slots" in made:
        made["slots"] = [_with_target(slot) for slot in made["slots"] if is_own(slot["target"])]
        made["order"] = [target_of(driver) for driver in made["order"] if is_own(driver)]
    for key in _PER_TARGET:
        if key in made:
            made[key] = {target_of(driver): told for driver, told in made[key].items() if is_own(driver)}
    return made


def _with_target(told: dict[str, Any]) -> dict[str, Any]:
    return {**told, "target": target_of(told["target"])}


def answers_of(replies: Reply, rig: Rig, case: Case) -> Iterator[tuple[Case, Reply]]:
    """Each form with what all targets answered to it."""
    for form in forms_of(case):
        yield form, {target: replies[driver_name(target, case, form)] for target in rig.alive_names}
