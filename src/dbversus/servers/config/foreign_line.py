"""What a foreign config file is made of, whichever server it is for."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Line:
    """A setting. `value`: None for a name alone. `section`: of a my.cnf.

    `place`: `line 9`, or `conf.d/x.cnf:9` of an included file.
    """

    number: int
    name: str
    value: str | None
    section: str = ""
    place: str = ""


@dataclass(frozen=True)
class Section:
    """The head of a section of a my.cnf that a server reads."""

    name: str


@dataclass(frozen=True)
class Include:
    """A line that includes a file, or all files of a folder. `optional`: the server passes over one that is missing."""

    number: int
    target: str
    of: Literal["file", "folder"]
    optional: bool


@dataclass(frozen=True)
class PassedOver:
    """A line or section that no server takes for a setting; `why`, with the line itself."""

    number: int
    why: str


Part = Line | Section | Include | PassedOver
