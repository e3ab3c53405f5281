"""A table to be made, in words that hold for every DBMS; how one makes it is its dialect's affair."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from dbversus.dbms.sql.types import has_order, is_integer


@dataclass(frozen=True)
class Column:
    """`type`: a neutral one (`int4`, `char(120)`); `own_types`: what stands for it on some DBMSs, word for word.

    `identity`: the server numbers rows that give no value. `default`: of rows that give none.
    """

    name: str
    type: str
    own_types: Mapping[str, str] = field(default_factory=dict)
    default: int | float | str | None = None
    nullable: bool = False
    identity: bool = False


@dataclass(frozen=True)
class Index:
    """`made_as`: its name in the suite, where each copy of the table has another one."""

    name: str
    columns: tuple[str, ...]
    unique: bool = False
    made_as: str = ""

    @property
    def stem(self) -> str:
        return self.made_as or self.name


@dataclass(frozen=True)
class Table:
    """`primary_key`: its columns, or none. `made_as`: its name in the suite, where it is one of several copies.

    `rows_at_end`: as many as will have come into it by the end of the suite. `made_by_scripts`: the suite's own scripts make it,
    with types, keys and indexes of their own; here it is only filled.
    """

    name: str
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()
    indexes: tuple[Index, ...] = ()
    made_as: str = ""
    rows_at_end: int = 0
    made_by_scripts: bool = False

    @property
    def stem(self) -> str:
        return self.made_as or self.name

    @property
    def numbered_key(self) -> str:
        """The primary key where that is one integer; else ""."""
        types = {column.name: column.type for column in self.columns}
        return self.key if len(self.primary_key) == 1 and is_integer(types[self.key]) else ""

    @property
    def key(self) -> str:
        """The column by whose values rows are told apart first; "" without a primary key."""
        return self.primary_key[0] if self.primary_key else ""

    @property
    def ordered_key(self) -> str:
        """The key where all DBMSs tell its lowest and highest value alike; else "".

        Of tables that a server had already only such keys are known (`Server.own_tables`), and no columns.
        """
        if not self.columns:
            return self.key
        return next((one.name for one in self.columns if one.name == self.key and has_order(one.type)), "")
