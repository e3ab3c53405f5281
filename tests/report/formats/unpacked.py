"""What a report holds, whatever file it is."""

import zipfile
from pathlib import Path


def unpacked(path: Path) -> bytes:
    if not zipfile.is_zipfile(path):
        return path.read_bytes()
    with zipfile.ZipFile(path) as parts:
        return b"".join(parts.read(name) for name in parts.namelist())
