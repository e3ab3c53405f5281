"""A record on disk of what runs, so that the next start can clean up after a controller that was killed."""

import contextlib
import ctypes
import json
import os
import shutil
import signal
import threading
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from dbversus.home import home_dir, public_dir, why_not_ours
from dbversus.host import cgroups, processes

_LIBC = ctypes.CDLL(None, use_errno=True)
_IPC_RMID = 0
_PARTIAL = ".partial"


@dataclass(frozen=True)
class Entry:
    """A running server and all that it leaves behind when it is killed.

    `data_dir`: its processes work there and execute `program`. `paths`: files and directories to remove (socket
    directory, POSIX shared memory). `shared_memory_ids`: System V segments to remove. `root_ticks`: start time of the
    root process. `uid`: whose it is; shared memory of others is left alone.
    """

    root_pid: int
    root_ticks: int
    data_dir: str
    program: str
    cgroup_dirs: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    shared_memory_ids: list[int] = field(default_factory=list)
    uid: int = -1


class Watcher(Protocol):
    """Is told of servers that start and stop, by any thread."""

    def announce(self) -> None:
        """Called in the process that is about to be a server; takes no lock, which another thread of ours may have."""

    def add(self, entry: Entry) -> None: ...
    def forget(self, root_pid: int) -> None: ...


class Registry:
    """What this controller runs: `<home>/run/<our pid>.json`, there only while something runs."""

    def __init__(self, home: Path | None = None):
        self._path = (home / "run" if home else public_dir("run")) / f"{os.getpid()}.json"
        self._entries: dict[int, Entry] = {}
        self._lock = threading.Lock()

    def announce(self) -> None:
        """Nothing: a file is no place for two processes to write."""

    def add(self, entry: Entry) -> None:
        with self._lock:
            self._entries[entry.root_pid] = entry
            self._write()

    def forget(self, root_pid: int) -> None:
        with self._lock:
            if self._entries.pop(root_pid, None):
                self._write()

    def _write(self) -> None:
        if not self._entries:
            self._path.unlink(missing_ok=True)
            return
        record = {
            "boot": processes.boot_id(),
            "controller_pid": os.getpid(),
            "controller_ticks": processes.start_ticks(os.getpid()),
            "entries": [asdict(entry) for entry in self._entries.values()],
        }
        self._path.parent.mkdir(parents=True, exist_ok=True)
        partial = self._path.with_suffix(_PARTIAL)
        try:
            partial.write_text(json.dumps(record, indent=1), encoding="utf-8")
            partial.rename(self._path)
        except OSError as error:
            partial.unlink(missing_ok=True)
            raise OSError(error.errno, error.strerror, str(self._path)) from error  # a failed write names no file


def cleanup_stale(home: Path | None = None) -> list[str]:
    """Ends servers whose controller is dead and removes what it left; returns one line per server for the user.

    Besides what is on record, these are directories `<pid>` in the folder `work` of the home, records that were not
    finished, and cgroups named `<pid>-…` of processes that are gone.
    """
    said: list[str] = []
    for path in sorted(_run_dir(home).glob("*.json")):
        if why := why_not_ours(path) or why_not_ours(path.parent):
            said.append(f"{path} {why}: what it says was left behind is left alone")
            continue
        record = _read(path)
        if record is None:
            said.append(f"{path} was damaged and has been removed; servers named in it may still run")
        elif _is_current(record):
            continue
        else:
            for fields in record["entries"]:
                said += _clean(Entry(**fields), this_boot=_this_boot(record))
        path.unlink(missing_ok=True)
    remove_paths(map(str, _unowned(home)))
    cgroups.remove_unused(processes.is_alive)
    return said


def stale_paths(home: Path | None = None) -> list[Path]:
    """What `cleanup_stale` would remove from the home: records and working directories of controllers that are dead."""
    own = (path for path in sorted(_run_dir(home).glob("*.json")) if not why_not_ours(path))
    records = ((path, _read(path)) for path in own if not why_not_ours(path.parent))
    return [*(path for path, record in records if record is None or not _is_current(record)), *_unowned(home)]


def _is_current(record: dict[str, Any]) -> bool:
    return processes.is_alive(record["controller_pid"], record["controller_ticks"]) and _this_boot(record)


def _unowned(home: Path | None) -> list[Path]:
    """Working directories, and records that were not finished, of processes that are gone."""
    every = [*(home or home_dir()).glob("work/[0-9]*"), *_run_dir(home).glob(f"[0-9]*{_PARTIAL}")]
    own = (path for path in every if not why_not_ours(path) and not why_not_ours(path.parent))
    owners = ((path, path.name.removesuffix(_PARTIAL)) for path in own)
    return [path for path, owner in owners if owner.isdigit() and not processes.is_alive(int(owner))]


def _run_dir(home: Path | None) -> Path:
    return (home or home_dir()) / "run"


def _read(path: Path) -> dict[str, Any] | None:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        _ = [Entry(**fields) for fields in record["entries"]]
        _ = record["controller_pid"], record["controller_ticks"], record["boot"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return dict(record)


def _this_boot(record: dict[str, Any]) -> bool:
    return bool(record["boot"] == processes.boot_id())


def _clean(entry: Entry, *, this_boot: bool) -> list[str]:
    if not this_boot:  # the pids belong to others now, and memory is gone
        remove_paths(entry.paths)
        return []
    left_behind = bool(tree(entry))
    survivors = end(entry)
    with contextlib.suppress(OSError):
        cgroups.remove_directories(entry.cgroup_dirs)
    said = []
    if left_behind:
        said.append(f"ended a server that an earlier run left behind (pid {entry.root_pid}, {entry.data_dir})")
    if survivors:
        said.append(f"processes {', '.join(map(str, survivors))} of {entry.data_dir} could not be ended")
    return said


def end(entry: Entry) -> list[int]:
    """Kills all processes of a server, frozen ones too, and removes its sockets and shared memory.

    Returns the processes that are still there.
    """
    cgroups.thaw(entry.cgroup_dirs)
    paths, ids = set(entry.paths), set(entry.shared_memory_ids)
    # a server that recovers from a crash makes itself new memory: none may come between looking and killing
    processes.send(tree(entry), signal.SIGSTOP)
    for pid in tree(entry):
        more_paths, more_ids = processes.shared_memory(pid, entry.uid)
        paths.update(more_paths)
        ids.update(more_ids)
    survivors = processes.kill_all(lambda: tree(entry))
    if not processes.is_alive(entry.root_pid):  # killed before anybody saw what it had mapped
        ids.update(processes.unused_segments_by(entry.root_pid, entry.uid))
    remove_shared_memory(ids)
    # a name may be another user's by now
    remove_paths(path for path in paths if not processes.is_segment(path) or processes.is_owned_by(path, entry.uid))
    return survivors


def tree(entry: Entry) -> list[int]:
    """All live processes of a server: below its root, in its cgroup, or working in its data directory."""
    found = set(cgroups.pids_in(entry.cgroup_dirs)) | set(processes.working_in(Path(entry.data_dir), entry.program))
    if processes.is_alive(entry.root_pid, entry.root_ticks):
        found |= {entry.root_pid, *processes.descendants(entry.root_pid)}
    return sorted(found)


def remove_shared_memory(ids: Iterable[int]) -> None:
    """Marks System V segments for removal; those already gone are passed over."""
    for number in ids:
        _LIBC.shmctl(number, _IPC_RMID, None)


def remove_paths(paths: Iterable[str]) -> None:
    """Those that may be removed (engine/src/guard.rs has the same rule): absolute, at least two levels deep, with no way up."""
    for path in map(Path, paths):
        if not path.is_absolute() or len(path.parts) < 3 or ".." in path.parts:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
