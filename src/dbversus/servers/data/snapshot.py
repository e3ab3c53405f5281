"""Copies of loaded, settled, stopped data directories, from which every block starts.

A snapshot is `<home>/snapshots/<key>/`: `data` (the directory), `key.json` (what determined it) and extra files of the
caller. Copies share blocks with the original where the file system can (reflink).
"""

import contextlib
import ctypes
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dbversus.errors import RunError
from dbversus.home import private_dir
from dbversus.host.claims import in_use
from dbversus.host.user import ServerUser, server_user
from dbversus.servers.data.disk_use import used_bytes

# 2: no links that lead out, and no settings of the first target among those of a server's data directory
LAYOUT_VERSION = 2
_FICLONE = 0x40049409
# what must stay free beyond a copy: a full disk would break more than this experiment
RESERVE_BYTES = 256 * 2**20
_LIBC = ctypes.CDLL(None, use_errno=True)


def snapshot_key(parts: Mapping[str, Any]) -> str:
    """Name of the snapshot that `parts` (build, init options, tables, seed, …; JSON values) determine."""
    text = json.dumps({"snapshot_layout": LAYOUT_VERSION, **parts}, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def snapshots_dir(root: Path | None = None) -> Path:
    return root or private_dir("snapshots")


def find(parts: Mapping[str, Any], root: Path | None = None) -> Path | None:
    """The snapshot's directory, or None when it has not been made."""
    path = snapshots_dir(root) / snapshot_key(parts)
    return path if (path / "key.json").is_file() else None


def using(parts: Mapping[str, Any], root: Path | None = None) -> contextlib.AbstractContextManager[None]:
    """Nobody removes the snapshot, there or to be made, while this lasts."""
    return in_use.using(snapshots_dir(root) / snapshot_key(parts))


def keep(
    data_dir: Path, parts: Mapping[str, Any], extra: Mapping[str, str] | None = None, root: Path | None = None
) -> Path:
    """Copies the data directory of a stopped server and returns the snapshot; an existing one is left as it is.

    `extra`: texts to keep beside it, by file name. Raises RunError when there is no room, before or while copying;
    nothing partial stays behind.
    """
    path = snapshots_dir(root) / snapshot_key(parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path, fcntl.LOCK_EX):
        if (path / "key.json").is_file():
            return path
        partial = path.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)  # of one who was killed: we hold the lock
        partial.mkdir(mode=0o700)
        try:
            copy_tree(data_dir, partial / "data")
            texts = {**(extra or {}), "key.json": json.dumps(dict(parts), indent=1, default=str)}
            for name, text in texts.items():
                (partial / name).write_text(text, encoding="utf-8")
            _sync(partial)
            partial.rename(path)
        except OSError as error:
            raise RunError(f"The snapshot {path} cannot be written: {error.strerror or error}.") from error
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return path


def restore(snapshot: Path, data_dir: Path) -> None:
    """Makes `data_dir` an exact copy of the snapshot's, owner and times included, in place of what was there.

    Returns when the copy is on disk, so that writing it back disturbs no measurement. Raises RunError as `keep`.
    """
    partial = data_dir.with_name(data_dir.name + ".partial")
    shutil.rmtree(data_dir, ignore_errors=True)
    shutil.rmtree(partial, ignore_errors=True)
    data_dir.parent.mkdir(parents=True, exist_ok=True)
    with _locked(snapshot, fcntl.LOCK_SH):
        copy_tree(snapshot / "data", partial)
    _sync(partial)
    partial.rename(data_dir)


def read_extra(snapshot: Path, name: str) -> str:
    """A text kept beside the data."""
    return (snapshot / name).read_text(encoding="utf-8")


def copy_tree(source: Path, destination: Path) -> None:
    """Copies a directory, sharing blocks where possible. Raises RunError; then nothing is left of the copy."""
    if not source.is_dir():
        raise RunError(f"There is no directory {source} to copy.")
    _check_links(source)
    _check_room(source, destination.parent)
    owner = source.lstat()
    user = server_user()
    mine = user if user.uid == owner.st_uid else replace(user, switch=False)
    words = _copy(source, destination, mine)
    if words is not None:
        shutil.rmtree(destination, ignore_errors=True)
        raise RunError(f"Copying {source} to {destination} failed: {words or 'cp does not say why'}.")


def _copy(source: Path, destination: Path, user: ServerUser) -> str | None:
    """As the user whose data it is, so that what they put into it meanwhile gives them nothing; cp's words when it fails."""
    user.make_dir(destination)
    fd = os.open(source, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        done = subprocess.run(
            ["cp", "-a", "--reflink=auto", "--", f"/proc/self/fd/{fd}/.", "."],
            cwd=destination,  # the user may enter both, and not what lies above them
            pass_fds=[fd],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, "LC_ALL": "C"},
            preexec_fn=user.become,
        )
    finally:
        os.close(fd)
    return None if done.returncode == 0 else "; ".join(done.stderr.strip().splitlines()[:1])


def _check_links(source: Path) -> None:
    """What a link leads to outside is no part of a copy: all copies would share it, or somebody put it there to be found."""
    for folder, names, files in os.walk(source):
        for path in (Path(folder, name) for name in (*names, *files)):
            if path.is_symlink() and _leads_out(path, source):
                raise RunError(
                    f"{path} is a link to {path.readlink()}, outside of the data directory, so no copy of the data can be "
                    "made. Leave out what makes it (in PostgreSQL, tablespaces)."
                )


def _leads_out(link: Path, source: Path) -> bool:
    """Absolute ones do in every copy, whatever they name."""
    target = link.readlink()
    return target.is_absolute() or not link.parent.joinpath(target).resolve().is_relative_to(source.resolve())


def _check_room(source: Path, parent: Path) -> None:
    if shares_blocks(source, parent):
        return
    needed, free = used_bytes(source) + RESERVE_BYTES, free_bytes(parent)
    if needed > free:
        raise RunError(
            f"A copy of {source} needs {needed} bytes in {parent} ({RESERVE_BYTES} of them in reserve) and {free} bytes "
            f"are available; {needed - free} more are needed."
        )


def free_bytes(directory: Path) -> int:
    """Bytes that may still be written on the file system of a directory, which must exist."""
    found = os.statvfs(directory)
    return found.f_bavail * found.f_frsize


def shares_blocks(source: Path, parent: Path) -> bool:
    """Whether a copy from `source` to `parent` can share blocks (reflink): tried with one small file."""
    sample = next((path for path in source.rglob("*") if not path.is_symlink() and _has_blocks(path)), None)
    if sample is None:
        return False
    trial = parent / f".reflink-{os.getpid()}"
    try:
        read = os.open(sample, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            write = os.open(trial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            try:
                return fcntl.ioctl(write, _FICLONE, read) == 0
            finally:
                os.close(write)
        finally:
            os.close(read)
    except OSError:
        return False
    finally:
        trial.unlink(missing_ok=True)


def _has_blocks(path: Path) -> bool:
    return path.is_file() and path.lstat().st_size > 0


def _sync(directory: Path) -> None:
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _LIBC.syncfs(fd)
    finally:
        os.close(fd)


@contextlib.contextmanager
def _locked(snapshot: Path, how: int) -> Iterator[None]:
    """One writer, or many readers, of a snapshot at a time, among all processes."""
    fd = os.open(snapshot.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(fd, how)
        yield
    finally:
        os.close(fd)
