"""A setting as a foreign config file has it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """`value`: None for a name alone. `versions`: those that it holds for (`since 8.0 until 8.0`); empty for all."""

    number: int
    name: str
    value: str | None
    versions: str = ""
