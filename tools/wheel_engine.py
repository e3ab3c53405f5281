"""Puts the engine into the wheel that `make wheel` builds. Without these variables a build of the package has no engine."""

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FILES = ("dbversus-engine", "libdbversus_inject.so", "LICENSES.txt")


class EngineHook(BuildHookInterface[Any]):
    """DBVERSUS_WHEEL_ENGINE: the folder with FILES; DBVERSUS_WHEEL_ARCH: the machine they are for, as `uname -m` says it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        folder, arch = (os.environ.get(f"DBVERSUS_WHEEL_{name}") for name in ("ENGINE", "ARCH"))
        if not (folder and arch):
            return
        build_data["pure_python"] = False
        # auditwheel replaces it by the oldest glibc that was asked for, once it has checked the files
        build_data["tag"] = f"py3-none-linux_{arch}"
        for name in FILES:
            build_data["force_include"][str(Path(folder, name).resolve(strict=True))] = f"dbversus/bin/{name}"
