"""How much room files take."""

from pathlib import Path


def used_bytes(directory: Path) -> int:
    """Bytes allocated on disk below a directory; files that vanish while we look are passed over."""
    total = 0
    for path in directory.rglob("*"):
        try:
            found = path.lstat()
        except OSError:
            continue
        total += found.st_blocks * 512
    return total
