"""What `gen = "data"` becomes once its file is known: generators as the engine has them (docs/engine-protocol.md)."""

from typing import ClassVar, Literal

from pydantic import ConfigDict, Field

from dbversus.suites.data.staged import Staged
from dbversus.suites.file.generators import FromData, Generator, Listable, Number


class FromRow(Generator):
    """A column's value in the row of the table's own file that is loaded."""

    gen: Literal["field"] = "field"
    index: int


class FromFile(Listable):
    """The value of a random row of a staged file with one column. `rows`: of so many first rows."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, arbitrary_types_allowed=True)
    expressions: ClassVar[tuple[str, ...]] = ("rows", "count")

    gen: Literal["data"] = "data"
    file: str
    rows: Number
    pick: Literal["uniform", "zipfian"]
    exponent: float | None = None
    staged: Staged = Field(exclude=True)
    example: int | float | str = Field(exclude=True)


def is_stored(generator: Generator) -> bool:
    """Whether its values come from a staged file, in which they are of their type already."""
    return isinstance(generator, FromRow | FromFile | FromData)


def example_of(generator: Generator) -> int | float | str | None:
    """A value that a generator of data draws, for EXPLAIN; None of any other."""
    return generator.example if isinstance(generator, FromFile) else None
