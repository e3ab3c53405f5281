"""Where dbversus keeps what it fetches: builds, caches, snapshots; and where what comes with it is."""

import errno
import os
import stat
from pathlib import Path

from dbversus.errors import RunError, UsageError

# Servers run as another, unprivileged user when dbversus runs as root: that user must get through.
PUBLIC_MODE = 0o755
# copies of users' data, and what is made of them
PRIVATE_MODE = 0o700
PRIVATE_FILE_MODE = 0o600


def home_dir() -> Path:
    """$DBVERSUS_HOME, else /var/cache/dbversus for root, else `dbversus` in the user's cache folder.

    It need not exist yet; `public_dir` makes it.
    """
    override = os.environ.get("DBVERSUS_HOME")
    if override:
        return expanded(override)
    if os.geteuid() == 0:
        return Path("/var/cache/dbversus")
    return Path(os.environ.get("XDG_CACHE_HOME") or expanded("~/.cache")) / "dbversus"


def expanded(path: str | Path) -> Path:
    """The whole path, `~` and `~user` filled in; UsageError where that user has no home directory."""
    try:
        return Path(path).expanduser().absolute()
    except RuntimeError as error:
        raise UsageError(
            f"{path} has no place: this user has no home directory (neither HOME nor an entry in the list of users); "
            "set DBVERSUS_HOME to a folder of yours, and write paths without ~."
        ) from error


def why_not_ours(path: Path) -> str:
    """Why others may have put there what is found at a path, in words that follow its name; empty when they cannot.

    Root's files are as good as our own. What is missing is nobody's yet.
    """
    try:
        found = path.lstat()
    except OSError:
        return ""
    if stat.S_ISLNK(found.st_mode):
        return "is a link"
    if found.st_uid not in (os.geteuid(), 0):
        return f"belongs to another user ({found.st_uid})"
    by_group = found.st_mode & stat.S_IWGRP and found.st_gid != os.getegid()
    return "may be written to by other users" if by_group or is_open_to_all(found) else ""


def is_open_to_all(found: os.stat_result) -> bool:
    """Whether every user may replace what is there; in a sticky directory they may not."""
    return bool(found.st_mode & stat.S_IWOTH and not (stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_ISVTX))


def _check_ours(folder: Path) -> None:
    """Raises RunError when others may put builds, records or data there, or exchange the folder for one of theirs."""
    home = home_dir()
    words = {home: "may be written to by every user" if home.is_dir() and is_open_to_all(home.stat()) else ""}
    words |= {
        path: why_not_ours(path) for path in (folder, *folder.parents) if path.is_relative_to(home) and path != home
    }
    for path, why in words.items():
        if why:
            raise RunError(
                f"{path} {why}, so nothing that it holds can be trusted; change that, or set DBVERSUS_HOME to a folder of yours."
            )


def public_dir(*parts: str) -> Path:
    """Make a folder below home that every user may enter and read, whatever the umask; RunError when refused."""
    folder = home_dir().joinpath(*parts)
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in missing:
            path.chmod(PUBLIC_MODE)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise _refused(folder, error) from error
    _check_ours(folder)
    return folder


def _refused(folder: Path, error: OSError) -> RunError:
    return RunError(f"cannot make folder {folder}: {error.strerror}; set DBVERSUS_HOME to a writable one")


def private_dir(*parts: str) -> Path:
    """Make a folder below home that only we may enter, whatever the umask, and though it was made otherwise before.

    RunError when refused.
    """
    folder = home_dir().joinpath(*parts)
    public_dir(*parts[:-1])
    try:
        folder.mkdir(mode=PRIVATE_MODE, exist_ok=True)
        if folder.lstat().st_uid == os.geteuid() and stat.S_IMODE(folder.stat().st_mode) != PRIVATE_MODE:
            folder.chmod(PRIVATE_MODE)
    except OSError as error:
        raise _refused(folder, error) from error
    _check_ours(folder)
    return folder


def shipped(folder: str) -> list[Path]:
    """Where files that come with dbversus and users may read are: in the package, and beside it in its source tree.

    Raises RunError where there are none: without its configs, say, dbversus would measure servers with other settings.
    """
    package = Path(__file__).resolve().parent
    places = [package / folder, package.parents[1] / folder]
    found = [place for place in places if place.is_dir()]
    if not found:
        raise RunError(
            f"A part of dbversus is missing: neither {places[0]} nor {places[1]} is there; install it again."
        )
    return found
