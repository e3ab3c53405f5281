"""What a server does of its own accord at a moment, as its log tells it."""

from dataclasses import dataclass

CRASH = "crash"
"""A part of the server died, and the rest ended and recovered: commits that were not yet on disk are lost."""


@dataclass(frozen=True)
class LogEvent:
    """`what`: a checkpoint, an autovacuum …; moments since 1970 in ns, None where the log does not tell; `words`: in short."""

    what: str
    began_unix_ns: int | None
    ended_unix_ns: int | None
    words: str
