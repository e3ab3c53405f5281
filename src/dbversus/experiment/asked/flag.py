"""What the command line has to know of a field of ExperimentSpec. Imports nothing that takes long: `--help` reads it."""

from dataclasses import dataclass
from typing import Literal

Verb = Literal["compare", "run", "resume", "report", "calibrate", "configs", "explain", "upgrade"]

Kind = Literal[
    "on",
    "off",
    "text",
    "texts",
    "names",
    "whole",
    "path",
    "count",
    "counts",
    "duration",
    "memory",
    "metrics",
    "margins",
]
"""How a value is written on the command line (cli/values.py). `on`, `off`: the flag has no value, and sets True or False."""


@dataclass(frozen=True)
class Flag:
    """A field's metadata: `Annotated[int, Flag("Rows per table.", kind="count")]`. What is left out follows from the field.

    `verbs`: the commands that have it. `default`: words for what holds without it. `panel`: its section of `--help`.
    """

    help: str
    verbs: tuple[Verb, ...] = ("compare",)
    kind: Kind | None = None
    name: str = ""
    default: str = ""
    panel: str = ""


@dataclass(frozen=True)
class Option:
    """A flag with nothing left out, as the table in cli/flags.py has it. `setting` is the field."""

    setting: str
    name: str
    kind: Kind
    help: str
    verbs: tuple[Verb, ...]
    default: str
    panel: str
