"""Claims of published posts, as data: experiments/posts/claims/<post>.toml, one file per post.

A claim is scored by its figures: ratios that were printed, or directions that were said. Builds go by the names that the
post has for them; `[builds]` says what stands for each here, as DBMS, version and configs: `mysql:8.0@dive200`. A version is
that or begins with it. Of several targets that with the fewest other configs counts, and of several such the last.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PositiveFloat, PositiveInt

from dbversus.dbms.versions import in_range
from dbversus.suites.file.generators import Shape

Metric = Literal["throughput", "cpu", "read_bytes", "write_bytes"]
Unit = Literal["ratio", "%"]
Says = Literal[
    "up", "down", "same", "not up", "not down", "mostly up", "mostly down", "mostly same", "mostly not up",
    "mostly not down", "mean", "mean up", "mean down",
]  # fmt: skip

FEWEST_DECIMALS = 2
"""Of a printed ratio: TOML has no last zeros, so that 0.8 is 0.80."""
_VERSION = re.compile(r"\d+(\.\d+)+\w*$")


class Figure(Shape):
    """Ratios new ÷ old of a metric (per operation, but throughput) in tests, which may be globs where no ratios are published.

    `published`: one for each test, in `unit`. `says`: the direction, where none was printed; `mostly`: of most of the tests,
    `mean`: of their geometric mean; a glob without either: of all of them together. `server`: one of the file's, the first
    where there is none. `experiment`: that asks for it, where it is not that of the server. `of`: what the post took it from.
    `lacking`: why nothing here can be held against it. `remark`: the likely reason where ours is another.
    """

    new: str
    old: str
    metric: Metric
    tests: Annotated[list[str], Field(min_length=1)]
    published: list[PositiveFloat] = Field(default_factory=list)
    unit: Unit = "ratio"
    says: Says | None = None
    server: str = ""
    experiment: str = ""
    of: str = ""
    lacking: str = ""
    remark: str = ""

    @property
    def together(self) -> str:
        """How its tests are one figure: `mean`, `mostly` or `all`; empty: each of them is one."""
        first, _, _ = (self.says or "").partition(" ")
        if first in ("mean", "mostly"):
            return first
        return "all" if self.says and any(sign in test for test in self.tests for sign in "*?[") else ""

    @property
    def way(self) -> str:
        """The direction alone: `up`, `not down`; empty where a value was printed."""
        return (self.says or "").removeprefix("mean").removeprefix("mostly").strip()

    @property
    def count(self) -> int:
        """Of figures that are scored."""
        return 1 if self.together else len(self.tests)

    @property
    def ratios(self) -> list[float]:
        return [value / 100 for value in self.published] if self.unit == "%" else self.published

    @property
    def decimals(self) -> int:
        """Of the ratios as printed: those of the value that has most."""
        printed = max((len(f"{value:g}".partition(".")[2]) for value in self.published), default=0)
        return printed + 2 if self.unit == "%" else max(FEWEST_DECIMALS, printed)


class Claim(Shape):
    """`lacking`: why nothing here can be held against it. `look`: where to read what no figure tells."""

    id: str
    says: str = ""
    lacking: str = ""
    look: str = ""
    figures: list[Figure] = Field(default_factory=list)

    @property
    def count(self) -> int:
        """Of its figures; without any of its own it counts as one, so that nothing is left out."""
        return sum(figure.count for figure in self.figures) or 1

    @property
    def words(self) -> str:
        """What it says; of a line of a table, its figures: `scan: throughput 8.0.22 ÷ 5.6.49 0.83; cpu 8.0.22 ÷ 5.6.49 0.96`."""
        if self.says:
            return self.says
        by_tests = groupby(self.figures, lambda figure: ", ".join(dict.fromkeys(figure.tests)))
        return "; ".join(f"{tests}: {'; '.join(map(_figure_words, figures))}" for tests, figures in by_tests)


class Server(Shape):
    """What the post measured on, and how. `takes_cores`: a figure of it needs as many; with fewer it is another question.

    `experiment`: that asks for its figures, where it is not the post's own.
    """

    clients: PositiveInt
    cores: PositiveInt | None = None
    takes_cores: PositiveInt = 1
    tables: PositiveInt = 1
    rows: PositiveInt
    larger_than_memory: bool | None = None
    experiment: str = ""


class Build(Shape):
    """`here`: what stands for it: `mysql:8.0@dive200`; `lacking`: why nothing does. `version`: the post's, where its name does
    not end in it; `compiler`: the post's, where it is known."""

    here: str = ""
    lacking: str = ""
    version: str = ""
    compiler: str = ""

    @property
    def stands(self) -> "Stands":
        build, _, configs = self.here.partition("@")
        dbms, _, version = build.partition(":")
        return Stands(dbms, version, frozenset(filter(None, configs.split(","))))


def _as_table(build: Any) -> Any:
    return {"here": build} if isinstance(build, str) else build


class ClaimsFile(Shape):
    """A file of claims. `larger_than_memory`: the data of the post was, where a server does not say otherwise."""

    post: str
    title: str
    larger_than_memory: bool = False
    servers: Annotated[dict[str, Server], Field(min_length=1)]
    builds: dict[str, Annotated[Build, BeforeValidator(_as_table)]]
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
    """`builds`: by their names in the post."""

    name: str
    title: str
    larger_than_memory: bool
    servers: Mapping[str, Server]
    builds: Mapping[str, Build]
    claims: tuple[Claim, ...]

    def server_of(self, figure: Figure) -> Server:
        return self.servers[figure.server or next(iter(self.servers))]

    def experiment_of(self, figure: Figure) -> str:
        """Name of the one whose results the figure is held against."""
        return figure.experiment or self.server_of(figure).experiment or self.name

    @property
    def experiments(self) -> list[str]:
        """Its own, and those beside it that its figures name."""
        figures = (figure for claim in self.claims for figure in claim.figures)
        return list(dict.fromkeys((self.name, *map(self.experiment_of, figures))))

    def is_of_another(self, figure: Figure) -> bool:
        """Whether it is of another server than the first."""
        return figure.server not in ("", next(iter(self.servers)))

    def is_larger_than_memory(self, server: Server) -> bool:
        return self.larger_than_memory if server.larger_than_memory is None else server.larger_than_memory

    def claims_of(self, dbms: str, version: str) -> list[str]:
        """Ids of those with a figure that needs this build, with whatever config; `version` as targets have it: `apt/17.12`."""
        here = {name: build.stands for name, build in self.builds.items() if build.here}
        names = {name for name, stands in here.items() if stands.fits(dbms, version.rpartition("/")[2], stands.configs)}
        return [claim.id for claim in self.claims if any({one.new, one.old} & names for one in claim.figures)]

    def version_of(self, build: str) -> str:
        """The post's own, as far as the file tells; empty where it does not."""
        named = _VERSION.search(build)
        return self.builds[build].version or (named[0] if named else "")


def _figure_words(figure: Figure) -> str:
    printed = " ".join(f"{value:.{figure.decimals}f}" for value in figure.ratios)
    origin = ", ".join(filter(None, (figure.server, figure.of)))
    return f"{figure.metric.replace('_', ' ')} {figure.new} ÷ {figure.old} {printed}{f' ({origin})' if origin else ''}"
