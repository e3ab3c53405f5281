"""One version in all places that say one."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import dbversus

ROOT = Path(__file__).resolve().parents[1]


def test_the_command_line_says_the_version() -> None:
    command = [sys.executable, "-m", "dbversus", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)

    assert done.stdout == f"dbversus {dbversus.__version__}\n"


def test_the_newest_entry_of_the_changelog_is_of_this_version() -> None:
    """`## 0.2.0 (unreleased)` until its release, `## 0.2.0 (2026-12-01)` from then on."""
    newest = re.search(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.M)

    assert newest
    version, _, when = newest[1].partition(" ")
    assert version == dbversus.__version__
    assert re.fullmatch(r"\((unreleased|\d{4}-\d\d-\d\d)\)", when)


def test_engine_and_library_have_this_version() -> None:
    for manifest in ("engine/Cargo.toml", "engine/inject/Cargo.toml"):
        package = tomllib.loads((ROOT / manifest).read_text())["package"]

        assert package["version"] == dbversus.__version__, manifest
