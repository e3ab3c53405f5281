"""What a written suite still lacks: said in the file, and to whoever asked for it."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Written:
    """A suite's text, what its user still has to do, and what else there is to know, a sentence each."""

    text: str
    left: Sequence[str] = ()
    notes: Sequence[str] = ()


def missing_tables(names: Sequence[str]) -> list[str]:
    """That these tables have to be described."""
    if not names:
        return []
    return [
        "say what the tables are like and what they hold, by [tables.NAME] or your own schema and files, as in "
        f"docs/suites/tables.md: {', '.join(names)}"
    ]
