import random
import shutil
import stat
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from dbversus import packed
from dbversus.builds.packages.archive import make_public, unpack, unpack_system
from dbversus.errors import RunError

from ..samples import deb, link, member, package, tar_bytes

HARD = tarfile.LNKTYPE


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("mode", ["w:xz", "w:gz", "w:bz2", "w:"])
def test_tar(tmp_path: Path, mode: str) -> None:
    members = [member("bin/a", b"A", 0o755), link("bin/b", "a"), link("bin/c", "bin/a", HARD), link("lib", "bin")]
    unpack(write(tmp_path / "a.tar", tar_bytes(members, mode)), tmp_path / "out")
    for name in ("bin/a", "bin/b", "bin/c", "lib/a"):
        assert (tmp_path / "out" / name).read_bytes() == b"A"
    assert (tmp_path / "out/bin/a").stat().st_mode & stat.S_IXUSR


def test_tar_inside_a_zip(tmp_path: Path) -> None:
    unpack(package(tmp_path / "a.jar"), tmp_path / "out", "*.txz")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["bin", "share"]


@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_what_is_not_wanted_is_skipped(tmp_path: Path, kind: str) -> None:
    names = ["top/bin/server", "top/bin/server-debug", "top/test/deep/x", "top/lib/a.a", "top/lib/a.so"]
    archive = tmp_path / f"a.{kind}"
    if kind == "tar":
        archive.write_bytes(tar_bytes([member(name) for name in names]))
    else:
        with zipfile.ZipFile(archive, "w") as content:
            for name in names:
                content.writestr(name, "x")
    unpack(archive, tmp_path / "out", skip=["*test/*", "*-debug", "*.a"])
    files = sorted(path.name for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert files == ["a.so", "server"]


def test_a_hostile_member_is_refused_even_if_it_would_be_skipped(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="points outside"):
        unpack(write(tmp_path / "a.tar", tar_bytes([member("../test/x")])), tmp_path / "out", skip=["*test/*"])


def test_zip_keeps_programs_and_links(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as content:
        for name, kind, text in (("bin/a", stat.S_IFREG | 0o755, "A"), ("bin/b", stat.S_IFLNK | 0o777, "a")):
            info = zipfile.ZipInfo(name)
            info.external_attr = kind << 16
            content.writestr(info, text)
    unpack(tmp_path / "a.whl", tmp_path / "out")
    assert (tmp_path / "out/bin/b").is_symlink()
    assert (tmp_path / "out/bin/b").stat().st_mode & stat.S_IXUSR


@pytest.mark.parametrize(
    "attack",
    [
        [member("/etc/evil")],
        [member("../evil")],
        [member("a/../../evil")],
        [link("a", "/etc")],
        [link("a", "..")],
        [link("a/b", "../../evil")],
        [link("a", "../evil", HARD)],
        [link("a", "/etc/passwd", HARD)],
        [member("inner/x"), link("a", "inner"), member("a/evil")],
        [link("a", "."), link("b", "a/..")],
        [link("a", "inner"), member("a/../evil")],
        [(tarfile.TarInfo("device"), b"")],
    ],
    ids=lambda attack: "+".join(info.name for info, _ in attack),
)
def test_hostile_tar_is_refused_and_nothing_is_left(
    tmp_path: Path, attack: list[tuple[tarfile.TarInfo, bytes]]
) -> None:
    for info, _ in attack:
        if info.name == "device":
            info.type = tarfile.CHRTYPE
    archive = write(tmp_path / "evil.tar", tar_bytes([member("good"), *attack], "w:"))
    sandbox = tmp_path / "sandbox"
    with pytest.raises(RunError, match=r"evil\.tar is refused|points outside|outside"):
        unpack(archive, sandbox / "out")
    assert not [path for path in sandbox.rglob("*") if path.name != "out"]
    assert not (sandbox / "out").exists()


@pytest.mark.parametrize("name", ["/evil", "../evil", "a/../../evil", "..\\evil"])
def test_hostile_zip_is_refused_and_nothing_is_left(tmp_path: Path, name: str) -> None:
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as content:
        content.writestr("good", "x")
        content.writestr(name, "x")
    with pytest.raises(RunError, match=r"evil\.zip is refused.*evil"):
        unpack(tmp_path / "evil.zip", tmp_path / "sandbox" / "out")
    assert list((tmp_path / "sandbox").iterdir()) == []


@pytest.mark.parametrize("members", [[("a", "/etc")], [("a", "../..")], [("a", "inner"), ("a/evil", None)]])
def test_hostile_links_in_a_zip(tmp_path: Path, members: list[tuple[str, str | None]]) -> None:
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as content:
        for name, target in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = ((stat.S_IFLNK if target else stat.S_IFREG) | 0o777) << 16
            content.writestr(info, target or "x")
    with pytest.raises(RunError, match="is refused"):
        unpack(tmp_path / "evil.zip", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_hostile_inner_archive(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.jar", "w") as jar:
        jar.writestr("x.txz", tar_bytes([member("../evil")]))
    with pytest.raises(RunError, match=r"x\.txz is refused"):
        unpack(tmp_path / "a.jar", tmp_path / "out", "*.txz")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jar"]


@pytest.mark.parametrize(
    "links",
    [
        [("a/a/a/b", "../../.."), ("z", "a/a/a/b/../../../..")],
        [("d/A", "b/../../x"), ("d/b", "../y")],
        [("one", "two/../.."), ("two", "a/a")],
    ],
    ids=["through another", "changed by a later one", "not there yet"],
)
@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_links_that_lead_outside_really_are_refused(tmp_path: Path, kind: str, links: list[tuple[str, str]]) -> None:
    """By their text all of them stay inside."""
    archive = tmp_path / f"evil.{kind}"
    if kind == "tar":
        members = [member("a/a/a/x"), member("y/x"), *(link(name, target) for name, target in links)]
        archive.write_bytes(tar_bytes(members))
    else:
        _zip_links(archive, links)
    with pytest.raises(RunError, match=r"evil\.\w+ is refused: .*outside"):
        unpack(archive, tmp_path / "sandbox/out")
    assert list((tmp_path / "sandbox").iterdir()) == []


def _zip_links(archive: Path, links: list[tuple[str, str]], *others: tuple[str, bytes]) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as content:
        content.writestr("a/a/a/x", "x")
        content.writestr("y/x", "x")
        for name, target in links:
            info = zipfile.ZipInfo(name)
            info.external_attr = (stat.S_IFLNK | 0o777) << 16
            content.writestr(info, target)
        for name, text in others:
            content.writestr(name, text)


def test_an_inner_zip_that_is_called_a_tar_goes_through_no_link_of_the_outer_one(tmp_path: Path) -> None:
    _zip_links(tmp_path / "inner.zip", [], (".shell/z/escaped/owned.txt", b"owned"), ("y/good", b"x"))
    inner = (tmp_path / "inner.zip").read_bytes()
    _zip_links(tmp_path / "evil.jar", [("z", "a/a")], ("inner.txz", inner))
    unpack(tmp_path / "evil.jar", tmp_path / "sandbox/out", "*.txz")
    assert not [path for path in (tmp_path / "sandbox/out").rglob("*") if path.is_symlink()]
    assert (tmp_path / "sandbox/out/.shell/z/escaped/owned.txt").read_text() == "owned"
    assert [path.name for path in (tmp_path / "sandbox").iterdir()] == ["out"]


def test_a_link_longer_than_any_path_is_refused(tmp_path: Path) -> None:
    _zip_links(tmp_path / "evil.zip", [("z", "a" * 100_000)])
    with pytest.raises(RunError, match="link 'z' is longer than any path"):
        unpack(tmp_path / "evil.zip", tmp_path / "out")


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> int:
    """What may come out of any archive, instead of 1 GiB."""
    monkeypatch.setattr(packed, "PLAIN_BYTES", 1 << 20)
    return 1 << 20


def _bomb(path: Path, kind: str, size: int) -> Path:
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as content:
            content.writestr("zeros", bytes(size))
    elif kind == "deb":
        return deb(path, [member("usr/zeros", bytes(size))])
    elif kind == "long name":
        info = tarfile.TarInfo("x" * size)
        path.write_bytes(tar_bytes([(info, b"")]))
    elif kind == "empty files":
        path.write_bytes(tar_bytes([member(str(number), b"") for number in range(size // 4096 + 1)]))
    else:
        path.write_bytes(tar_bytes([member("zeros", bytes(size))], kind))
    return path


@pytest.mark.parametrize("kind", ["w:gz", "w:xz", "w:bz2", "zip", "deb", "long name", "empty files"])
def test_what_unpacks_to_too_much_is_refused_and_nothing_is_left(tmp_path: Path, kind: str, little: int) -> None:
    folder = tmp_path / "sandbox/out"
    archive = _bomb(tmp_path / ("a.deb" if kind == "deb" else "a"), kind, 20 * little)
    with pytest.raises(
        RunError, match=r"/a\S* unpacks to more than \d+\.\d GB and is refused: accepted are 1\.1 GB \(1 GiB\)"
    ):
        unpack(archive, folder)
    assert list((tmp_path / "sandbox").iterdir()) == []


def test_what_an_inner_archive_holds_counts_for_the_outer_one(tmp_path: Path, little: int) -> None:
    inner = tar_bytes([member("zeros", bytes(20 * little))])
    with zipfile.ZipFile(tmp_path / "a.jar", "w") as jar:
        jar.writestr("a.txz", inner)
    with pytest.raises(RunError, match=r"a\.jar unpacks to more than"):
        unpack(tmp_path / "a.jar", tmp_path / "out", "*.txz")
    assert [path.name for path in tmp_path.iterdir()] == ["a.jar"]


def test_holes_count(tmp_path: Path, little: int) -> None:
    with (tmp_path / "hollow").open("wb") as file:
        file.truncate(20 * little)
    subprocess.run(["tar", "--sparse", "-czf", "a.tar.gz", "hollow"], cwd=tmp_path, check=True)
    with pytest.raises(RunError, match="unpacks to more than"):
        unpack(tmp_path / "a.tar.gz", tmp_path / "out")


@pytest.mark.parametrize("kind", ["w:gz", "w:xz", "zip", "w:"])
def test_what_is_plausible_is_unpacked(tmp_path: Path, kind: str, little: int) -> None:
    """A hundred times its own size, where that is more; or as much as any may hold."""
    unpack(_bomb(tmp_path / "small", kind, little - 40_000), tmp_path / "out")
    assert (tmp_path / "out/zeros").stat().st_size == little - 40_000
    noise = random.Random(1).randbytes(little)
    mode = "w:xz" if kind == "zip" else kind
    (tmp_path / "large").write_bytes(tar_bytes([member("noise", noise * 4), member("more", noise)], mode))
    unpack(tmp_path / "large", tmp_path / "out2")
    assert (tmp_path / "out2/noise").read_bytes() == noise * 4


def test_inner_archive_missing(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"holds 0 members '\*\.tgz'"):
        unpack(package(tmp_path / "a.jar"), tmp_path / "out", "*.tgz")


@pytest.mark.parametrize("keep", [0, 10, 200])
def test_damaged_archive(tmp_path: Path, keep: int) -> None:
    whole = tar_bytes([member("a", bytes(range(256)) * 40)], "w:gz")
    with pytest.raises(RunError):
        unpack(write(tmp_path / "a.tgz", whole[:keep]), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine").touch()
    with pytest.raises(RunError, match="not empty"):
        unpack(package(tmp_path / "a.jar"), tmp_path / "out")
    assert (tmp_path / "out/mine").exists()


def test_make_public(tmp_path: Path) -> None:
    unpack(package(tmp_path / "a.jar"), tmp_path / "out", "*.txz")
    (tmp_path / "out/share").chmod(0o700)
    make_public(tmp_path / "out")
    modes = {name: (tmp_path / "out" / name).stat().st_mode & 0o777 for name in ("bin/postgres", "share", "share/a")}
    assert modes == {"bin/postgres": 0o755, "share": 0o755, "share/a": 0o644}


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="no dpkg-deb here")
class TestDebian:
    def test_packages_share_a_root(self, tmp_path: Path) -> None:
        first = deb(tmp_path / "1.deb", [member("./lib/x/ld.so", b"old"), link("./lib64/ld.so", "/lib/x/ld.so")])
        second = deb(tmp_path / "2.deb", [member("./usr/lib/x/ld.so", b"new"), link("./usr/lib/l", "x/ld.so")])
        unpack_system((first, second), tmp_path / "root")
        for name in ("lib/x/ld.so", "usr/lib/x/ld.so", "usr/lib64/ld.so", "usr/lib/l"):
            assert (tmp_path / "root" / name).read_bytes() == b"new"

    def test_documentation_is_left_out(self, tmp_path: Path) -> None:
        members = [member("./usr/share/doc/x/copyright"), member("./usr/share/x/errmsg.sys")]
        unpack_system((deb(tmp_path / "1.deb", members),), tmp_path / "root")
        assert [path.name for path in (tmp_path / "root/usr/share").rglob("*") if path.is_file()] == ["errmsg.sys"]

    def test_hostile_package(self, tmp_path: Path) -> None:
        with pytest.raises(RunError, match=r"evil\.deb is refused"):
            unpack_system((deb(tmp_path / "evil.deb", [link("./a", "../../etc")]),), tmp_path / "root")
        assert not (tmp_path / "root").exists()

    def test_damaged_package(self, tmp_path: Path) -> None:
        package = deb(tmp_path / "cut.deb", [member("./a", bytes(range(256)) * 40)])
        package.write_bytes(package.read_bytes()[:-60])
        with pytest.raises(RunError, match=r"cut\.deb is damaged"):
            unpack_system((package,), tmp_path / "root")
        assert not (tmp_path / "root").exists()
