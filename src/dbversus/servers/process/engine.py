"""Where the engine is, and how it is started: with which rights and in what environment (docs/engine-protocol.md)."""

import json
import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import Any

from dbversus.errors import RunError
from dbversus.host.program import environment
from dbversus.host.user import ServerUser

ENGINE = "dbversus-engine"
_LIMIT_S = 600


def engine_binary() -> Path:
    """Path of the engine: what DBVERSUS_ENGINE names, in the package, in the source tree, or in PATH. Raises RunError."""
    package = Path(__file__).resolve().parents[2]
    if named := os.environ.get("DBVERSUS_ENGINE"):
        if found := _executable(Path(named)):
            return found
        raise RunError(f"DBVERSUS_ENGINE is {named}; it has to name the program {ENGINE}, or the folder that holds it.")
    source = package.parents[1] / "engine"
    for place in (package / "bin", source / "target/release"):
        if found := _executable(place):
            return found
    if in_path := shutil.which(ENGINE):
        return Path(in_path)
    raise RunError(_no_engine(source))


def _executable(place: Path) -> Path | None:
    path = place / ENGINE if place.is_dir() else place
    return path if path.is_file() and os.access(path, os.X_OK) else None


def _no_engine(source: Path) -> str:
    if (source / "Cargo.toml").is_file():
        return f"The engine of {source.parent} is not built; `make engine` builds it, or DBVERSUS_ENGINE names one."
    system, machine = platform.system().lower(), platform.machine()
    libc = "-".join(platform.libc_ver()) or "another libc"
    return (
        f"This dbversus was installed without an engine for {system}-{machine} ({libc}); accepted: a dbversus wheel for Linux on "
        "x86_64 or aarch64 with glibc 2.28 or later, or an engine built from source that DBVERSUS_ENGINE names (docs/install.md)."
    )


def engine_command(user: ServerUser | None) -> list[str]:
    """`user`: whose rights it gives its own up for once it runs, since this user may be unable to reach it."""
    return [str(engine_binary()), *(["--user", f"{user.uid}:{user.gid}"] if user and user.switch else [])]


def engine_environment(data: Path) -> dict[str, str]:
    """`data`: the folder with staged data files."""
    return environment({"DBVERSUS_DATA": str(data)})


def ask_engine(user: ServerUser, *commands: dict[str, Any]) -> dict[str, Any]:
    """The last line that an engine of its own answers `commands` with: an error, or that of the last command."""
    lines = "".join(f"{json.dumps(command)}\n" for command in commands)
    done = subprocess.run(
        engine_command(user),
        input=lines.encode(),
        capture_output=True,
        cwd="/",
        env=environment(),
        start_new_session=True,  # Ctrl-C is for us
        timeout=_LIMIT_S,
    )
    try:
        replies: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
        return next((reply for reply in replies if "error" in reply), None) or replies[len(commands) - 1]
    except (ValueError, IndexError):  # a library that was loaded has ended it, or writes to its output
        words = done.stderr.decode(errors="replace").strip() or f"it left with status {done.returncode}"
        raise RunError(f"The engine cannot be asked: {words}.") from None
