"""Installed builds, in `<home>/builds/<dbms>/<provider>-<version>/`: find, fetch, list, add."""

import contextlib
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from dbversus.builds import catalog
from dbversus.builds.catalog import CatalogEntry, available
from dbversus.builds.client import NotFoundError, Progress, say
from dbversus.builds.digests import check_digest
from dbversus.builds.install import PARTIAL, install
from dbversus.builds.lock import locked, locked_if_free
from dbversus.builds.manifest import Manifest, manifest_of, read_manifest, write_manifest
from dbversus.builds.model import UNSEEN, Build, TargetSpec
from dbversus.builds.packages.archive import make_public, unpack, unpack_system
from dbversus.builds.packages.inspect import detect_dbms, inspect_build, normal_prefix
from dbversus.builds.packages.layout import find_prefix
from dbversus.builds.providers import maven
from dbversus.builds.providers.path import build_always_here, build_at
from dbversus.builds.tools import check_tools, is_ready
from dbversus.dbms.known import find_dbms, server_dbms
from dbversus.dbms.sqlite import SQLITE
from dbversus.dbms.versions import is_version, version_key, version_matches
from dbversus.errors import RunError, UsageError
from dbversus.home import expanded, home_dir, public_dir
from dbversus.host.claims import in_use
from dbversus.host.program import NotExecuted

__all__ = ["add", "available", "list_installed", "obtain", "resolve"]

# Provider of the builds that users add themselves.
LOCAL = "local"
_NAME = re.compile(r"[A-Za-z0-9][\w.+-]*")


def resolve(spec: TargetSpec) -> Build | CatalogEntry:
    """What a target means: a build that is here, or the catalog entry to fetch.

    Order: paths and built-in ones, added builds of that name, the catalog, then any installed build that matches.
    UsageError says what is unknown and what is near; nothing is fetched. One that may not be executed has the version UNSEEN.
    """
    try:
        return _resolve(spec)
    except NotExecuted:
        return Build(spec.dbms, UNSEEN, "path", Path(spec.selector), checksum="")


def _resolve(spec: TargetSpec) -> Build | CatalogEntry:
    if spec.selector in find_dbms(spec.dbms).always_here:
        return build_always_here(spec.dbms, spec.selector)
    if spec.selector.startswith("/"):
        return build_at(Path(spec.selector), spec.dbms)
    added = _added(spec)
    if added:
        return added
    try:
        entry = catalog.select(spec.dbms, spec.selector, is_ready=is_ready)
    except UsageError:
        installed = _newest(_matching(spec))
        if installed is None:
            raise
        return installed.build()
    installed = _installed_entry(entry, _wanted(spec))
    return installed.build() if installed else entry


def obtain(spec: TargetSpec, progress: Progress = say) -> Build:
    """The build of a target, fetched if it is not here; RunError or UsageError as one sentence when that cannot be."""
    found = resolve(spec)
    if isinstance(found, Build):
        if folder := folder_of(found):
            in_use.touch(folder)
        return found
    parent = public_dir("builds", found.dbms)
    for folder in (parent, parent.parent):
        _sweep(folder)
    folder = _folder(found)
    with locked(_lock_file(folder), progress):
        found = resolve(spec)  # another process may have fetched it meanwhile
        if isinstance(found, Build):
            return found
        check_tools(found)
        try:
            return install(found, _wanted(spec), folder, progress).build()
        except NotFoundError as error:
            if found.listed:
                raise
            raise _unknown(found) from error


def check_available(entry: CatalogEntry, progress: Progress = say) -> None:
    """Raises as `obtain` would for a version that no list has and its provider does not know, or without a program it needs."""
    check_tools(entry)
    if entry.listed:
        return
    with locked(public_dir("cache") / f"{entry.provider}.lock", progress):
        try:
            maven.check(entry, progress)
        except NotFoundError as error:
            raise _unknown(entry) from error


def _unknown(entry: CatalogEntry) -> UsageError:
    words = catalog.unknown_version(entry.dbms, entry.version, available(entry.dbms))
    return UsageError(f"{words}; {entry.package} was tried in vain")


def folder_of(build: Build) -> Path | None:
    """The folder in the store that holds a build; None for one that lies elsewhere."""
    builds, prefix = (home_dir() / "builds").resolve(), build.prefix.resolve()
    return builds.joinpath(*prefix.relative_to(builds).parts[:2]) if prefix.is_relative_to(builds) else None


@contextlib.contextmanager
def obtained(spec: TargetSpec, progress: Progress = say) -> Iterator[Build]:
    """As `obtain`; nobody removes the build while this lasts."""
    with contextlib.ExitStack() as stack:
        build = obtain(spec, progress)
        if folder := folder_of(build):
            stack.enter_context(in_use.using(folder))
            build = obtain(spec, progress)  # should it have been removed meanwhile
        yield build


def list_installed(dbms: str = "") -> list[Build]:
    """All installed and added builds, by DBMS, then version."""
    manifests = _manifests(find_dbms(dbms).name if dbms else "*")
    return [
        each.build()
        for each in sorted(manifests, key=lambda each: (each.dbms, version_key(each.version), each.provider))
    ]


def add(path: Path, name: str = "", sha256: str = "", progress: Progress = say) -> Build:
    """Make an installation known under a name (default: its version), to be written `postgres:local/NAME`.

    `path`: an installed prefix or a SQLite library, which stays where it is; or an archive (zip, tar, deb), which is
    unpacked into the store after its `sha256` was checked, where one is given.
    """
    if name and not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} cannot be a build's name; use letters, digits and . _ + -")
    path = expanded(path)
    if not path.exists():
        raise UsageError(f"{path} does not exist")
    if sha256 and not path.is_file():
        raise UsageError(f"{path} is a folder; a checksum can be given for an archive only")
    if sha256:
        check_digest(path, sha256)
    if path.is_dir() or _is_library(path):
        return _register(normal_prefix(path), detect_dbms(path).name, name)
    return _add_archive(path, name, progress)


def _register(prefix: Path, dbms: str, name: str) -> Build:
    """Write a manifest for an installation outside of the store."""
    manifest = manifest_of(inspect_build(prefix, dbms), prefix, LOCAL, name)
    folder = _new_folder(dbms, name or manifest.version)
    write_manifest(folder, replace(manifest, name=name or manifest.version))
    return manifest.build()


def _add_archive(archive: Path, name: str, progress: Progress) -> Build:
    progress(f"unpacking {archive.name}")
    partial = public_dir("builds") / f"{PARTIAL}{archive.name}"
    with locked(_lock_file(partial), progress):
        shutil.rmtree(partial, ignore_errors=True)
        try:
            if archive.suffix == ".deb":
                unpack_system((archive,), partial)
            else:
                unpack(archive, partial)
            make_public(partial)
            dbms, prefix = _find_installation(partial, archive.name)
            inside = prefix.relative_to(partial.resolve())
            version = inspect_build(prefix, dbms).version
            folder = _new_folder(dbms, name or version)
            partial.rename(folder / "root")
            prefix = folder / "root" / inside
            manifest = replace(
                manifest_of(inspect_build(prefix, dbms), prefix, LOCAL, name or version), package=archive.name
            )
            write_manifest(folder, manifest)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return manifest.build()


def _find_installation(root: Path, archive: str) -> tuple[str, Path]:
    for dbms in server_dbms():
        if any(True for binary in dbms.binaries for _ in root.rglob(binary)):
            prefix = find_prefix(root, dbms.name)
            return detect_dbms(prefix).name, prefix
    libraries = sorted({path.resolve() for path in root.rglob(f"{SQLITE.library}*") if path.is_file()})
    if len(libraries) == 1 and libraries[0].is_relative_to(root.resolve()):
        return SQLITE.name, libraries[0]
    looked_for = ", ".join(binary for dbms in server_dbms() for binary in dbms.binaries)
    raise UsageError(f"{archive} holds no installation of a known DBMS; looked for {looked_for} and {SQLITE.library}")


def _is_library(path: Path) -> bool:
    return path.is_file() and ".so" in path.suffixes


def _new_folder(dbms: str, name: str) -> Path:
    folder = home_dir() / "builds" / dbms / f"{LOCAL}-{name}"
    if read_manifest(folder):
        raise UsageError(
            f"there is already a build {dbms}:{LOCAL}/{name}; choose another name, or remove {folder} first"
        )
    shutil.rmtree(folder, ignore_errors=True)
    return public_dir("builds", dbms, folder.name)


def _added(spec: TargetSpec) -> Build | None:
    """An added build called as the selector says. It is looked at anew: its owner may have rebuilt it."""
    provider, _, name = spec.selector.rpartition("/")
    if provider not in ("", LOCAL):
        return None
    manifest = read_manifest(home_dir() / "builds" / spec.dbms / f"{LOCAL}-{name}")
    if manifest is None:
        if provider == LOCAL:
            known = sorted(each.name for each in _manifests(spec.dbms) if each.provider == LOCAL)
            raise UsageError(f"no added build {name!r} of {spec.dbms}; added are: {', '.join(known) or 'none'}")
        return None
    # A plain version means the catalog's, whatever has been added.
    if not provider and is_version(name):
        return None
    if not Path(manifest.prefix).exists():
        raise RunError(f"added build {spec.dbms}:{LOCAL}/{name} is gone from {manifest.prefix}; add it again")
    return replace(build_at(Path(manifest.prefix), spec.dbms), provider=LOCAL)


def _installed_entry(entry: CatalogEntry, wanted: str) -> Manifest | None:
    """The entry as installed; of a moving suite, the newest that was ever fetched and is what was asked for."""
    if not entry.moving:
        manifest = read_manifest(_folder(entry))
        return manifest if manifest and manifest.is_intact() else None
    same_series = [each for each in _manifests(entry.dbms) if each.series == entry.series]
    return _newest([each for each in same_series if version_matches(each.version, wanted)])


def _matching(spec: TargetSpec) -> list[Manifest]:
    """Installed builds that a selector could mean, whatever the catalog says."""
    provider = spec.selector.rpartition("/")[0]
    wanted = _wanted(spec)
    if not is_version(wanted):
        return []
    found = [each for each in _manifests(spec.dbms) if provider in ("", each.provider, each.series)]
    return [each for each in found if version_matches(each.version, wanted)]


def _newest(manifests: list[Manifest]) -> Manifest | None:
    return max(
        (each for each in manifests if each.is_intact()), key=lambda each: version_key(each.version), default=None
    )


def _manifests(dbms: str) -> list[Manifest]:
    found = (read_manifest(folder) for folder in sorted((home_dir() / "builds").glob(f"{dbms}/*")))
    return [manifest for manifest in found if manifest]


def _wanted(spec: TargetSpec) -> str:
    return spec.selector.rpartition("/")[2]


def _folder(entry: CatalogEntry) -> Path:
    return home_dir() / "builds" / entry.dbms / f"{entry.provider}-{entry.version}"


def _lock_file(folder: Path) -> Path:
    return folder.with_name(f".{folder.name.removeprefix(PARTIAL)}.lock")


def _sweep(parent: Path) -> None:
    """Remove what processes that were killed left half done, unless one is still at it."""
    for partial in parent.glob(f"{PARTIAL}*"):
        with locked_if_free(_lock_file(partial)) as free:
            if free:
                shutil.rmtree(partial, ignore_errors=True)
