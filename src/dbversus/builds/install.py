"""Fetching one build into its folder: download, check, unpack, arrange, inspect; the manifest is written last."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from dbversus.builds.catalog import CatalogEntry, Layout
from dbversus.builds.client import Fetched, Progress
from dbversus.builds.digests import check_as_first_fetched, check_digest
from dbversus.builds.libraries import bring_along
from dbversus.builds.lock import locked
from dbversus.builds.manifest import Manifest, manifest_of, write_manifest
from dbversus.builds.packages.archive import make_public, unpack, unpack_system
from dbversus.builds.packages.inspect import Inspection, inspect_build, sha256_of
from dbversus.builds.packages.layout import arrange, assemble, find_prefix, use_own_libc
from dbversus.builds.providers import apt, maven, npm, pip
from dbversus.dbms.versions import version_matches
from dbversus.errors import RunError
from dbversus.home import public_dir
from dbversus.host.claims import in_use

Fetch = Callable[[CatalogEntry, Path, Progress], Fetched]

PROVIDERS: dict[str, Fetch] = {"apt": apt.fetch, "maven": maven.fetch, "npm": npm.fetch, "pip": pip.fetch}

PARTIAL = ".partial-"
_ROOT = "root"
_LIBRARIES = "libraries"


def install(entry: CatalogEntry, wanted: str, folder: Path, progress: Progress) -> Manifest:
    """Fetch an entry into a folder beside `folder`, named after the version that came; `wanted` is what was asked for.

    RunError (NotFoundError when the provider has no such package) leaves nothing behind. The caller holds the lock.
    """
    partial = folder.parent / f"{PARTIAL}{folder.name}"
    shutil.rmtree(partial, ignore_errors=True)
    downloads = partial / "downloads"
    downloads.mkdir(parents=True)
    try:
        fetched, package_sha256 = _download(entry, wanted, downloads, progress)
        final = folder.with_name(f"{entry.provider}-{fetched.version}")
        _unpack(entry, fetched, partial, final, progress)
        return _move_in(entry, fetched.version, partial, final, package_sha256)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _download(entry: CatalogEntry, wanted: str, downloads: Path, progress: Progress) -> tuple[Fetched, str]:
    """The archives and, where there is only one, its checksum."""
    in_use.touch(public_dir("cache") / entry.provider)
    with locked(public_dir("cache") / f"{entry.provider}.lock", progress):
        fetched = PROVIDERS[entry.provider](entry, downloads, progress)
        package_sha256 = sha256_of(fetched.archives[0]) if len(fetched.archives) == 1 else ""
        _check_digest(entry, fetched, package_sha256)
    if not version_matches(fetched.version, wanted):
        raise RunError(
            f"{entry.series} has {entry.dbms} {fetched.version} now, not {wanted};"
            f" write {entry.dbms}:{entry.series}/{fetched.version}"
        )
    return fetched, package_sha256


def _check_digest(entry: CatalogEntry, fetched: Fetched, package_sha256: str) -> None:
    """apt has compared its packages with lists that the archive's keys sign, and may hold another revision tomorrow."""
    if entry.digest:
        check_digest(fetched.archives[0], entry.digest)
    elif entry.provider != "apt":
        check_as_first_fetched(entry.package_key, package_sha256)


def _unpack(entry: CatalogEntry, fetched: Fetched, partial: Path, final: Path, progress: Progress) -> None:
    progress(f"unpacking {entry.dbms} {fetched.version}")
    root = partial / _ROOT
    layout = entry.layout
    if fetched.archives[0].suffix == ".deb":
        unpack_system(fetched.archives, root)
    elif layout.parts:
        unpack(fetched.archives[0], partial / "package", skip=layout.skip)
        assemble(partial / "package", layout.parts, root)
    else:
        unpack(fetched.archives[0], root, layout.archive, layout.skip)
    prefix = find_prefix(root, entry.dbms, layout.prefix)
    arrange(prefix, layout)
    if fetched.own_libc:
        use_own_libc(root, final / _ROOT, prefix, layout, progress)
    elif entry.libraries:
        _bring_libraries(entry, partial / _LIBRARIES, progress)
    make_public(root)


def _bring_libraries(entry: CatalogEntry, folder: Path, progress: Progress) -> None:
    """The libraries that the build needs. Without them it may still run: the host can have them; inspection tells."""
    try:
        bring_along(entry.libraries, folder, progress)
    except RunError as error:
        shutil.rmtree(folder, ignore_errors=True)
        progress(f"{' '.join(entry.libraries)} cannot be brought along, so the host must have them: {error}")


def _move_in(entry: CatalogEntry, version: str, partial: Path, final: Path, package_sha256: str) -> Manifest:
    """Put the tree in its place, which it must have to be inspected; without a manifest it is not a build yet."""
    shutil.rmtree(final, ignore_errors=True)
    final.mkdir(mode=0o755)
    try:
        final.chmod(0o755)
        for name in (_ROOT, _LIBRARIES):
            if (partial / name).exists():
                (partial / name).rename(final / name)
        prefix = find_prefix(final / _ROOT, entry.dbms, entry.layout.prefix)
        environment = _environment(entry.layout, prefix, final / _LIBRARIES)
        found = inspect_build(prefix, entry.dbms, environment)
        _check_version(entry, version, found)
        manifest = replace(
            manifest_of(found, prefix, entry.provider, version),
            series=entry.series,
            package=entry.package,
            package_sha256=package_sha256,
            compiled=found.compiled or entry.compiled,
            lacks=entry.lacks,
            environment=environment,
        )
        write_manifest(final, manifest)
    except BaseException:
        shutil.rmtree(final, ignore_errors=True)
        raise
    return manifest


def _environment(layout: Layout, prefix: Path, libraries: Path) -> dict[str, str]:
    """Environment of the server: as the catalog says, and the way to libraries brought along."""
    environment = {name: value.format(prefix=prefix) for name, value in layout.environment.items()}
    if libraries.is_dir():
        folders = [environment.get("LD_LIBRARY_PATH", ""), str(libraries)]
        environment["LD_LIBRARY_PATH"] = ":".join(filter(None, folders))
    return environment


def _check_version(entry: CatalogEntry, version: str, found: Inspection) -> None:
    if found.version != version:
        raise RunError(f"package {entry.package} should hold {entry.dbms} {version}, but holds {found.version}")
