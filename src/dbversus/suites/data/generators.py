"""What `gen = "data"` becomes once its file is known: generators as the engine has them (docs/engine-protocol.md)."""

import contextlib
from itertools import islice
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import ConfigDict, Field

from dbversus.dbms.sql.types import is_integer
from dbversus.home import home_dir
from dbversus.suites.data.staged import Staged
from dbversus.suites.file.generators import FromData, Generator, Listable, Number
from dbversus.suites.file.source import Place


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


LOADED_VALUES = 1 << 18
"""Of a column of a loaded table: as many are kept, which 2 MB of memory hold."""


class FromLoaded(Listable):
    """The value of a random row of a table that scripts fill. `file`: what the first load writes, LOADED_VALUES lines."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, arbitrary_types_allowed=True)
    expressions: ClassVar[tuple[str, ...]] = ("count",)

    gen: Literal["data"] = "data"
    file: str
    rows: int = LOADED_VALUES
    pick: Literal["uniform", "zipfian"]
    exponent: float | None = None
    table: str = Field(exclude=True)
    column: str = Field(exclude=True)
    place: Place = Field(exclude=True)

    @property
    def path(self) -> Path:
        return home_dir() / "data" / self.file

    @property
    def is_number(self) -> bool:
        return is_integer(self.type or "int8")

    @property
    def example(self) -> int | str:
        """A value from the middle; before anything was loaded, one that may not be there."""
        value = "1"
        with contextlib.suppress(OSError), self.path.open(encoding="utf-8") as file:
            value = next(islice(file, LOADED_VALUES // 2, None), value).rstrip("\n")
        return int(value) if self.is_number else value


def is_stored(generator: Generator) -> bool:
    """Whether its values come from a staged file, in which they are of their type already."""
    return isinstance(generator, FromRow | FromFile | FromLoaded | FromData)


def example_of(generator: Generator) -> int | float | str | None:
    """A value that a generator of data draws, for EXPLAIN; None of any other."""
    return generator.example if isinstance(generator, FromFile | FromLoaded) else None
