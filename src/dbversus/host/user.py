"""The user that servers run as: database servers refuse root, and should not have its rights anyway."""

import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path

from dbversus.errors import RunError, UsageError

VARIABLE = "DBVERSUS_SERVER_USER"


@dataclass(frozen=True)
class ServerUser:
    """`switch`: whether we have to become this user (we are root) or are it already."""

    name: str
    uid: int
    gid: int
    switch: bool

    def become(self) -> None:
        """Drops all rights but this user's; for use in a child process before it executes the server."""
        if self.switch:
            os.setgroups([])
            os.setgid(self.gid)
            os.setuid(self.uid)

    def own(self, path: Path) -> None:
        if self.switch:
            os.chown(path, self.uid, self.gid)

    def admit(self, path: Path) -> None:
        """This user, and nobody else but the owner, may get to what lies in a directory of ours, by name."""
        if self.switch:
            os.chown(path, -1, self.gid)
            path.chmod(0o710)

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

    def _may_enter(self, found: os.stat_result) -> bool:
        if found.st_uid == self.uid:
            return bool(found.st_mode & stat.S_IXUSR)
        if found.st_gid == self.gid:
            return bool(found.st_mode & stat.S_IXGRP)
        return bool(found.st_mode & stat.S_IXOTH)


def server_user() -> ServerUser:
    """Ourselves; as root, the user named in DBVERSUS_SERVER_USER, or `nobody`."""
    if os.geteuid() != 0:
        return _lookup(os.geteuid(), switch=False)
    name = os.environ.get(VARIABLE) or "nobody"
    try:
        found = pwd.getpwnam(name)
    except KeyError:
        raise UsageError(f"{VARIABLE} names user '{name}', who does not exist on this host.") from None
    if found.pw_uid == 0:
        raise UsageError(f"{VARIABLE} names user '{name}', who has the rights of root; name an unprivileged user.")
    return ServerUser(name, found.pw_uid, found.pw_gid, switch=True)


def _lookup(uid: int, *, switch: bool) -> ServerUser:
    try:
        name = pwd.getpwuid(uid).pw_name
    except KeyError:  # containers often run as a number without a name
        name = str(uid)
    return ServerUser(name, uid, os.getegid(), switch)
