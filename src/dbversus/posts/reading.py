"""Files of claims are read and checked: against their own tables, the suite of the post's experiment, and what dbversus knows."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dbversus.dbms.known import KNOWN
from dbversus.dbms.versions import is_version
from dbversus.errors import UsageError
from dbversus.home import shipped
from dbversus.names import did_you_mean
from dbversus.posts.claims import Build, ClaimsFile, Figure, Post
from dbversus.stats.metrics import LOAD_TEST
from dbversus.suites.file.reading import read_shape
from dbversus.suites.file.source import Place, read_source
from dbversus.suites.load import load_suite

_SCALED = "scaled"


def list_posts() -> list[str]:
    """Names of all posts that have claims."""
    return sorted(_files())


@cache
def load_post(name: str) -> Post:
    """Raises UsageError for an unknown one, and for a mistake in its file with the line."""
    files = _files()
    if name not in files:
        raise UsageError(
            f"There are no claims of a post '{name}'.{did_you_mean(name, files)} Accepted: {', '.join(sorted(files))}."
        )
    return read_post(files[name])


def read_post(path: Path) -> Post:
    """A file of claims; the experiment of the post is in the folder above. Raises UsageError with file and line."""
    source = read_source(path)
    found = read_shape(ClaimsFile, source)
    place = Place(source)
    if found.post != path.stem:
        raise place.at("post").mistake(f"post is '{found.post}'; the file's name says '{path.stem}'.")
    for name, build in found.builds.items():
        _check_build(build, place.at("builds", name), name)
    tests = _Tests.of_experiment(path.parents[1] / path.name, place.at("post"))
    for name, server in found.servers.items():
        _check_experiment(server.experiment, path, place.at("servers", name))
    for at, figure in _figures(found, place):
        _check_figure(figure, found, tests, at)
        _check_experiment(figure.experiment, path, at)
    return Post(found.post, found.title, found.larger_than_memory, found.servers, found.builds, tuple(found.claims))


def _files() -> dict[str, Path]:
    return {path.stem: path for place in reversed(shipped("experiments")) for path in place.glob("posts/claims/*.toml")}


@dataclass(frozen=True)
class _Tests:
    """Those that the experiment of a post can have: of its suite, or else of one with the variants that it names."""

    experiment: Path
    suite: str
    variants: tuple[tuple[str, ...], ...]

    @classmethod
    def of_experiment(cls, path: Path, place: Place) -> "_Tests":
        if not path.is_file():
            raise place.mistake(f"{path}, the experiment of the post, is not there.")
        asked = read_source(path).document
        variants = (tuple(each.get("variants", ())) for each in (asked, asked.get(_SCALED, {})))
        return cls(path, asked["suite"], ((), *variants))

    def check(self, glob: str, place: Place) -> None:
        # a suite takes a second where it has many tests: those of variants are looked at only where the plain one has none
        if glob == LOAD_TEST or any(load_suite(self.suite, each).finds(glob) for each in self.variants):
            return
        known = list(dict.fromkeys((LOAD_TEST, *load_suite(self.suite).sequence)))
        raise place.mistake(
            f"unknown test '{glob}'.{did_you_mean(glob, known)} Accepted: {LOAD_TEST}, and names and globs of tests of suite "
            f"{self.suite}, which {self.experiment.name} uses."
        )


def _figures(found: ClaimsFile, place: Place) -> Iterator[tuple[Place, Figure]]:
    for number, claim in enumerate(found.claims):
        if claim.id in [other.id for other in found.claims[:number]]:
            raise place.at("claims", number, "id").mistake(
                f"two claims are called {claim.id}; each needs an id of its own."
            )
        if not (claim.figures or claim.lacking or claim.look):
            raise place.at("claims", number).mistake(
                f"claim {claim.id} has no `figures`; without them it needs `look` or `lacking`."
            )
        for of_claim, figure in enumerate(claim.figures):
            yield place.at("claims", number, "figures", of_claim), figure


def _check_figure(figure: Figure, found: ClaimsFile, tests: _Tests, place: Place) -> None:
    for key, build in (("new", figure.new), ("old", figure.old)):
        _check_known(build, found.builds, "build", "those of [builds]", place.at(key))
    if figure.server:
        _check_known(figure.server, found.servers, "server", "those of [servers]", place.at("server"))
    for number, glob in enumerate(figure.tests):
        tests.check(glob, place.at("tests", number))
    if not (figure.published or figure.says):
        raise place.mistake("the figure has neither `published` nor `says`; it needs one of them.")
    wanted = figure.count
    if figure.published and len(figure.published) != wanted:
        counts = f"{len(figure.published)} for {wanted}"
        raise place.at("published").mistake(f"published has another number of values than there are tests: {counts}.")


def _check_experiment(name: str, path: Path, place: Place) -> None:
    """One beside the post's own: its name begins with the post's, by which its results are known."""
    beside = [file.stem for file in path.parents[1].glob(f"{path.stem}-*.toml")]
    if name and name not in beside:
        raise place.at("experiment").mistake(
            f"unknown experiment '{name}'.{did_you_mean(name, beside)} Accepted: {', '.join(beside) or 'none'} "
            f"(files experiments/posts/{path.stem}-….toml)."
        )


def _check_known(name: str, known: Collection[str], what: str, accepted: str, place: Place) -> None:
    if name not in known:
        raise place.mistake(
            f"unknown {what} '{name}'.{did_you_mean(name, known)} Accepted: {accepted}, {', '.join(known)}."
        )


def _check_build(build: Build, place: Place, name: str) -> None:
    if bool(build.here) == bool(build.lacking):
        raise place.mistake(
            f"build '{name}' needs one of `here` (what stands for it) and `lacking` (why nothing does)."
        )
    stands = build.stands
    if stands.dbms and stands.dbms not in (known := [dbms.name for dbms in KNOWN]):
        raise place.mistake(
            f"unknown DBMS '{stands.dbms}' in '{build.here}'.{did_you_mean(stands.dbms, known)} Accepted: {', '.join(known)}."
        )
    if stands.version and not is_version(stands.version):
        raise place.mistake(f"'{stands.version}' in '{build.here}' is no version; e.g. 8.0 or 8.0.33.")
    configs = _configs(stands.dbms)
    for config in sorted(one for one in stands.configs - configs if "=" not in one):
        raise place.mistake(
            f"unknown config '{config}' in '{build.here}'.{did_you_mean(config, configs)} Accepted: names of files in configs/."
        )


@cache
def _configs(dbms: str) -> frozenset[str]:
    """Names of the configs that come with dbversus, of one DBMS or of any."""
    return frozenset(path.stem for place in shipped("configs") for path in place.glob(f"{dbms or '*'}/*.conf"))
