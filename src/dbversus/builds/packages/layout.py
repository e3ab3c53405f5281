"""From an unpacked package to an installation: its pieces, where it lies, links, modes, and its own C library."""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from dbversus.builds.catalog import Layout
from dbversus.builds.client import Progress, find_client, run_client
from dbversus.builds.elf import read_elf
from dbversus.builds.packages.archive import unpack
from dbversus.dbms.known import find_dbms
from dbversus.errors import RunError

_ARCHIVES = (".jar", ".zip", ".gz", ".xz", ".tgz", ".txz")


def find_prefix(root: Path, dbms: str, pattern: str = "") -> Path:
    """The installation in an unpacked tree: where `pattern` says, else where the server's binary is found."""
    if pattern:
        found = sorted(root.glob(pattern))
        what = pattern
    else:
        binaries = find_dbms(dbms).binaries
        programs = (path for binary in binaries for path in root.rglob(binary) if path.is_file())
        # `sbin` of a system root is a link to `usr/sbin`: both are one place.
        found = sorted({program.parent.resolve().parent for program in programs})
        what = " or ".join(binaries)
    if len(found) != 1:
        raise RunError(f"the package holds {len(found)} places {what} where one was expected")
    prefix = found[0].resolve()
    if not prefix.is_relative_to(root.resolve()):
        raise RunError(f"the package's {what} points outside of it")
    return prefix


def assemble(package: Path, parts: Mapping[str, str], root: Path) -> None:
    """Make an installation of the pieces of an unpacked package: `parts` as in the catalog's `layout.parts`."""
    for pattern, place in parts.items():
        found = sorted(package.glob(pattern))
        if len(found) != 1:
            raise RunError(f"the package holds {len(found)} places {pattern} where one was expected")
        target = root / place
        if found[0].suffix in _ARCHIVES:
            unpack(found[0], target)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(found[0], target)


def arrange(prefix: Path, layout: Layout) -> None:
    """Make the links and the modes that the archive could not hold."""
    if layout.symlinks:
        make_symlinks(prefix, prefix / layout.symlinks)
    for pattern in layout.executables:
        for path in prefix.glob(pattern):
            if path.is_file():
                path.chmod(0o755)


def make_symlinks(prefix: Path, listing: Path) -> None:
    """Make the links of a JSON list of {source, target}, relative to the folder above the prefix; never outside it."""
    base = prefix.parent
    for link in json.loads(listing.read_text(encoding="utf-8")):
        source, target = (Path(os.path.normpath(base / link[key])) for key in ("source", "target"))
        if not source.is_relative_to(prefix) or not target.is_relative_to(prefix):
            raise RunError(f"the package's link {link['target']} points outside of its folder; refused")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        target.symlink_to(os.path.relpath(source, target.parent))


def use_own_libc(root: Path, final_root: Path, prefix: Path, layout: Layout, progress: Progress) -> None:
    """Tie the programs of a system root to the loader and libraries in it.

    They start one another (initdb, pg_ctl): a wrapper around one would not do. `final_root`: where the root will lie.
    """
    client = find_client("patchelf")
    programs = [path for pattern in layout.executables for path in prefix.glob(pattern) if _interpreter(path)]
    if not programs:
        raise RunError(f"no programs found in {prefix} to tie to their own C library")
    interpreter = _interpreter(programs[0]) or ""
    loader = (root / interpreter.lstrip("/")).resolve()
    if not loader.is_file():
        raise RunError(f"the packages do not hold the loader {interpreter} that their programs need")
    final_loader = final_root / loader.relative_to(root.resolve())
    libraries = ":".join(
        str(final_root / folder.relative_to(root)) for folder in sorted(root.glob("usr/lib/*-linux-gnu*"))
    )
    options = ["--force-rpath", "--set-interpreter", str(final_loader), "--set-rpath", libraries]
    run_client([client, *options, *(str(program) for program in programs)], progress)


def _interpreter(path: Path) -> str | None:
    if path.is_symlink() or not path.is_file():
        return None
    elf = read_elf(path)
    return elf.interpreter if elf else None
