"""Control groups of measured servers: their CPU time and disk requests are read there, and there the idle ones are frozen.

Version 1 (`cpuacct`, `freezer` and `blkio` hierarchies) is taken where it is mounted and writable, because its CPU clock counts
ns; version 2 otherwise, whose `cpu.stat` and `cgroup.freeze` are always there; `io.stat` needs a controller to be enabled. For a
limit of memory version 1 has one more hierarchy (`memory`), and in version 2 the controller has to be enabled.
"""

import contextlib
import errno
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from dbversus.host import memory_limit

OWN_DIRECTORY = "dbversus"
ONLY_SETTINGS = "caches follow from --memory, but not what the page cache holds of its files"
_REMOVE_LIMIT_S = 2.0


@dataclass(frozen=True)
class CgroupV1:
    """A directory in the cpuacct hierarchy; where there are such, one each in freezer and blkio, and one that limits memory."""

    cpuacct: Path
    freezer: Path | None
    blkio: Path | None = None
    memory: Path | None = None

    def add(self, pid: int) -> None:
        for directory in self.directories():
            add_process(Path(directory), pid)

    def engine_account(self) -> dict[str, str]:
        return {"kind": "v1", "cpuacct": str(self.cpuacct)}

    def engine_freeze(self) -> dict[str, str]:
        return {"kind": "v1", "freezer": str(self.freezer)} if self.freezer else {"kind": "signal"}

    def engine_disk(self) -> dict[str, str] | None:
        return {"kind": "v1", "blkio": str(self.blkio)} if self.blkio else None

    def directories(self) -> list[str]:
        return [str(directory) for directory in (self.cpuacct, self.freezer, self.blkio, self.memory) if directory]

    def remove(self) -> None:
        remove_directories(self.directories())


@dataclass(frozen=True)
class CgroupV2:
    """A directory; `memory` is the same one where the group can limit memory."""

    path: Path
    memory: Path | None = None

    def add(self, pid: int) -> None:
        add_process(self.path, pid)

    def engine_account(self) -> dict[str, str]:
        return {"kind": "v2", "path": str(self.path)}

    def engine_freeze(self) -> dict[str, str]:
        return {"kind": "v2", "path": str(self.path)}

    def engine_disk(self) -> dict[str, str] | None:
        return {"kind": "v2", "path": str(self.path)}

    def directories(self) -> list[str]:
        return [str(self.path)]

    def remove(self) -> None:
        remove_directories(self.directories())


@dataclass(frozen=True)
class Hierarchies:
    """Where groups may be made: the directories of our own group in each hierarchy; None where it is not mounted."""

    cpuacct: Path | None = None
    freezer: Path | None = None
    blkio: Path | None = None
    unified: Path | None = None
    memory: Path | None = None

    @property
    def version(self) -> str:
        """`v1`, `v2`, `v1+v2` (hybrid) or `none`."""
        names = [name for name, there in (("v1", self.cpuacct), ("v2", self.unified)) if there]
        return "+".join(names) or "none"

    def every(self) -> list[Path]:
        """All of them that are there: a group may be in any."""
        return [path for path in (self.cpuacct, self.freezer, self.blkio, self.unified, self.memory) if path]


def hierarchies(mounts: str | None = None, membership: str | None = None) -> Hierarchies:
    """Reads /proc/self/mounts and /proc/self/cgroup (or the texts given, for tests)."""
    mounts = mounts if mounts is not None else Path("/proc/self/mounts").read_text(encoding="utf-8")
    membership = membership if membership is not None else Path("/proc/self/cgroup").read_text(encoding="utf-8")
    found: dict[str, Path] = {}
    for line in mounts.splitlines():
        _, point, kind, options = line.split()[:4]
        if kind == "cgroup2":
            found["unified"] = Path(point)
        elif kind == "cgroup":
            found |= {
                name: Path(point) for name in ("cpuacct", "freezer", "blkio", "memory") if name in options.split(",")
            }
    own = _own_groups(membership)
    return Hierarchies(**{name: _inside(point, own.get(name, "/")) for name, point in found.items()})


def _own_groups(membership: str) -> dict[str, str]:
    own: dict[str, str] = {}
    for line in membership.splitlines():
        number, controllers, path = line.split(":", 2)
        own |= dict.fromkeys(controllers.split(",") if number != "0" else ["unified"], path)
    return own


def _inside(point: Path, own: str) -> Path:
    """Our own group's directory; in a container only a part of the hierarchy is mounted, with our group as its root."""
    directory = point / own.lstrip("/")
    return directory if directory.is_dir() else point


def create_cgroup(
    name: str, where: Hierarchies | None = None, kind: str = "auto", *, with_memory: bool = False
) -> tuple[CgroupV1 | CgroupV2 | None, str]:
    """Makes a group for one server; `name` must be new. `kind`: auto, v1 or v2. `with_memory`: one that can limit memory.

    Returns the group, and a note for the user on what the host does not give: None where there is no group, and a group
    without `memory` where there is no limit.
    """
    where = where or hierarchies()
    notes = []
    for version, make in (("v1", _create_v1), ("v2", _create_v2)):
        if kind in ("auto", version):
            try:
                group = make(name, where)
                return _with_memory(group, name, where) if with_memory else (group, "")
            except OSError as error:
                notes.append(f"{version}: {error.strerror or error}")
    advice = "as root, or under `systemd-run --user --scope -p Delegate=yes`, a control group can be had"
    return None, f"no cgroup ({'; '.join(notes)}): CPU time is summed over processes instead; {advice}"


def _with_memory(group: CgroupV1 | CgroupV2, name: str, where: Hierarchies) -> tuple[CgroupV1 | CgroupV2, str]:
    try:
        if isinstance(group, CgroupV1) and where.memory:
            return replace(group, memory=_make(where.memory, name)), ""
        if isinstance(group, CgroupV2) and where.unified:
            memory_limit.enable((where.unified, group.path.parent))
            return replace(group, memory=group.path), ""
        why = "no memory hierarchy is mounted"
    except OSError as error:
        why = f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)
    return group, f"memory of servers cannot be limited ({why}): {ONLY_SETTINGS}"


def _create_v1(name: str, where: Hierarchies) -> CgroupV1:
    if where.cpuacct is None:
        raise FileNotFoundError(errno.ENOENT, "no cpuacct hierarchy is mounted")
    made = [cpuacct := _make(where.cpuacct, name)]
    try:
        freezer = _make(where.freezer, name) if where.freezer else None
        made += [freezer] if freezer else []
        return CgroupV1(cpuacct, freezer, _make(where.blkio, name) if where.blkio else None)
    except OSError:
        remove_directories(map(str, made))
        raise


def _create_v2(name: str, where: Hierarchies) -> CgroupV2:
    if where.unified is None:
        raise FileNotFoundError(errno.ENOENT, "no cgroup2 hierarchy is mounted")
    path = _make(where.unified, name)
    _enable_io(where.unified)
    if not (path / "cgroup.procs").exists() or not os.access(where.unified / "cgroup.procs", os.W_OK):
        remove_directories([str(path)])
        raise PermissionError(errno.EACCES, f"processes may not be moved out of {where.unified}")
    return CgroupV2(path)


def _enable_io(own: Path) -> None:
    """Has requests counted in the groups below ours, where the host lets us: not where processes are in our group itself."""
    for directory in (own, own / OWN_DIRECTORY):
        with contextlib.suppress(OSError):
            (directory / "cgroup.subtree_control").write_text("+io", encoding="utf-8")


def _make(parent: Path, name: str) -> Path:
    directory = parent / OWN_DIRECTORY / name
    directory.parent.mkdir(exist_ok=True)
    try:
        directory.mkdir()
    except FileNotFoundError:  # another dbversus that ended just now removed the parent, empty as it was
        directory.parent.mkdir(exist_ok=True)
        directory.mkdir()
    return directory


def hand_over(directories: Iterable[str], uid: int) -> None:
    """Lets a user read a group, freeze it and have its disk requests counted; who is in it is not theirs to say."""
    for directory in map(Path, directories):
        for path in (directory.parent, directory):  # ours both, and closed where our umask is
            path.chmod(0o755)
        for name in ("freezer.state", "cgroup.freeze", "blkio.throttle.read_bps_device"):
            if (directory / name).exists():
                os.chown(directory / name, uid, -1)


def add_process(directory: Path, pid: int) -> None:
    """Moves a process into a group; raises OSError with the group's name."""
    with (directory / "cgroup.procs").open("w", encoding="utf-8") as procs:
        procs.write(str(pid))


def remove_unused(is_alive: Callable[[int], bool], where: Hierarchies | None = None) -> None:
    """Removes empty groups named `<pid>-…` whose process is gone: a killed controller leaves them."""
    for parent in (where or hierarchies()).every():
        for directory in (parent / OWN_DIRECTORY).glob("[0-9]*-*"):
            pid = directory.name.partition("-")[0]
            if pid.isdigit() and not is_alive(int(pid)) and not pids_in([str(directory)]):
                with contextlib.suppress(OSError):
                    directory.rmdir()


def pids_in(directories: Iterable[str]) -> list[int]:
    """Processes in any of these groups."""
    found: set[int] = set()
    for directory in directories:
        with contextlib.suppress(OSError):
            found.update(int(line) for line in (Path(directory) / "cgroup.procs").read_text(encoding="utf-8").split())
    return sorted(found)


def thaw(directories: Iterable[str]) -> None:
    """Thaws groups of either version; what is not frozen, or not there, is left alone."""
    for directory in map(Path, directories):
        for file, word in (("freezer.state", "THAWED"), ("cgroup.freeze", "0")):
            if (directory / file).exists():
                with contextlib.suppress(OSError):
                    (directory / file).write_text(word, encoding="utf-8")


def remove_directories(directories: Iterable[str]) -> None:
    """Removes groups, waiting up to 2 s for processes that are still leaving; raises OSError when they do not."""
    for directory in directories:
        _remove(Path(directory))
        with contextlib.suppress(OSError):  # others may have groups beside ours
            Path(directory).parent.rmdir()


def leave_directories(directories: Iterable[str]) -> None:
    """Removes groups as `remove_directories`; one that stays busy is left to `remove_unused` at the next start."""
    for directory in directories:
        with contextlib.suppress(OSError):
            remove_directories([directory])


def _remove(directory: Path) -> None:
    deadline = time.monotonic() + _REMOVE_LIMIT_S
    while True:
        try:
            directory.rmdir()
        except FileNotFoundError:
            return
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
