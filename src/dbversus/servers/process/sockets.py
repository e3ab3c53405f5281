"""Private directories for Unix sockets, short enough for the kernel."""

import random
import tempfile
from pathlib import Path

from dbversus.host.user import ServerUser

# sun_path of a Unix socket's address holds 108 bytes, the closing zero among them
PATH_LIMIT_BYTES = 107


def make_socket_dir(wanted: Path, user: ServerUser, longest_name: str) -> Path:
    """Makes `wanted`, or a directory in /tmp when `wanted/longest_name` is too long; only `user` may enter it."""
    # a comma separates directories in PostgreSQL's setting
    if len(str(wanted / longest_name).encode()) <= PATH_LIMIT_BYTES and "," not in str(wanted):
        made = wanted
    else:
        made = Path(tempfile.mkdtemp(prefix="dbversus-", dir="/tmp"))
    user.make_dir(made)
    return made


def random_port() -> int:
    """A number for a socket's name; nothing listens on TCP, and the directory is private, so any number is free."""
    return random.randint(20000, 59999)
