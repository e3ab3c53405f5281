"""How much room files take."""

import os
from pathlib import Path


def used_bytes(directory: Path) -> int:
    """Bytes allocated on disk below a directory, hard links counted once; files that vanish while we look are passed over."""
    total = 0
    linked: set[tuple[int, int]] = set()
    folders = [str(directory)]
    while folders:
        try:
            entries = list(os.scandir(folders.pop()))
        except OSError:
            continue
        for entry in entries:
            try:
                found = entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
            except OSError:
                continue
            if found.st_nlink > 1 and not entry.is_dir(follow_symlinks=False):
                if (found.st_dev, found.st_ino) in linked:
                    continue
                linked.add((found.st_dev, found.st_ino))
            total += found.st_blocks * 512
    return total
