"""A statement as it was seen on a server."""

from dataclasses import dataclass, field

from dbversus.suites.writing.place import Line


@dataclass(frozen=True)
class Observed:
    """`calls`: how often; `total_ms`: the time of all of them, 0 where nobody says. `example`: a text of it with its values."""

    text: str
    calls: int
    total_ms: float
    line: Line
    example: str = ""
    double_quotes_are_strings: bool = field(default=False, kw_only=True)
