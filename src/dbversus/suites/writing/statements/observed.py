"""A statement as it was seen on a server."""

from dataclasses import dataclass, field

from dbversus.suites.writing.place import Line
from dbversus.suites.writing.sql_tokens import Dialect


@dataclass(frozen=True)
class Observed:
    """`calls`: how often; `total_ms`: the time of all of them, 0 where nobody says. `example`: a text of it with its values.

    `database`: the one that was in use, where that is told.
    """

    text: str
    calls: int
    total_ms: float
    line: Line
    example: str = ""
    dialect: Dialect = field(default="postgres", kw_only=True)
    database: str = field(default="", kw_only=True)


@dataclass
class Seen:
    """What files tell. `notes`: entries that could not be read, with file and line, and what else there is to know."""

    statements: list[Observed] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
