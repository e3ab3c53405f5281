"""What experiments may leave behind on a host: found by looking, not by asking dbversus."""

import os
import tempfile
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from dbversus.host import processes
from dbversus.host.cgroups import OWN_DIRECTORY, hierarchies
from dbversus.servers.data.disk_use import used_bytes

from .controller import working_directory

# lock files, directories; a data directory is a hundred times as large
LOOSE_BYTES_AT_MOST = 2**18
_SHARED_MEMORY = Path("/dev/shm")


@dataclass(frozen=True)
class Baseline:
    """What was on the host before: it belongs to somebody else."""

    socket_dirs: frozenset[str]
    shared_files: frozenset[str]
    segments: frozenset[int]
    mounts: frozenset[str]

    @classmethod
    def take(cls) -> "Baseline":
        return cls(
            frozenset(_socket_dirs()), frozenset(_shared_files()), frozenset(_segments()), frozenset(_mount_points())
        )


def processes_of(folder: Path) -> list[str]:
    """Processes that have to do with a directory: they work in it, are told of it, or have it as their home.

    The engine and the guard show it in their environment alone. Ourselves and those who started us are not meant.
    """
    ours = set(_ancestry(os.getpid()))
    found = [pid for pid in processes.all_pids() if pid not in ours and processes.is_alive(pid)]
    return [
        f"{pid} ({' '.join(processes.command_line(pid))[:100]})" for pid in found if _has_to_do_with(pid, str(folder))
    ]


def _ancestry(pid: int) -> Iterable[int]:
    while pid > 0:
        yield pid
        stat = processes.read_stat(pid)
        pid = stat.parent if stat else 0


def _has_to_do_with(pid: int, folder: str) -> bool:
    return (
        working_directory(pid).startswith(folder)
        or any(folder in word for word in processes.command_line(pid))
        or any(f"DBVERSUS_{name}={folder}" in _environment(pid) for name in ("HOME", "DATA"))
    )


def _environment(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/environ").read_text(errors="replace")
    except OSError:
        return ""


def on_host(
    before: Baseline, folder: Path, controllers: Collection[int], own_mounts: Collection[Path] = ()
) -> list[str]:
    """What is left of experiments that worked in `folder` and were run by these processes, all of which have ended.

    Sockets and shared memory that somebody uses are left out: a leaked process is in `processes_of`, and else they are
    another's.
    """
    sockets = _bound_sockets()
    dirs = [path for path in _socket_dirs() if path not in before.socket_dirs]
    left = [f"directory {path}" for path in dirs if not any(bound.startswith(path) for bound in sockets)]
    left += [f"socket {bound}" for bound in sockets if bound.startswith(str(folder))]
    left += [f"{path} in shared memory" for path in _unused(set(_shared_files()) - before.shared_files)]
    unused = [number for number, attached in _segments().items() if number not in before.segments and not attached]
    left += [f"System V shared memory segment {number}" for number in unused]
    left += [f"control group {group}" for group in _groups_of(controllers)]
    new_mounts = set(_mount_points()) - before.mounts - set(map(str, own_mounts))
    left += [f"mount {point}" for point in sorted(new_mounts) if point.startswith(str(folder))]
    return left


def in_home(home: Path, targets: int) -> list[str]:
    """What is left in a home in which nothing runs and `targets` different targets were measured."""
    left = [f"{path}" for folder in ("work", "run") for path in (home / folder).glob("*")]
    snapshots = [path for path in (home / "snapshots").glob("*") if path.suffix not in (".lock", ".used")]
    left += [f"unfinished snapshot {path}" for path in snapshots if not (path / "key.json").is_file()]
    if len(snapshots) > 2 * targets:  # of data as it was loaded, and of aged data
        left.append(f"{len(snapshots)} snapshots of {targets} targets in {home}")
    others = [path for path in home.iterdir() if path.name != "snapshots" and path.is_dir() and not path.is_symlink()]
    loose = sum(map(used_bytes, others))
    if loose > LOOSE_BYTES_AT_MOST:
        left.append(f"{loose} bytes in {home} beyond builds and snapshots")
    return left


def in_results(results: Path) -> list[str]:
    return [f"unfinished file {path}" for path in results.rglob("*.partial")]


def wait_until_none(find: Callable[[], list[str]], limit_s: float) -> list[str]:
    """What `find` still finds when the limit is over."""
    deadline = time.monotonic() + limit_s
    while (found := find()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def _socket_dirs() -> list[str]:
    """Where sockets of homes with long paths are."""
    return sorted(str(path) for path in Path(tempfile.gettempdir()).glob("dbversus-*"))


def _bound_sockets() -> list[str]:
    lines = Path("/proc/net/unix").read_text(errors="replace").splitlines()[1:]
    return sorted({fields[7] for line in lines if len(fields := line.split(maxsplit=7)) == 8})


def _shared_files() -> list[str]:
    """POSIX shared memory."""
    if not _SHARED_MEMORY.is_dir():
        return []
    files = (path for path in _SHARED_MEMORY.iterdir() if path.is_file())
    return sorted(map(str, files))


def _unused(paths: Iterable[str]) -> list[str]:
    wanted = set(paths)
    for pid in processes.all_pids() if wanted else ():
        wanted -= processes.mapped_files(pid)
    return sorted(wanted)


def _segments() -> dict[int, int]:
    """System V shared memory: number → processes that have it attached."""
    path = Path("/proc/sysvipc/shm")
    lines = path.read_text().splitlines()[1:] if path.exists() else []
    return {int(fields[1]): int(fields[6]) for fields in map(str.split, lines)}


def _groups_of(controllers: Collection[int]) -> list[str]:
    every = (path for parent in hierarchies().every() for path in (parent / OWN_DIRECTORY).glob("[0-9]*-*"))
    return sorted({str(path) for path in every if int(path.name.partition("-")[0]) in controllers})


def _mount_points() -> list[str]:
    return [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
