"""Claims of published posts, as data: experiments/posts/claims/<post>.toml, one file per post.

A claim is checked by its figures: ratios that were printed, or directions that were said. Builds go by the names that the
post has for them; `[builds]` says what stands for each here, as DBMS, version and configs: `mysql:8.0@dive200`. A version is
that or begins with it. Of several targets that with the fewest other configs counts, and of several such the last.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from dbversus.dbms.versions import in_range
from dbversus.errors import UsageError
from dbversus.home import shipped
from dbversus.names import near
from dbversus.suites.file.generators import Shape
from dbversus.suites.file.reading import read_shape
from dbversus.suites.file.source import read_source

Check = Literal["yes", "direction", "no"]
Metric = Literal["throughput", "cpu", "read_bytes", "write_bytes"]
Says = Literal[
    "up", "down", "same", "not up", "not down", "mostly up", "mostly down", "mostly same", "mostly not up",
    "mostly not down", "mean", "mean up", "mean down",
]  # fmt: skip


class Figure(Shape):
    """Ratios new ÷ old of a metric (per operation, but throughput) in tests, which may be globs where no ratios are published.

    `published`: one for each test. `says`: the direction, where none was printed; `mostly`: of most of the tests, `mean`: of
    their geometric mean. `of`: what the post took it from. `lacking`: why it cannot be checked here.
    """

    new: str
    old: str
    metric: Metric
    tests: Annotated[list[str], Field(min_length=1)]
    published: list[float] = Field(default_factory=list)
    says: Says | None = None
    of: str = ""
    lacking: str = ""


class Claim(Shape):
    """`check`: whether it can be checked here, or in its direction only; `why` not. `look`: where to read what no figure
    tells."""

    id: str
    says: str = ""
    check: Check
    why: str = ""
    look: str = ""
    figures: list[Figure] = Field(default_factory=list)

    @property
    def words(self) -> str:
        """What it says; of a line of a table, its figures: `scan: throughput 8.0.22 ÷ 5.6.49 0.83; cpu 8.0.22 ÷ 5.6.49 0.96`."""
        if self.says:
            return self.says
        by_tests = groupby(self.figures, lambda figure: ", ".join(dict.fromkeys(figure.tests)))
        return "; ".join(f"{tests}: {'; '.join(map(_figure_words, figures))}" for tests, figures in by_tests)


class _File(Shape):
    post: str
    title: str
    larger_than_memory: bool = False
    builds: dict[str, str]
    claims: list[Claim]


@dataclass(frozen=True)
class Stands:
    """What stands for a build of a post: a DBMS, a version that begins so, and configs; empty: any."""

    dbms: str
    version: str
    configs: frozenset[str]

    def fits(self, dbms: str, version: str, configs: frozenset[str]) -> bool:
        return self.dbms in ("", dbms) and in_range(version, self.version, self.version) and self.configs <= configs


@dataclass(frozen=True)
class Post:
    """`builds`: name in the post → what stands for it here. `larger_than_memory`: the data of the post was."""

    name: str
    title: str
    larger_than_memory: bool
    builds: Mapping[str, Stands]
    claims: tuple[Claim, ...]


def _figure_words(figure: Figure) -> str:
    printed = " ".join(f"{value:.2f}" for value in figure.published)
    origin = f" ({figure.of})" if figure.of else ""
    return f"{figure.metric.replace('_', ' ')} {figure.new} ÷ {figure.old} {printed}{origin}"


def list_posts() -> list[str]:
    """Names of all posts that have claims."""
    return sorted(_files())


@cache
def load_post(name: str) -> Post:
    """Raises UsageError for an unknown one, and for a mistake in its file with the line."""
    files = _files()
    if name not in files:
        raise UsageError(
            f"There are no claims of a post '{name}'.{near(name, files)} Accepted: {', '.join(sorted(files))}."
        )
    source = read_source(files[name])
    found = read_shape(_File, source)
    builds = {build: _stands(text) for build, text in found.builds.items()}
    return Post(found.post, found.title, found.larger_than_memory, builds, tuple(found.claims))


def _files() -> dict[str, Path]:
    return {path.stem: path for place in reversed(shipped("experiments")) for path in place.glob("posts/claims/*.toml")}


def _stands(text: str) -> Stands:
    build, _, configs = text.partition("@")
    dbms, _, version = build.partition(":")
    return Stands(dbms, version, frozenset(filter(None, configs.split(","))))
