"""Claims of posts held against results, as plain data."""

from dataclasses import dataclass
from enum import StrEnum


class ClaimStatus(StrEnum):
    """What became of a published claim, or of one of its figures."""

    FOUND = "found"
    IN_PART = "found in part"
    NOT_FOUND = "not found"
    UNDECIDED = "undecided"
    NOT_MEASURED = "not measured"
    TO_READ = "to be read by eye"
    NOT_HERE = "cannot be checked here"


@dataclass(frozen=True)
class ClaimFigure:
    """One figure of a claim, in one test. `published`: the ratio as printed, `said` the direction where there is none.

    `ratio` is ours, new ÷ old, with its interval over `blocks`, or their
    range; labels of targets are empty where nothing stands for a build.
    """

    test: str
    metric: str
    new: str
    old: str
    published: float | None
    said: str
    ratio: float | None
    low: float | None
    high: float | None
    blocks: int
    status: ClaimStatus
    note: str = ""
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True)
class ClaimPart:
    """`name`: post/number. `note`: why it cannot be checked, or where to read what no figure tells."""

    name: str
    says: str
    status: ClaimStatus
    figures: tuple[ClaimFigure, ...]
    note: str = ""

    def count(self, *statuses: ClaimStatus) -> int:
        """Figures with one of these."""
        return sum(figure.status in statuses for figure in self.figures)


@dataclass(frozen=True)
class PostPart:
    """A published post and its claims, held against the results."""

    name: str
    title: str
    claims: tuple[ClaimPart, ...]
