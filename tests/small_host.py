"""Where servers are quick: base configs as on a host with little memory, and a directory that is no disk.

With small caches servers start in less time, are looked through for unwritten pages in less, and have smaller logs to copy.
Most of the rest would be waiting for a disk: a thousand small files of PostgreSQL are copied for every target and block.
"""

import os
import re
import shutil
import tempfile
from pathlib import Path

CONFIGS = Path(__file__).parents[1] / "configs"
MEMORY = "512MB"
SHARED_MEMORY = Path("/dev/shm")
# what experiments count on; they take less than a tenth of it
ROOM_BYTES = 8 * 2**30
LEAST_LOG = ("{max(512MB,", "{max(32MB,")


def write_base_configs(folder: Path) -> None:
    """Makes `folder` one in which `dbversus` takes this host for one with little memory: ./configs comes first there."""
    for source in sorted(CONFIGS.glob("*/base.conf")):
        path = folder / "configs" / source.parent.name / source.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(re.sub(r"\{[^{}]*\}", _for_little_memory, source.read_text()))


def folder_in_memory() -> Path | None:
    """Where directories may be made that are in memory, if there is room for experiments."""
    with_rights = os.access(SHARED_MEMORY, os.W_OK) and not os.statvfs(SHARED_MEMORY).f_flag & os.ST_NOEXEC
    return SHARED_MEMORY if with_rights and shutil.disk_usage(SHARED_MEMORY).free >= ROOM_BYTES else None


def new_folder(prefix: str, on_disk: bool = False) -> Path:
    """A temporary directory that every user may enter, in memory unless it has to be `on_disk`."""
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=None if on_disk else folder_in_memory()))
    folder.chmod(0o755)
    return folder


def _for_little_memory(expression: re.Match[str]) -> str:
    return re.sub(r"\bmemory\b", MEMORY, expression[0]).replace(*LEAST_LOG)
