"""Shared libraries from Debian's packages, kept in the store and never installed into the system.

Some are brought along with a build whose maker counts on the host to have them; some are memory allocators for configs.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

from dbversus.builds.client import Progress, say
from dbversus.builds.elf import host_machine
from dbversus.builds.lock import locked
from dbversus.builds.packages.archive import make_public, unpack_system
from dbversus.builds.providers import apt
from dbversus.errors import RunError, UsageError
from dbversus.home import public_dir
from dbversus.host.claims import in_use

# Old enough for the C library of today's hosts, new enough to be on the mirrors for years.
_SUITE = "bookworm"
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
# Name for configs -> package and file in it.
_ALLOCATORS = {
    "jemalloc": ("libjemalloc2", "libjemalloc.so.2"),
    "tcmalloc": ("libtcmalloc-minimal4", "libtcmalloc_minimal.so.4"),
    "mimalloc": ("libmimalloc2.0", "libmimalloc.so.2.0"),
}


def library_path(name: str, progress: Progress = say) -> Path:
    """The shared library of a memory allocator (`jemalloc`, `tcmalloc`, `mimalloc`), for LD_PRELOAD; fetched once."""
    package, file = _allocator(name)
    folder = _package_folder(package, progress)
    in_use.touch(folder)
    path = folder / file
    if not path.is_file():
        raise RunError(f"package {package} of {_SUITE} holds no {file}")
    return path


def fetched_library(name: str) -> Path | None:
    """As `library_path`, but None where it is still to be fetched."""
    package, file = _allocator(name)
    path = public_dir("libraries") / package / file
    return path if path.is_file() else None


def _allocator(name: str) -> tuple[str, str]:
    """Its package and file."""
    if name not in _ALLOCATORS:
        raise UsageError(f"no library {name!r} can be had; those that can are {', '.join(_ALLOCATORS)}")
    return _ALLOCATORS[name]


def bring_along(packages: Sequence[str], folder: Path, progress: Progress) -> None:
    """Put the shared libraries of these packages into a new folder, without what they depend on themselves."""
    folder.mkdir()
    for package in packages:
        shutil.copytree(_package_folder(package, progress), folder, symlinks=True, dirs_exist_ok=True)


def _package_folder(package: str, progress: Progress) -> Path:
    """The folder in the store with the shared libraries of a package, side by side."""
    parent = public_dir("libraries")
    folder = parent / package
    if not folder.is_dir():
        with locked(parent / f".{package}.lock", progress):
            if not folder.is_dir():
                _fetch(package, folder, progress)
    return folder


def _fetch(package: str, folder: Path, progress: Progress) -> None:
    partial = folder.with_name(f".partial-{package}")
    shutil.rmtree(partial, ignore_errors=True)
    wanted = partial / "libraries"
    wanted.mkdir(parents=True)
    try:
        in_use.touch(public_dir("cache") / "apt")
        with locked(public_dir("cache") / "apt.lock", progress):
            archives = apt.download([package], _SUITE, _architecture(), partial / "packages", progress)
        unpack_system(archives, partial / "root")
        for library in sorted((partial / "root").glob("usr/lib/*/lib*.so*")):
            shutil.move(library, wanted / library.name)
        if not any(wanted.iterdir()):
            raise RunError(f"package {package} of {_SUITE} holds no shared libraries")
        make_public(wanted)
        wanted.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _architecture() -> str:
    """Debian's word for this host's architecture."""
    machine = host_machine()
    return _ARCHITECTURES.get(machine, machine)
