import shutil
import subprocess
from pathlib import Path

import pytest

from dbversus.builds.client import NotFoundError, Progress
from dbversus.builds.libraries import bring_along, library_path
from dbversus.builds.providers import apt
from dbversus.errors import RunError, UsageError

from .conftest import silent
from .samples import deb, link, member

needs_dpkg = pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="no dpkg-deb here")

FILES = {
    "libaio1": [
        member("./lib/some-linux-gnu/libaio.so.1.0.1"),
        link("./lib/some-linux-gnu/libaio.so.1", "libaio.so.1.0.1"),
    ],
    "libnuma1": [member("./usr/lib/some-linux-gnu/libnuma.so.1"), member("./usr/share/doc/libnuma1/copyright")],
    "libjemalloc2": [member("./usr/lib/some-linux-gnu/libjemalloc.so.2")],
    "libmimalloc2.0": [member("./usr/lib/some-linux-gnu/libmimalloc.so.3")],
    "libtcmalloc-minimal4": [member("./usr/share/x")],
}


@pytest.fixture
def fetched(home: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of packages fetched so far; packages come from FILES."""
    names: list[str] = []

    def download(packages: list[str], suite: str, arch: str, into: Path, progress: Progress) -> list[Path]:
        into.mkdir()
        names.extend(packages)
        for name in packages:
            if name not in FILES:
                raise NotFoundError(f"apt-get knows no such package: {name}")
        return [deb(into / f"{name}_1_{arch}.deb", FILES[name]) for name in packages]

    monkeypatch.setattr(apt, "download", download)
    return names


@needs_dpkg
def test_libraries_of_several_packages_side_by_side(fetched: list[str], home: Path, tmp_path: Path) -> None:
    bring_along(["libaio1", "libnuma1"], tmp_path / "libraries", silent)
    files = sorted(path.name for path in (tmp_path / "libraries").iterdir())
    assert files == ["libaio.so.1", "libaio.so.1.0.1", "libnuma.so.1"]
    assert (tmp_path / "libraries/libaio.so.1").read_bytes() == b"x"
    assert not [path for path in home.rglob("*") if "partial" in path.name]


@needs_dpkg
def test_a_package_is_fetched_once(fetched: list[str], tmp_path: Path) -> None:
    for name in ("a", "b"):
        bring_along(["libaio1"], tmp_path / name, silent)
        assert library_path("jemalloc", silent).name == "libjemalloc.so.2"
    assert fetched == ["libaio1", "libjemalloc2"]


@needs_dpkg
def test_every_user_may_read_them(fetched: list[str], home: Path) -> None:
    path = library_path("jemalloc", silent)
    assert path.stat().st_mode & 0o004
    for folder in path.parents:
        if folder.is_relative_to(home):
            assert folder.stat().st_mode & 0o005 == 0o005, folder


@needs_dpkg
@pytest.mark.parametrize(
    ("name", "words"),
    [("mimalloc", r"libmimalloc2\.0 .* holds no libmimalloc\.so\.2\.0"), ("tcmalloc", "holds no shared libraries")],
)
def test_packages_that_are_not_as_expected(fetched: list[str], home: Path, name: str, words: str) -> None:
    with pytest.raises(RunError, match=words):
        library_path(name, silent)
    assert not [path for path in home.rglob("*") if "partial" in path.name]


def test_package_that_does_not_exist(fetched: list[str], home: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="libgone9"):
        bring_along(["libgone9"], tmp_path / "libraries", silent)
    assert not (home / "libraries/libgone9").exists()


def test_unknown_name_lists_those_known(fetched: list[str]) -> None:
    with pytest.raises(UsageError, match=r"no library 'hoard' .* those that can are jemalloc, tcmalloc, mimalloc"):
        library_path("hoard", silent)
    assert fetched == []


@pytest.mark.e2e
@pytest.mark.skipif(shutil.which("apt-get") is None, reason="apt-get is not here")
def test_real_allocators_can_be_preloaded(home: Path) -> None:
    for name in ("jemalloc", "tcmalloc", "mimalloc"):
        path = library_path(name, silent)
        command = ["cat", "/proc/self/maps"]
        maps = subprocess.run(command, env={"LD_PRELOAD": str(path)}, capture_output=True, text=True, check=True)
        assert str(path.resolve()) in maps.stdout
        assert maps.stderr == ""
