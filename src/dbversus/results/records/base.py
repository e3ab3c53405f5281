"""What the records of a journal have in common."""

from typing import TypedDict

from msgspec import Struct


class Record(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", tag=str.lower):
    """A line of the journal.

    host: the host that measured it: the first 16 digits of a hash of its machine id
    at_unix_ns: when it was journaled
    """

    host: str | None = None
    at_unix_ns: int = 0


class Tag(TypedDict, total=False):
    """What tells the targets that are up from those that are not; empty where all are up."""

    group: str
    solo: str


class OfGroup(Record, frozen=True, kw_only=True):
    """A record of the targets that are up, where not all are up at the same time (docs/experiments.md).

    group: name of the group that is up: `g0`, `g1`, …
    solo: name of the one target that is up
    """

    group: str | None = None
    solo: str | None = None

    @property
    def tag(self) -> str:
        """Name of the group or of the one target that is up; "" where all are up together."""
        return self.solo or self.group or ""


class OfTest(OfGroup, frozen=True):
    """A record of a test in a block.

    block: number of the block, from 0 (reports count from 1)
    test: name of the test; with several numbers of clients `scan@4`
    """

    block: int
    test: str


class Part(Struct, frozen=True, omit_defaults=True):
    """A part of a record."""
