"""Claims of posts held against results, as plain data."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from dbversus.posts.rule import Status

ORDER = tuple(status for status in Status if status != Status.NOT_COMPARABLE)
"""From the best to the worst."""


@dataclass(frozen=True)
class ScoredFigure:
    """One published figure of a claim. `published`: the ratio as printed, with its tolerance from
    `published_low` to `published_high`; `said`: the direction where there is none.

    `ratio` is ours, new ÷ old, with its interval over `blocks`, or their range; labels of targets are empty where nothing
    stands for a build. `size`: of the same direction, whether ours is weaker or stronger. `builds`: new ÷ old by their
    names in the post. `server`: the post's, where it has several. `differences`: what is known to differ between the builds
    there and here. `experiment`: by whose results it was scored. `parts`: of most or all tests together, each of them.
    `remark`: the likely reason of a disagreement, as the file of claims has it.
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
    status: Status
    note: str = ""
    least: float | None = None
    most: float | None = None
    size: str = ""
    builds: str = ""
    server: str = ""
    differences: str = ""
    published_low: float | None = None
    published_high: float | None = None
    parts: tuple["ScoredFigure", ...] = ()
    remark: str = ""
    experiment: str = ""

    @property
    def words(self) -> str:
        """Its status, with weaker or stronger."""
        return f"{self.status}, {self.size}" if self.size else str(self.status)


@dataclass(frozen=True)
class ScoredClaim:
    """`name`: post/number. `note`: why nothing here can be held against it, or where to read what no figure tells."""

    name: str
    says: str
    status: Status
    figures: tuple[ScoredFigure, ...]
    note: str = ""

    @property
    def number(self) -> str:
        return self.name.rpartition("/")[2]

    def count(self, *statuses: Status) -> int:
        """Figures with one of these; a claim that has none of its own counts as one."""
        own = [figure.status for figure in self.figures] or [self.status]
        return sum(status in statuses for status in own)


@dataclass(frozen=True)
class ScoredPost:
    """A published post and its claims, held against results. `differences`: what is known to differ, of all of it."""

    name: str
    title: str
    claims: tuple[ScoredClaim, ...]
    differences: str = ""

    @property
    def counts(self) -> Counter[Status]:
        """Of figures; nothing that the post claims is left out."""
        return Counter({status: sum(claim.count(status) for claim in self.claims) for status in Status})

    def figures(self) -> Iterator[tuple[ScoredClaim, ScoredFigure]]:
        for claim in self.claims:
            for figure in claim.figures:
                yield claim, figure


def middle(statuses: list[Status]) -> Status:
    """The middle one of those that could be compared, from the best to the worst; of two middle ones the worse."""
    compared = sorted((status for status in statuses if status in ORDER), key=ORDER.index)
    return compared[len(compared) // 2] if compared else Status.NOT_COMPARABLE
