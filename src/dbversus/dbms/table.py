"""A table to be made, in words that hold for every DBMS; how one makes it is its dialect's affair."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Column:
    """`type`: a neutral one (`int4`, `char(120)`); `own_types`: what stands for it on some DBMSs, word for word.

    `identity`: the server numbers rows that give no value. `default`: of rows that give none.
    """

    name: str
    type: str
    own_types: Mapping[str, str] = field(default_factory=dict)
    default: int | str | None = None
    nullable: bool = False
    identity: bool = False


@dataclass(frozen=True)
class Index:
    name: str
    columns: tuple[str, ...]
    unique: bool = False


@dataclass(frozen=True)
class Table:
    """`primary_key`: its columns, or none."""

    name: str
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()
    indexes: tuple[Index, ...] = ()

    @property
    def key(self) -> str:
        """The column by whose values rows are told apart first; "" without a primary key."""
        return self.primary_key[0] if self.primary_key else ""
