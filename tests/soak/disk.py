"""A disk that can be filled and freed in an instant: a tmpfs whose limit is lowered to what is in it. Needs root."""

import os
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from dbversus.home import PUBLIC_MODE


class SmallDisk:
    """A file system at `folder`, of `size_bytes`, until the end of the `with` statement. `was_busy`: somebody still used it.

    A file as ballast would do the same, and would take all that is free from the host's memory.
    """

    def __init__(self, folder: Path, size_bytes: int):
        self.folder = folder
        self.was_busy = False
        self._size_bytes = size_bytes

    def __enter__(self) -> Self:
        self.folder.mkdir(exist_ok=True)
        options = f"size={self._size_bytes},mode={PUBLIC_MODE:o}"
        _run("mount", "-t", "tmpfs", "-o", options, "tmpfs", str(self.folder))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for _ in range(100):
            if subprocess.run(["umount", str(self.folder)], capture_output=True).returncode == 0:
                return
            time.sleep(0.05)
        self.was_busy = True
        _run("umount", "--lazy", str(self.folder))

    def fill(self) -> None:
        """From now on no block is free except those that are given back."""
        for _ in range(100):
            if self._limit(max(self.used_bytes(), os.sysconf("SC_PAGE_SIZE"))):
                return
        raise OSError(f"{self.folder} grows faster than it can be limited")

    def free(self) -> None:
        if not self._limit(self._size_bytes):
            raise OSError(f"the limit of {self.folder} cannot be lifted")

    def used_bytes(self) -> int:
        found = os.statvfs(self.folder)
        return (found.f_blocks - found.f_bfree) * found.f_frsize

    def _limit(self, size_bytes: int) -> bool:
        command = ["mount", "-o", f"remount,size={size_bytes}", str(self.folder)]
        return subprocess.run(command, capture_output=True).returncode == 0


def can_mount() -> bool:
    """Whether this process may mount a file system."""
    with tempfile.TemporaryDirectory(prefix="dbv-soak-") as folder:
        try:
            with SmallDisk(Path(folder) / "disk", 2**20):
                return True
        except (OSError, subprocess.CalledProcessError):
            return False


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
