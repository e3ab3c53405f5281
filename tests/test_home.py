import os
from pathlib import Path

import pytest

from dbversus.errors import RunError, UsageError
from dbversus.home import home_dir, private_dir, public_dir, shipped


def test_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBVERSUS_HOME", "/some/where")
    assert home_dir() == Path("/some/where")
    monkeypatch.delenv("DBVERSUS_HOME")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert home_dir() == Path("/var/cache/dbversus")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert home_dir() == Path("/xdg/dbversus")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/me")
    assert home_dir() == Path("/home/me/.cache/dbversus")


def test_public_whatever_the_umask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBVERSUS_HOME", str(tmp_path / "a" / "home"))
    before = os.umask(0o077)
    try:
        folder = public_dir("builds", "postgres")
    finally:
        os.umask(before)
    for path in (folder, folder.parent, folder.parent.parent, tmp_path / "a"):
        assert path.stat().st_mode & 0o777 == 0o755
    assert public_dir("builds", "postgres") == folder


@pytest.mark.parametrize("umask", [0o022, 0o000, 0o077])
def test_private_whatever_the_umask_and_whoever_made_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, umask: int
) -> None:
    monkeypatch.setenv("DBVERSUS_HOME", str(tmp_path / "home"))
    before = os.umask(umask)
    try:
        public_dir("snapshots")
        folders = private_dir("snapshots"), private_dir("data")
    finally:
        os.umask(before)
    assert [path.stat().st_mode & 0o777 for path in folders] == [0o700, 0o700]
    assert (tmp_path / "home").stat().st_mode & 0o777 == 0o755


def test_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("DBVERSUS_HOME", str(tmp_path / "file"))
    with pytest.raises(RunError, match="set DBVERSUS_HOME"):
        public_dir("builds")
    with pytest.raises(RunError, match="set DBVERSUS_HOME"):
        private_dir("data")


def test_what_comes_with_dbversus_is_found_in_its_source_tree() -> None:
    (experiments,) = shipped("experiments")
    assert (experiments / "durability.toml").is_file()
    with pytest.raises(RunError, match=r"A part of dbversus is missing: neither .*no-such-folder.* install it again"):
        shipped("no-such-folder")


def test_a_user_without_a_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(_: object) -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("DBVERSUS_HOME", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: 4242)
    monkeypatch.setattr(Path, "expanduser", unknown)
    with pytest.raises(UsageError, match=r"no home directory .* set DBVERSUS_HOME"):
        home_dir()
