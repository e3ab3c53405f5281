"""A line of a file that is no TOML, for messages."""

from dataclasses import dataclass

from dbversus.errors import UsageError


@dataclass(frozen=True)
class Line:
    """`number` counts from 1."""

    path: str
    number: int

    def __str__(self) -> str:
        return f"{self.path}:{self.number}"

    def mistake(self, sentence: str) -> UsageError:
        """An error for the user, which starts with file and line."""
        return UsageError(f"{self}: {sentence}")
