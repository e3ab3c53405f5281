"""Flags of verbs that fill an experiment, from the table in flags.py: read into choices, and choices as flags."""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, TypeVar

import typer

from dbversus.cli.flags import OPTIONS
from dbversus.cli.values import FORMS
from dbversus.experiment.asked.demands import Demands, parse_demands
from dbversus.experiment.asked.flag import Option, Verb

Choices = dict[str, Any]
"""Settings of the experiment that were given by flags, and no others."""

Status = TypeVar("Status", bound=int | None)

FROM_FILE = ("run", "resume")
"""Verbs that go by an experiment file: it holds where no flag is given."""


def with_flags(verb: Verb) -> Callable[[Callable[..., Status]], Callable[..., Status]]:
    """Puts the flags of `verb` in the place of a verb's parameter `chosen: Choices`, and fills that with what they were given."""
    own = {option.setting: option for option in OPTIONS if verb in option.verbs}

    def decorate(function: Callable[..., Status]) -> Callable[..., Status]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def call(*arguments: Any, **options: Any) -> Status:
            flags = {name: options.pop(name) for name in own if name in options}
            return function(*arguments, **options, chosen=_read(own, flags))

        call.__dict__["__signature__"] = signature.replace(parameters=list(_parameters(signature, verb, own)))
        return call

    return decorate


def _parameters(signature: inspect.Signature, verb: Verb, own: Mapping[str, Option]) -> Iterator[inspect.Parameter]:
    for parameter in signature.parameters.values():
        if parameter.name == "chosen":
            yield from (_parameter(option, verb) for option in own.values())
        else:
            yield parameter


def _parameter(option: Option, verb: Verb) -> inspect.Parameter:
    is_switch = option.kind in ("on", "off")
    default = "the file's" if verb in FROM_FILE and not is_switch else option.default
    flag = typer.Option(
        option.name, help=option.help, show_default=default or True, rich_help_panel=option.panel or None
    )
    return inspect.Parameter(
        option.setting,
        inspect.Parameter.KEYWORD_ONLY,
        default=False if is_switch else None,
        annotation=Annotated[FORMS[option.kind].type, flag],
    )


def _read(own: Mapping[str, Option], flags: Mapping[str, Any]) -> Choices:
    return {
        name: FORMS[own[name].kind].read(value, own[name].name)
        for name, value in flags.items()
        if not (value is None or value is False or value == [])
    }


def demands_of(chosen: Choices) -> Demands:
    """What the exit status demands by flags; a mistake is told by the flag's name."""
    return parse_demands(chosen.get("fail_on"), chosen.get("require_verdicts"))


def with_demands(chosen: Choices) -> Choices:
    """The choices with the conditions of --fail-on one by one; a mistake is told by the flag's name."""
    conditions = demands_of(chosen).fail_on
    return chosen | ({"fail_on": list(conditions)} if conditions else {})


def as_words(choices: Mapping[str, Any]) -> list[str]:
    """The flags that make these choices."""
    words = []
    for option in OPTIONS:
        if option.setting not in choices:
            continue
        if option.kind in ("on", "off"):
            words.append(option.name)
            continue
        shown = FORMS[option.kind].show(choices[option.setting])
        for text in [shown] if isinstance(shown, str) else shown:
            words += [option.name, text]
    return words
