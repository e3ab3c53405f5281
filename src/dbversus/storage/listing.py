"""All that can be removed from the home, with size and time of the last use.

Installations that users added as they are, results and calibrations are none of it.
"""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from dbversus.builds.install import PARTIAL
from dbversus.builds.manifest import MANIFEST, Manifest, read_manifest
from dbversus.builds.store import LOCAL
from dbversus.home import home_dir
from dbversus.host import processes
from dbversus.host.claims import in_use, registry
from dbversus.servers.data.disk_use import used_bytes
from dbversus.suites.data.file import HASHES

# a build has no manifest yet while it is being put in its place
_UNFINISHED_AGE_S = 86400
_KEY_LETTERS = 12


class Kind(StrEnum):
    """What is kept. `data`: what was made of users' data files; `leftover`: of processes that were killed."""

    BUILD = "build"
    SNAPSHOT = "snapshot"
    LIBRARY = "library"
    DOWNLOAD = "download"
    DATA = "data"
    LEFTOVER = "leftover"


def plural(kind: Kind) -> str:
    return {Kind.LIBRARY: "libraries", Kind.DATA: "data"}.get(kind, f"{kind}s")


@dataclass(frozen=True)
class Kept:
    """One thing that can be removed. `aliases`: other names for it; `added`: by the user, so it cannot be fetched again."""

    kind: Kind
    name: str
    path: Path
    size_bytes: int
    used_unix_s: float
    about: str = ""
    user: str = ""
    aliases: tuple[str, ...] = ()
    added: bool = False

    def unused_s(self) -> float:
        return max(0.0, time.time() - self.used_unix_s)


def list_kept(home: Path | None = None) -> list[Kept]:
    """Everything, by kind, what takes most room first."""
    home = home or home_dir()
    found = [*_builds(home), *_snapshots(home), *_libraries(home), *_downloads(home), *_data(home), *_leftovers(home)]
    return sorted(found, key=lambda one: (list(Kind).index(one.kind), -one.size_bytes, one.name))


def summary(kept: Sequence[Kept]) -> dict[str, dict[str, int]]:
    """Number and bytes of each kind that there is and that nobody uses."""
    free = [one for one in kept if not one.user]
    return {
        plural(kind): {"count": len(sizes), "bytes": sum(sizes)}
        for kind in Kind
        if (sizes := [one.size_bytes for one in free if one.kind is kind])
    }


def own_installations(home: Path | None = None) -> dict[str, Path]:
    """Builds that are only known to the store and lie elsewhere, by name: nothing here removes them."""
    folders = _build_folders(home or home_dir())
    return {_build_name(one): Path(one.prefix) for folder, one in folders if not _is_inside(one, folder)}


def _builds(home: Path) -> Iterator[Kept]:
    for folder, manifest in _build_folders(home):
        if _is_inside(manifest, folder):
            yield Kept(
                Kind.BUILD,
                _build_name(manifest),
                folder,
                used_bytes(folder),
                in_use.last_used_unix_s(folder),
                "added by you" if manifest.provider == LOCAL else manifest.package,
                in_use.user_of(folder) or _runs_from(folder),
                (f"{manifest.dbms}:{manifest.version}", f"{manifest.dbms}:{manifest.series}/{manifest.version}"),
                manifest.provider == LOCAL,
            )


def _build_folders(home: Path) -> list[tuple[Path, Manifest]]:
    every = ((folder, read_manifest(folder)) for folder in sorted((home / "builds").glob("*/*")))
    return [(folder, manifest) for folder, manifest in every if manifest]


def _is_inside(manifest: Manifest, folder: Path) -> bool:
    return Path(manifest.prefix).resolve().is_relative_to(folder.resolve())


def _build_name(manifest: Manifest) -> str:
    return f"{manifest.dbms}:{manifest.provider}/{manifest.name or manifest.version}"


def _runs_from(folder: Path) -> str:
    """A process that executes a program in a folder, which need not be one of ours."""
    inside = f"{folder.resolve()}/"
    found = next((pid for pid in processes.all_pids() if processes.program_of(pid).startswith(inside)), None)
    return f"process {found}" if found else ""


def _snapshots(home: Path) -> Iterator[Kept]:
    builds = {manifest.checksum: _build_name(manifest) for _, manifest in _build_folders(home)}
    for file in sorted((home / "snapshots").glob("*/key.json")):
        folder = file.parent
        yield Kept(
            Kind.SNAPSHOT,
            folder.name[:_KEY_LETTERS],
            folder,
            used_bytes(folder),
            in_use.last_used_unix_s(folder),
            _snapshot_words(_read_json(file), builds),
            in_use.user_of(folder),
            (folder.name,),
        )


def _snapshot_words(key: Mapping[str, Any], builds: Mapping[str, str]) -> str:
    """Whose data it is, and how much: as far as the key tells, whose form may be an older one."""
    words = [builds.get(str(key.get("build")), str(key.get("dbms", "unknown")))]
    tables = key.get("tables")
    if isinstance(tables, list) and tables and isinstance(tables[0], dict) and "rows" in tables[0]:
        words.append(f"{len(tables)} table{'s' if len(tables) > 1 else ''} of {tables[0]['rows']:,} rows")
    if scripts := key.get("scripts"):
        words.append(f"{len(scripts)} script{'s' if len(scripts) > 1 else ''}")
    return ", ".join(words)


def _read_json(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _libraries(home: Path) -> Iterator[Kept]:
    """Memory allocators, and what builds that are still to come may bring along; builds that are here have copies."""
    for folder in sorted((home / "libraries").glob("[!.]*/")):
        files = ", ".join(file.name for file in sorted(folder.iterdir()) if not file.is_symlink())
        used = in_use.last_used_unix_s(folder)
        user = in_use.user_of(folder) or _mapped_by(folder)
        yield Kept(Kind.LIBRARY, f"libraries/{folder.name}", folder, used_bytes(folder), used, files, user)


def _mapped_by(folder: Path) -> str:
    """A process with a library of a folder in its memory: a server with that allocator."""
    inside = f"{folder.resolve()}/"
    maps = (pid for pid in processes.all_pids() if any(file.startswith(inside) for file in processes.mapped_files(pid)))
    found = next(maps, None)
    return f"process {found}" if found else ""


def _downloads(home: Path) -> Iterator[Kept]:
    """What clients keep to download less the next time."""
    for folder in sorted((home / "cache").glob("*/")):
        used = in_use.last_used_unix_s(folder)
        yield Kept(
            Kind.DOWNLOAD, f"cache/{folder.name}", folder, used_bytes(folder), used, f"of provider {folder.name}"
        )


def _data(home: Path) -> Iterator[Kept]:
    """A folder for each content of a data file; it is made again from the file when it is asked for."""
    origins = {sha256: facts.rsplit(" ", 3)[0] for facts, sha256 in _read_json(home / "data" / HASHES).items()}
    for folder in sorted((home / "data").glob("[!.]*/")):
        start = folder.name.rpartition("-")[2]
        file = next((path for sha256, path in origins.items() if sha256.startswith(start)), "a data file")
        used, user = in_use.last_used_unix_s(folder), in_use.user_of(folder)
        yield Kept(Kind.DATA, f"data/{folder.name}", folder, used_bytes(folder), used, f"of {file}", user)


def _leftovers(home: Path) -> Iterator[Kept]:
    for path in registry.stale_paths(home):
        yield _leftover(home, path, "of a run that was killed")
    unfinished = [f"{folder}/{PARTIAL}*" for folder in ("builds", "builds/*", "libraries", "data")]
    for pattern in (*unfinished, "snapshots/*.partial"):
        for path in sorted(home.glob(pattern)):
            yield _leftover(home, path, "unfinished")
    for path in sorted((home / "builds").glob("*/[!.]*")):
        if not (path / MANIFEST).exists() and time.time() - path.stat().st_mtime > _UNFINISHED_AGE_S:
            yield _leftover(home, path, "unfinished")


def _leftover(home: Path, path: Path, about: str) -> Kept:
    size = used_bytes(path) if path.is_dir() else path.stat().st_blocks * 512
    return Kept(Kind.LEFTOVER, str(path.relative_to(home)), path, size, path.stat().st_mtime, about)
