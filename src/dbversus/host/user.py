"""The user that servers run as: database servers refuse root, and should not have its rights anyway."""

import contextlib
import ctypes
import errno
import os
import pwd
import shutil
import stat
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dbversus.errors import RunError, UsageError

VARIABLE = "DBVERSUS_SERVER_USER"
OWN = "dbversus"
"""The system user that servers run as where it is there; `make_own_user` makes it."""
SHARED = "nobody"
"""Everybody's user: other services that run as it get at what servers have."""
# useradd takes numbers of system users from below this one
_FIRST_OF_PEOPLE = 1000
_LIBC = ctypes.CDLL(None, use_errno=True)
# setgroups(2) of one thread: the C library's own changes all of them
_SETGROUPS = {"x86_64": 116, "aarch64": 159}.get(os.uname().machine)
# of a link, or of a pipe that nobody writes to, nothing is opened
_NO_TRICKS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_READ_BYTES = 2**16


@dataclass(frozen=True)
class ServerUser:
    """`switch`: whether we have to become this user (we are root) or are it already."""

    name: str
    uid: int
    gid: int
    switch: bool

    @property
    def is_shared(self) -> bool:
        return self.switch and self.name == SHARED

    def become(self) -> None:
        """Drops all rights but this user's; for use in a child process before it executes the server."""
        if self.switch:
            os.setgroups([])
            os.setgid(self.gid)
            os.setuid(self.uid)

    def give(self, path: Path) -> None:
        """Makes the user the owner, of what lies in a directory of ours; a link is given away itself."""
        if self.switch:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def make_dir(self, path: Path) -> None:
        """A directory that only this user may enter, in one of ours. RunError when something else stands there."""
        with _told(path):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | _NO_TRICKS)
            try:
                os.fchmod(fd, 0o700)
                if self.switch:
                    os.fchown(fd, self.uid, self.gid)
            finally:
                os.close(fd)

    @contextlib.contextmanager
    def rights(self) -> Iterator[None]:
        """What this thread does with files meanwhile, it does with this user's rights: a link of theirs leads nowhere new.

        For work in directories of this user, who may put anything there at any time. Starts no programs.
        """
        if not self.switch:
            yield
            return
        groups = os.getgroups()
        try:
            _set_groups([])
            _LIBC.setfsgid(self.gid)
            _LIBC.setfsuid(self.uid)
            if _LIBC.setfsuid(-1) != self.uid:  # it never says that it was refused
                raise RunError(f"The rights of root cannot be exchanged for those of user {self.name} on this host.")
            yield
        finally:
            _LIBC.setfsuid(os.geteuid())
            _LIBC.setfsgid(os.getegid())
            _set_groups(groups)

    def write(self, path: Path, text: str) -> None:
        """Writes a file in a directory of this user, as this user. RunError when a link or anything else stands there."""
        flags = os.O_WRONLY | os.O_CREAT | _NO_TRICKS
        with self.rights(), _told(path), os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
            _check_file(file.fileno(), path)
            file.truncate()
            file.write(text)

    def read(self, path: Path) -> str:
        """The beginning of a file in a directory of this user, empty when there is none. RunError as `write`."""
        with self.rights(), _told(path):
            try:
                fd = os.open(path, os.O_RDONLY | _NO_TRICKS)
            except FileNotFoundError:
                return ""
            with os.fdopen(fd, encoding="utf-8", errors="replace") as file:
                _check_file(file.fileno(), path)
                return file.read(_READ_BYTES)

    def admit(self, path: Path) -> None:
        """This user, and nobody else but the owner, may get to what lies in a directory of ours, by name."""
        if self.switch:
            os.chown(path, -1, self.gid)
            path.chmod(0o710)

    def let_read(self, file: Path) -> None:
        """This user, and nobody else but the owner, may read a file of ours, where they get to it."""
        if self.switch:
            os.chown(file, -1, self.gid)
            file.chmod(0o640)

    def check_reach(self, path: Path, what: str) -> None:
        """Raises RunError when this user cannot get to `path` because of the rights of a directory above it."""
        if not self.switch:
            return
        for directory in reversed(path.resolve().parents):
            found = directory.stat()
            if not self._may_enter(found):
                raise RunError(
                    f"Servers run as user {self.name}, who cannot reach {what} {path}: {directory} is "
                    f"{stat.filemode(found.st_mode)}; allow others to enter it (chmod o+x), or name a user who can "
                    f"in {VARIABLE}."
                )

    def may_reach(self, path: Path) -> bool:
        return not self.switch or all(self._may_enter(directory.stat()) for directory in path.resolve().parents)

    def _may_enter(self, found: os.stat_result) -> bool:
        if found.st_uid == self.uid:
            return bool(found.st_mode & stat.S_IXUSR)
        if found.st_gid == self.gid:
            return bool(found.st_mode & stat.S_IXGRP)
        return bool(found.st_mode & stat.S_IXOTH)


def _set_groups(groups: Sequence[int]) -> None:
    if _SETGROUPS is not None:
        _LIBC.syscall(_SETGROUPS, len(groups), (ctypes.c_uint32 * len(groups))(*groups))


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO, errno.ENOTDIR, errno.EISDIR, errno.EEXIST):
            raise _strange(path) from error
        raise RunError(f"{path} cannot be written or read: {error.strerror}.") from error


def _check_file(fd: int, path: Path) -> None:
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        raise _strange(path)


def _strange(path: Path) -> RunError:
    """The servers' user, or who acts as that, has put something in the way: nobody else can."""
    return RunError(f"{path} is not what a server leaves there, but a link or the like, which is not followed.")


def server_user() -> ServerUser:
    """Ourselves; as root, the user named in DBVERSUS_SERVER_USER, else the system user `dbversus`, else `nobody`."""
    if os.geteuid() != 0:
        return _lookup(os.geteuid(), switch=False)
    name = os.environ.get(VARIABLE) or (OWN if _is_system_user(OWN) else SHARED)
    try:
        found = pwd.getpwnam(name)
    except KeyError:
        raise UsageError(f"{VARIABLE} names user '{name}', who does not exist on this host.") from None
    if found.pw_uid == 0:
        raise UsageError(f"{VARIABLE} names user '{name}', who has the rights of root; name an unprivileged user.")
    return ServerUser(name, found.pw_uid, found.pw_gid, switch=True)


def _is_system_user(name: str) -> bool:
    """Not a person's, whose files servers must not get at."""
    try:
        found = pwd.getpwnam(name)
    except KeyError:
        return False
    return 0 < found.pw_uid < _FIRST_OF_PEOPLE and Path(found.pw_shell).name in ("nologin", "false")


def make_own_user() -> str:
    """Makes the system user `dbversus`, without password, home and shell; says what was done, in a sentence.

    Raises UsageError where it cannot be made here, RunError with the words of useradd.
    """
    if os.geteuid() != 0:
        raise UsageError("Only root makes users, and needs one for servers; servers that you start run as yourself.")
    if _is_system_user(OWN):
        return f"user {OWN} is there already; servers that root starts run as it"
    with contextlib.suppress(KeyError):
        uid = pwd.getpwnam(OWN).pw_uid
        raise UsageError(
            f"User {OWN} ({uid}) is there, and is no system user without a shell; name another in {VARIABLE}."
        )
    shell = shutil.which("nologin", path="/usr/sbin:/sbin:/usr/bin:/bin") or "/bin/false"
    words = ["--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent", "--shell", shell]
    try:
        done = subprocess.run(["useradd", *words, OWN], capture_output=True, encoding="utf-8")
    except OSError as error:
        raise RunError(
            f"useradd cannot be run ({error.strerror}); make a user yourself, and name it in {VARIABLE}."
        ) from error
    if done.returncode != 0 or not _is_system_user(OWN):
        said = " ".join(done.stderr.split()) or f"it made none (status {done.returncode})"
        raise RunError(f"useradd has made no user {OWN}: {said}.")
    return f"user {OWN} was made (useradd {' '.join(words)}); servers that root starts run as it; `userdel {OWN}` removes it"


def _lookup(uid: int, *, switch: bool) -> ServerUser:
    try:
        name = pwd.getpwuid(uid).pw_name
    except KeyError:  # containers often run as a number without a name
        name = str(uid)
    return ServerUser(name, uid, os.getegid(), switch)
