"""Pins of packages: which is fetched first, what npm's metadata says, and that what was written is kept."""

import json
import tomllib
from pathlib import Path

import pin_builds
import pytest

from dbversus.builds.catalog import CatalogEntry, Layout
from dbversus.builds.client import Fetched, Progress
from dbversus.builds.install import PROVIDERS
from dbversus.errors import RunError

SHA512 = f"sha512-{'A' * 86}=="


def entry(version: str, provider: str = "shelf", package: str = "") -> CatalogEntry:
    return CatalogEntry("postgres", version, provider, "s", package or f"pkg:{version}", Layout())


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """What was fetched or looked up; the shelf has no 17.1, npm no digest of 1.0.2."""
    asked: list[str] = []

    def fetch(entry: CatalogEntry, into: Path, progress: Progress) -> Fetched:
        asked.append(entry.package)
        if entry.version == "17.1":
            raise RunError("there is none")
        (into / "a.jar").write_bytes(b"abc")
        return Fetched((into / "a.jar",), entry.version)

    def view(command: list[str], progress: Progress) -> str:
        asked.append(command[3])
        told = [
            {"version": "1.0.1", "dist.integrity": SHA512},
            {"version": "1.0.2"},
            {"version": "1.0.3", "dist.integrity": "sha1-x"},
        ]
        return json.dumps(told if "||" in command[3] else told[0])

    monkeypatch.setitem(PROVIDERS, "shelf", fetch)
    monkeypatch.setattr(pin_builds, "run_client", view)
    monkeypatch.setattr(pin_builds, "find_client", lambda name: name)
    monkeypatch.setattr(pin_builds, "PINS", tmp_path / "pins.toml")
    return asked


def run(monkeypatch: pytest.MonkeyPatch, entries: list[CatalogEntry], *arguments: str) -> int:
    monkeypatch.setattr(pin_builds, "available", lambda machine: entries if machine == "x86_64" else [])
    monkeypatch.setattr("sys.argv", ["pin_builds.py", *arguments])
    return pin_builds.main()


def test_the_newest_of_each_major_version_comes_first() -> None:
    entries = [entry(version) for version in ("9.6.1", "17.2", "17.10", "18.0", "17.9")]
    assert [one.version for one in pin_builds.newest_first(entries)] == ["18.0", "17.10", "9.6.1", "17.9", "17.2"]


def test_pins_are_written_and_what_fails_is_left(
    asked: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    npm = [entry(f"12.{minor}", "npm", f"@x/y@1.0.{minor}") for minor in (1, 2, 3)]
    assert run(monkeypatch, [entry("17.2"), entry("17.1"), entry("15.1", "apt", "pg"), *npm[:1]]) == 1
    assert asked == ["@x/y@1.0.1", "pkg:17.2", "pkg:17.1"]
    sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    pins = tomllib.loads((tmp_path / "pins.toml").read_text())
    assert pins == {"x86_64": {"npm:@x/y@1.0.1": SHA512, "shelf:pkg:17.2": sha256}, "aarch64": {}}
    said = capsys.readouterr()
    assert "shelf:pkg:17.1: there is none" in said.err
    assert "x86_64: 3 packages, 1 without a pin" in said.out


def test_versions_of_one_package_are_looked_up_at_once(asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [entry(f"12.{minor}", "npm", f"@x/y@1.0.{minor}") for minor in (1, 2, 3)]
    assert run(monkeypatch, entries, "--minutes", "0") == 1
    assert asked == ["@x/y@1.0.1 || 1.0.2 || 1.0.3"]
