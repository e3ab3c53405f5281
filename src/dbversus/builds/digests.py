"""Digests of packages: pinned ones of the catalog, and for what is not pinned, those of the first fetch.

A digest is a SHA-256 in hexadecimal digits, or as npm's metadata has it, `sha512-` and base64.
"""

import base64
import hashlib
import json
import re
from pathlib import Path

from dbversus.errors import RunError, reason
from dbversus.home import public_dir

_DIGEST = re.compile(r"[0-9a-fA-F]{64}|sha512-[A-Za-z0-9+/]{86}==")


def is_digest(text: str) -> bool:
    """Whether `text` is a digest of one of the two kinds."""
    return _DIGEST.fullmatch(text) is not None


def check_digest(file: Path, digest: str) -> None:
    """RunError when the file is not the one expected."""
    algorithm, expected, found = "sha256", digest.lower(), ""
    if digest.startswith("sha512-"):
        algorithm, expected = "sha512", digest
    with file.open("rb") as content:
        found = _written(hashlib.file_digest(content, algorithm).digest(), algorithm)
    if found != expected:
        raise RunError(f"{file.name} has the wrong checksum: expected {algorithm} {expected}, got {found}; refused")


def _written(digest: bytes, algorithm: str) -> str:
    return digest.hex() if algorithm == "sha256" else f"{algorithm}-{base64.b64encode(digest).decode()}"


def check_as_first_fetched(package: str, sha256: str) -> None:
    """RunError when a package that no pin is known of is another than at its first fetch, which is remembered here.

    `package`: with its provider before it. `clean` does not forget. The caller holds the provider's lock.
    """
    memory = public_dir("cache") / "digests.json"
    known = _read(memory)
    if known.setdefault(package, sha256) != sha256:
        raise RunError(
            f"{package} is not what it was when it was first fetched: sha256 {known[package]} then, {sha256} now; refused."
            f" If its maker is known to have replaced it, remove it from {memory}"
        )
    partial = memory.with_name(f".{memory.name}.partial")
    partial.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    partial.replace(memory)


def _read(memory: Path) -> dict[str, str]:
    try:
        known = json.loads(memory.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise RunError(
            f"{memory}, the checksums of packages fetched so far, cannot be read: {reason(error)}"
        ) from error
    if not isinstance(known, dict):
        raise RunError(f"{memory} holds no checksums of packages; remove it")
    return known
