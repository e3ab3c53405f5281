"""Targets made by crossing builds with configs: `[[matrix]]` of an experiment file (docs/experiments.md)."""

import itertools
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

from pydantic import Field

from dbversus.builds.store import LOCAL, available, list_installed, resolve
from dbversus.builds.target import parse_target, split_name
from dbversus.dbms.known import find_dbms
from dbversus.dbms.versions import is_version, version_key
from dbversus.errors import UsageError
from dbversus.names import did_you_mean, split_names
from dbversus.servers.config.load import available_configs, check_names
from dbversus.suites.file.generators import Shape
from dbversus.suites.file.reading import check_shape
from dbversus.suites.file.shape import DBMS_NAMES
from dbversus.suites.file.source import Place, Source

_WILD = frozenset("*?[")
_NOTHING_LEFT = "Nothing is left: every target is excluded."


class MatrixTable(Shape):
    """One `[[matrix]]`: every build with every combination of one item from each list of `configs`."""

    builds: list[str] = Field(default_factory=list)
    dbms: list[str] = Field(default_factory=list)
    configs: list[Annotated[list[str], Field(min_length=1)]] = Field(default_factory=list)
    optional: list[str] = Field(default_factory=list)
    exclude: list[str] = Field(default_factory=list)
    include: list[str] = Field(default_factory=list)


class UnknownBuilds(UsageError):
    """`why`: build, as --exclude takes it, → why it cannot be had. `has_others`: whether any is left without them."""

    def __init__(self, why: Mapping[str, str], *, has_others: bool) -> None:
        self.builds = tuple(why)
        left_out = " ".join(f"--exclude {shlex.quote(build)}" for build in why)
        rest = [f"{left_out} measures the rest"] if has_others else []
        super().__init__("; ".join([*dict.fromkeys(why.values()), *rest]))


@dataclass(frozen=True, eq=False)
class Part:
    """A `[[matrix]]` and where it stands."""

    table: MatrixTable
    place: Place


def read_matrix(source: Source) -> list[Part]:
    """The matrices of an experiment file, which has `[matrix]` or `[[matrix]]`; raises UsageError with file and line."""
    found, root = source.document["matrix"], Place(source).at("matrix")
    if not isinstance(found, dict | list) or found == []:
        raise root.mistake(f"matrix is {found!r}; it has to be a table with `builds` and `configs`, or a list of them.")
    places = [(found, root)] if isinstance(found, dict) else [(one, root.at(n)) for n, one in enumerate(found)]
    parts = [Part(check_shape(MatrixTable, one, place), place) for one, place in places]
    for part in parts:
        _check_part(part)
    return parts


def _check_part(part: Part) -> None:
    for index, name in enumerate(part.table.dbms):
        if name not in DBMS_NAMES:
            words = f"unknown DBMS '{name}'.{did_you_mean(name, DBMS_NAMES)} Accepted: {', '.join(DBMS_NAMES)}."
            raise part.place.at("dbms", index).mistake(words)
    items = list(dict.fromkeys(itertools.chain.from_iterable(part.table.configs)))
    for index, item in enumerate(part.table.optional):
        if item not in items:
            raise part.place.at("optional", index).mistake(
                f"'{item}' is in no list of `configs`.{did_you_mean(item, items)} Accepted: {', '.join(items) or '(none)'}."
            )


def expand(
    parts: Sequence[Part], builds: Sequence[str] = (), exclude: Sequence[str] = (), config_dir: Path | None = None
) -> list[str]:
    """All targets, the base first, as the user would write them.

    `builds` replace those of the file; each goes to the parts for its DBMS. `exclude`: further patterns. Order: builds as
    given, then configs with the first list varying slowest. Raises UsageError for a build or config that does not exist,
    a pattern that matches nothing, a target that is there twice, and when nothing is left.
    """
    assigned = list(_assigned(parts, builds))
    of_builds = [pattern for pattern in exclude if _is_of_builds(pattern, assigned)]
    pairs = [pair for pair in assigned if not _matches_any(of_builds, pair[1])]
    check_builds(build for _, build in pairs)
    crossed = [(part, build, _product(part, build, config_dir)) for part, build in pairs]
    _check_excludes(crossed)
    targets: list[str] = []
    for part, build, product in crossed:
        targets += [target for target in product if not _matches_any(part.table.exclude, target)]
        targets += [_target(build, item[1:]) for item in part.table.include if item.startswith("@")]
    used = dict.fromkeys(part for part, _ in pairs)
    targets += [item for part in used for item in part.table.include if not item.startswith("@")]
    targets = [target for target in targets if not _matches_any(of_builds, target)]
    targets = without(targets, [pattern for pattern in exclude if pattern not in of_builds])
    _check_targets(targets)
    return targets


def _assigned(parts: Sequence[Part], builds: Sequence[str]) -> Iterator[tuple[Part, str]]:
    """Which builds are crossed with the configs of which part."""
    if not builds:
        for part in parts:
            yield from ((part, build) for build in _own_builds(part))
    for text in builds:
        for build in _all_versions(text):
            dbms = parse_target(build).dbms
            fitting = [part for part in parts if not part.table.dbms or dbms in part.table.dbms]
            if not fitting:
                accepted = ", ".join(dict.fromkeys(name for part in parts for name in part.table.dbms))
                raise UsageError(f"{build}: this matrix has no configs for {dbms}; it has some for {accepted}.")
            yield from ((part, build) for part in fitting)


def _own_builds(part: Part) -> list[str]:
    if not part.table.builds:
        of = f" of {', '.join(part.table.dbms)}" if part.table.dbms else ""
        raise part.place.mistake(
            f"no builds{of} are named; give them with --builds, or write `builds = […]` (docs/experiments.md)."
        )
    place = part.place.at("builds")
    return [build for text in part.table.builds for build in _told_at(place, text)]


def _told_at(place: Place, text: str) -> list[str]:
    try:
        return _all_versions(text)
    except UsageError as error:
        raise place.mistake(str(error)) from None


def _all_versions(build: str) -> list[str]:
    """`mysql:5.*`, or `mysql` for all: builds that can be had or are installed, oldest first. Any other stands for itself."""
    given, target = split_name(build)
    text, at, configs = target.partition("@")
    name, colon, pattern = text.partition(":")
    if text.startswith(("/", ".", "~")) or (colon and not _WILD & set(pattern)):
        return [build]
    if given:
        raise UsageError(
            f"'{build}' gives one name to several builds; name each version by itself: {given}={name}:VERSION."
        )
    dbms = find_dbms(name).name
    installed = [each.version for each in list_installed(dbms) if each.provider != LOCAL]
    known = {version for version in [*(entry.version for entry in available(dbms)), *installed] if is_version(version)}
    ordered = sorted(known, key=version_key)
    found = [version for version in ordered if fnmatchcase(version, pattern or "*")]
    if not found:
        raise UsageError(f"no build of {dbms} matches '{build}'; there are {', '.join(ordered) or 'none'}.")
    return [f"{dbms}:{version}{at}{configs}" for version in found]


def _product(part: Part, build: str, config_dir: Path | None) -> list[str]:
    """The build with every combination of configs, excluded ones too."""
    spec = parse_target(build)
    known = _Configs(spec.dbms, resolve(spec).version, config_dir)
    for index, item in enumerate(part.table.include):
        if item.startswith("@"):
            known.check(item[1:], part.place.at("include", index))
    lists = [list(_offered(part, number, known)) for number in range(len(part.table.configs))]
    return [_target(build, ",".join(filter(None, items))) for items in itertools.product(*lists)]


@dataclass(frozen=True)
class _Configs:
    """The configs that there are for a build."""

    dbms: str
    version: str
    config_dir: Path | None

    def check(self, item: str, place: Place) -> None:
        """Raises UsageError for a config that does not exist for this DBMS and version."""
        try:
            check_names(self.dbms, self.version, split_names(item), self.config_dir)
        except UsageError as error:
            raise place.mistake(str(error)) from None

    def only_of_other_versions(self, item: str) -> bool:
        """Whether all of it exists for this DBMS, but not for this version."""
        files = available_configs(self.dbms, self.config_dir)
        named = [name for name in split_names(item) if "=" not in name]
        return all(name in files for name in named) and not all(files[name].applies(self.version) for name in named)


def _offered(part: Part, number: int, known: _Configs) -> Iterator[str]:
    """The items of one list of configs, without the optional ones that say nothing for this version."""
    for index, item in enumerate(part.table.configs[number]):
        if item in part.table.optional and known.only_of_other_versions(item):
            continue
        known.check(item, part.place.at("configs", number, index))
        yield item


def _target(build: str, configs: str) -> str:
    if not configs:
        return build
    return f"{build}{',' if parse_target(build).configs else '@'}{configs}"


def _check_excludes(crossed: Sequence[tuple[Part, str, Sequence[str]]]) -> None:
    """A pattern that matches nothing is a mistake: whoever wrote it believes that something is left out."""
    for part in dict.fromkeys(part for part, _, _ in crossed):
        targets = [target for other, _, product in crossed if other is part for target in product]
        for index, pattern in enumerate(part.table.exclude):
            if not any(_matches(pattern, target) for target in targets):
                raise part.place.at("exclude", index).mistake(_matches_nothing(pattern, targets))


def check_builds(targets: Iterable[str]) -> None:
    """Raises UnknownBuilds where the build of any target cannot be had."""
    unknown: dict[str, str] = {}
    specs = {f"{spec.dbms}:{spec.selector}": spec for spec in map(parse_target, targets)}
    for build, spec in specs.items():
        try:
            resolve(spec)
        except UsageError as error:
            unknown[build] = str(error)
    if unknown:
        raise UnknownBuilds(unknown, has_others=len(unknown) < len(specs))


def without(targets: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """The targets that no pattern of --exclude matches; UsageError for one that matches nothing."""
    targets = list(targets)
    for pattern in patterns:
        kept = [target for target in targets if not _matches(pattern, target)]
        if len(kept) == len(targets):
            raise UsageError(f"--exclude: {_matches_nothing(pattern, targets)}")
        targets = kept
    if not targets:
        raise UsageError(_NOTHING_LEFT)
    return targets


def _is_of_builds(pattern: str, assigned: Sequence[tuple[Part, str]]) -> bool:
    """Whether it leaves out whole builds, which then need not be there."""
    return "@" not in pattern and any(_matches(pattern, build) for _, build in assigned)


def _matches_nothing(pattern: str, targets: Sequence[str]) -> str:
    some = ", ".join(targets[:6]) + (", …" if len(targets) > 6 else "")
    return f"'{pattern}' matches no target; there are {some or 'none'}. Accepted: '@config', 'build' or 'build@config'."


def _matches_any(patterns: Iterable[str], target: str) -> bool:
    return any(_matches(pattern, target) for pattern in patterns)


def _matches(pattern: str, target: str) -> bool:
    """`@a,b`: has both configs; `mysql:5.*`, `mysql:5.*@a`: is of such a build (and has the config)."""
    build, _, configs = pattern.partition("@")
    spec = parse_target(target)
    wanted = split_names(configs)
    if not build and not wanted:
        return False
    same_build = not build or fnmatchcase(f"{spec.dbms}:{spec.selector}", build) or fnmatchcase(spec.name, build)
    return same_build and all(any(fnmatchcase(item, one) for item in spec.configs) for one in wanted)


def _check_targets(targets: Sequence[str]) -> None:
    if not targets:
        raise UsageError(_NOTHING_LEFT)
    seen: set[tuple[str, str, tuple[str, ...]]] = set()
    for target in targets:
        spec = parse_target(target)
        key = (spec.dbms, spec.selector, spec.configs)
        if key in seen:
            raise UsageError(f"The matrix comes to {target} twice; name each build and combination of configs once.")
        seen.add(key)
