import os
from collections.abc import Callable
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


def _given_away(path: Path) -> None:
    os.chown(path, 54321, 54321)


def _linked(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


OPENED = [
    pytest.param(lambda path: path.chmod(0o777), "may be written to by other users", id="mode"),
    pytest.param(_linked, "is a link", id="link"),
    pytest.param(
        _given_away,
        "belongs to another user",
        id="owner",
        marks=pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away"),
    ),
]


@pytest.mark.parametrize(("change", "words"), OPENED)
@pytest.mark.parametrize("parts", [("run",), ("builds",), ("builds", "postgres"), ("work",), ("snapshots",), ("data",)])
def test_a_folder_of_others_in_the_home_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parts: tuple[str, ...], change: Callable[[Path], None], words: str
) -> None:
    monkeypatch.setenv("DBVERSUS_HOME", str(tmp_path / "home"))
    change(public_dir(*parts))
    with pytest.raises(RunError, match=f"{words}.*nothing that it holds can be trusted"):
        public_dir(*parts)


def test_a_home_that_every_user_may_write_to_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBVERSUS_HOME", str(tmp_path / "home"))
    public_dir("run")
    (tmp_path / "home").chmod(0o777)
    with pytest.raises(
        RunError, match=r"home may be written to by every user, .* set DBVERSUS_HOME to a folder of yours"
    ):
        public_dir("run")
    (tmp_path / "home").chmod(0o1777)
    assert public_dir("run")
