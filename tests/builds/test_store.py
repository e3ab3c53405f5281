import multiprocessing
import multiprocessing.synchronize
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from dbversus.builds import catalog, install, store
from dbversus.builds.catalog import CatalogEntry, Layout
from dbversus.builds.client import Fetched, NotFoundError, Progress
from dbversus.builds.install import PROVIDERS
from dbversus.builds.manifest import MANIFEST
from dbversus.builds.model import Build
from dbversus.builds.packages.inspect import sha256_of
from dbversus.builds.target import parse_target
from dbversus.errors import RunError, UsageError

from .conftest import silent
from .samples import member, mysql_server, package, server, tar_bytes

ENTRY = CatalogEntry(
    "postgres", "17.2", "shelf", "shelf", "pkg", Layout(archive="*.txz"), compiled="cc", lacks=("psql",)
)


@pytest.fixture
def shelf(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A provider that takes packages from a folder, and a catalog with one entry for it."""

    def fetch(entry: CatalogEntry, into: Path, progress: Progress) -> Fetched:
        source = tmp_path / f"{entry.version}.jar"
        if not source.exists():
            raise NotFoundError("shelf has no such package")
        with (tmp_path / "fetches").open("a") as log:
            log.write("x")
        return Fetched((Path(shutil.copy(source, into)),), entry.version)

    package(tmp_path / "17.2.jar")
    monkeypatch.setitem(PROVIDERS, "shelf", fetch)
    offer(monkeypatch, ENTRY)
    return tmp_path


def offer(monkeypatch: pytest.MonkeyPatch, entry: CatalogEntry) -> None:
    monkeypatch.setattr(catalog, "select", lambda dbms, selector, is_ready: entry)


def fetches(shelf: Path) -> int:
    return len((shelf / "fetches").read_text())


def leftovers(home: Path) -> list[str]:
    return [path.name for path in home.rglob("*") if "partial" in path.name]


def test_obtain_fetches_once(shelf: Path, home: Path) -> None:
    assert store.resolve(parse_target("pg:17")) == ENTRY
    build = store.obtain(parse_target("pg:17"), silent)
    assert (build.version, build.provider, build.compiled) == ("17.2", "shelf", "cc")
    assert build.prefix == home / "builds/postgres/shelf-17.2/root"
    assert build.checksum == sha256_of(build.prefix / "bin/postgres")
    assert store.obtain(parse_target("pg:17"), silent) == build
    assert store.resolve(parse_target("pg:17")) == build
    assert store.list_installed() == [build]
    assert fetches(shelf) == 1
    assert leftovers(home) == []


def test_everybody_may_read_and_run_it(shelf: Path, home: Path) -> None:
    build = store.obtain(parse_target("pg:17"), silent)
    for path in (build.prefix, *build.prefix.rglob("*"), *build.prefix.parents):
        if path.is_relative_to(home):
            wanted = 0o005 if path.is_dir() or path.name == "postgres" else 0o004
            assert path.stat().st_mode & wanted == wanted, path


def test_damaged_build_is_fetched_again(shelf: Path) -> None:
    build = store.obtain(parse_target("pg:17"), silent)
    (build.prefix / "bin/postgres").write_text("#!/bin/sh\n")
    assert store.obtain(parse_target("pg:17"), silent) == build
    assert fetches(shelf) == 2


def test_touched_build_is_still_the_same(shelf: Path) -> None:
    build = store.obtain(parse_target("pg:17"), silent)
    (build.prefix / "bin/postgres").touch()
    store.obtain(parse_target("pg:17"), silent)
    assert fetches(shelf) == 1


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": 99}', '{"format": 1}'])
def test_folder_without_a_whole_manifest_is_no_build(shelf: Path, content: str) -> None:
    build = store.obtain(parse_target("pg:17"), silent)
    (build.prefix.parent / MANIFEST).write_text(content)
    assert store.list_installed() == []
    assert store.obtain(parse_target("pg:17"), silent) == build


def test_what_a_killed_process_left_is_removed(shelf: Path, home: Path) -> None:
    for name in (".partial-shelf-17.2", ".partial-npm-9"):
        (home / "builds/postgres" / name / "root").mkdir(parents=True)
    (home / "builds/postgres/shelf-17.2/root/bin").mkdir(parents=True)
    store.obtain(parse_target("pg:17"), silent)
    assert leftovers(home) == []


def test_what_a_server_does_not_need_is_not_unpacked(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, replace(ENTRY, layout=Layout(archive="*.txz", skip=("share/*",))))
    build = store.obtain(parse_target("pg:17"), silent)
    assert sorted(path.name for path in build.prefix.rglob("*")) == ["bin", "postgres"]


def test_a_build_put_together_of_pieces(shelf: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server(shelf / "piece")
    with zipfile.ZipFile(shelf / "share.jar", "w") as share:
        share.writestr("english/errmsg.sys", "e")
    with zipfile.ZipFile(shelf / "17.2.jar", "w") as pieces:
        pieces.write(shelf / "piece/bin/postgres", "5/Linux-x86_64/postgres")
        pieces.write(shelf / "share.jar", "5/share_dir.jar")
    parts = {"5/Linux-*": "bin", "5/share_dir.jar": "share"}
    offer(monkeypatch, replace(ENTRY, layout=Layout(parts=parts)))
    build = store.obtain(parse_target("pg:17"), silent)
    assert (build.prefix / "share/english/errmsg.sys").read_text() == "e"
    assert leftovers(home) == []
    shutil.rmtree(build.prefix.parent)
    offer(monkeypatch, replace(ENTRY, layout=Layout(parts={"6/Linux-*": "bin"})))
    with pytest.raises(RunError, match=r"holds 0 places 6/Linux-\* where one was expected"):
        store.obtain(parse_target("pg:17"), silent)


class TestLibraries:
    @pytest.fixture(autouse=True)
    def _needs_a_library(self, shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        offer(monkeypatch, replace(ENTRY, libraries=("libx1",)))

    def test_come_along_beside_the_build(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def bring(packages: tuple[str, ...], folder: Path, progress: Progress) -> None:
            folder.mkdir()
            (folder / "libx.so.1").write_text(packages[0])

        monkeypatch.setattr(install, "bring_along", bring)
        build = store.obtain(parse_target("pg:17"), silent)
        libraries = home / "builds/postgres/shelf-17.2/libraries"
        assert build.environment == {"LD_LIBRARY_PATH": str(libraries)}
        assert (libraries / "libx.so.1").read_text() == "libx1"
        assert store.obtain(parse_target("pg:17"), silent) == build

    def test_may_be_the_hosts_when_they_cannot_be_had(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def bring(packages: tuple[str, ...], folder: Path, progress: Progress) -> None:
            folder.mkdir()
            raise RunError("no mirror")

        monkeypatch.setattr(install, "bring_along", bring)
        said: list[str] = []
        build = store.obtain(parse_target("pg:17"), said.append)
        assert build.environment == {}
        assert "libx1 cannot be brought along, so the host must have them: no mirror" in said
        assert not (home / "builds/postgres/shelf-17.2/libraries").exists()


def test_wrong_checksum_is_refused(shelf: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, replace(ENTRY, digest="0" * 64))
    with pytest.raises(RunError, match=r"17\.2\.jar has the wrong checksum"):
        store.obtain(parse_target("pg:17"), silent)
    assert store.list_installed() == []
    assert leftovers(home) == []


def test_what_is_not_pinned_is_compared_with_its_first_fetch(shelf: Path, home: Path) -> None:
    store.obtain(parse_target("pg:17"), silent)
    shutil.rmtree(home / "builds/postgres/shelf-17.2")
    store.obtain(parse_target("pg:17"), silent)
    shutil.rmtree(home / "builds/postgres/shelf-17.2")
    with zipfile.ZipFile(shelf / "17.2.jar", "a") as jar:
        jar.writestr("another", "x")
    with pytest.raises(
        RunError, match=r"shelf:pkg is not what it was when it was first fetched.*remove it from .*digests"
    ):
        store.obtain(parse_target("pg:17"), silent)
    assert store.list_installed() == []
    assert leftovers(home) == []


def test_another_version_inside_than_the_package_says(shelf: Path, home: Path) -> None:
    package(shelf / "17.2.jar", "17.3")
    with pytest.raises(RunError, match=r"should hold postgres 17\.2, but holds 17\.3"):
        store.obtain(parse_target("pg:17"), silent)
    assert not (home / "builds/postgres/shelf-17.2").exists()


def test_version_nobody_has(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, replace(ENTRY, version="12.4", listed=False))
    with pytest.raises(UsageError, match=r"PostgreSQL 12\.4 is known; nearest: 12\.3, 12\.6"):
        store.obtain(parse_target("pg:12.4"), silent)


def test_suite_that_has_moved_on(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, replace(ENTRY, moving=True))
    with pytest.raises(RunError, match=r"shelf has postgres 17\.2 now, not 17\.1; write postgres:shelf/17\.2"):
        store.obtain(parse_target("pg:17.1"), silent)


def test_moving_suite_keeps_what_was_fetched(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, replace(ENTRY, moving=True))
    build = store.obtain(parse_target("pg:17"), silent)
    offer(monkeypatch, replace(ENTRY, moving=True, version="17.9"))
    assert store.resolve(parse_target("pg:17")) == build


def test_installed_build_serves_when_the_catalog_no_longer_knows_it(
    shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = store.obtain(parse_target("pg:17"), silent)
    monkeypatch.undo()
    monkeypatch.setenv("DBVERSUS_HOME", str(build.prefix.parents[3]))
    assert store.resolve(parse_target("pg:shelf/17.2")) == build
    with pytest.raises(UsageError):
        store.resolve(parse_target("pg:shelf/17.3"))


def obtain_in_child(start: "multiprocessing.synchronize.Barrier", versions: "multiprocessing.Queue[str]") -> None:
    start.wait()
    versions.put(store.obtain(parse_target("pg:17"), silent).version)


def test_two_processes_at_once_fetch_once(shelf: Path) -> None:
    context = multiprocessing.get_context("fork")
    start, versions = context.Barrier(2), context.Queue()
    children = [context.Process(target=obtain_in_child, args=(start, versions)) for _ in range(2)]
    for child in children:
        child.start()
    assert [versions.get(timeout=600), versions.get(timeout=600)] == ["17.2", "17.2"]
    for child in children:
        child.join()
    assert fetches(shelf) == 1


def test_what_needs_no_fetching(home: Path) -> None:
    prefix = server(home / "pg", "16.1")
    found = [store.resolve(parse_target(text)) for text in ("null", "sqlite:bundled", f"pg:{prefix}", str(prefix))]
    assert all(isinstance(build, Build) for build in found)
    assert [build.version for build in found] == ["floor", "bundled", "16.1", "16.1"]


class TestAdd:
    def test_prefix_stays_where_it_is(self, home: Path) -> None:
        prefix = server(home / "pg", "17.2")
        assert store.add(prefix, "mine", progress=silent).prefix == prefix
        for text in ("pg:mine", "pg:local/mine"):
            build = store.obtain(parse_target(text), silent)
            assert (build.prefix, build.version, build.provider) == (prefix, "17.2", "local")

    def test_rebuilt_prefix_is_looked_at_anew(self, home: Path) -> None:
        prefix = server(home / "pg", "17.2")
        before = store.add(prefix, "mine", progress=silent)
        shutil.rmtree(prefix)
        server(prefix, "18devel")
        after = store.obtain(parse_target("pg:mine"), silent)
        assert (before.version, after.version) == ("17.2", "18devel")
        assert before.checksum != after.checksum

    def test_prefix_that_is_gone(self, home: Path) -> None:
        store.add(server(home / "pg"), "mine", progress=silent)
        shutil.rmtree(home / "pg")
        with pytest.raises(RunError, match="local/mine is gone from"):
            store.resolve(parse_target("pg:mine"))

    def test_archive(self, home: Path, tmp_path: Path) -> None:
        script = b'#!/bin/sh\necho "postgres (PostgreSQL) 15.3"\n'
        archive = tmp_path / "pg.tar.gz"
        archive.write_bytes(tar_bytes([member("pg-15/bin/postgres", script, 0o700)], "w:gz"))
        build = store.add(archive, sha256=sha256_of(archive), progress=silent)
        assert build.prefix == home / "builds/postgres/local-15.3/root/pg-15"
        assert store.obtain(parse_target("pg:local/15.3"), silent) == build
        assert leftovers(home) == []
        with pytest.raises(UsageError, match=r"already a build postgres:local/15\.3"):
            store.add(archive, progress=silent)
        assert leftovers(home) == []

    def test_flavour_of_an_archive_is_found_out(self, home: Path, tmp_path: Path) -> None:
        words = "mysqld  Ver 10.4.7-MariaDB for Linux on x86_64 (MariaDB Server)"
        script = f'#!/bin/sh\necho "{words}"\n'.encode()
        archive = tmp_path / "x.tar.gz"
        archive.write_bytes(tar_bytes([member("mariadb-10.4.7/bin/mysqld", script, 0o755)], "w:gz"))
        assert store.add(archive, progress=silent).name == "mariadb:10.4.7"
        prefix = mysql_server(home / "opt", "Ver 8.4.3 for Linux on x86_64 (MySQL Community Server - GPL)")
        assert store.add(prefix, "mine", progress=silent).name == "mysql:8.4.3"
        assert store.obtain(parse_target("mysql:mine"), silent).prefix == prefix

    def test_plain_version_means_the_catalog(self, home: Path) -> None:
        store.add(server(home / "pg", "17.2"), progress=silent)
        assert isinstance(store.resolve(parse_target("pg:17.2")), CatalogEntry)
        assert isinstance(store.resolve(parse_target("pg:local/17.2")), Build)

    def test_mistakes(self, home: Path, tmp_path: Path) -> None:
        (tmp_path / "x.zip").write_bytes(b"no zip")
        (tmp_path / "empty").mkdir()
        with pytest.raises(UsageError, match="does not exist"):
            store.add(tmp_path / "nothing")
        with pytest.raises(UsageError, match="no DBMS found"):
            store.add(tmp_path / "empty")
        with pytest.raises(UsageError, match="cannot be a build's name"):
            store.add(tmp_path / "empty", "a/b")
        with pytest.raises(RunError, match=r"x\.zip is no archive of a known kind"):
            store.add(tmp_path / "x.zip", progress=silent)
        with pytest.raises(RunError, match="wrong checksum"):
            store.add(tmp_path / "x.zip", sha256="0" * 64)
        with pytest.raises(UsageError, match=r"no added build 'x' of postgres; added are: none"):
            store.resolve(parse_target("pg:local/x"))
        assert leftovers(home) == []

    def test_archive_without_a_dbms(self, home: Path, tmp_path: Path) -> None:
        archive = package(tmp_path / "a.jar")
        with pytest.raises(UsageError, match=r"a\.jar holds no installation of a known DBMS"):
            store.add(archive, progress=silent)
        assert leftovers(home) == []
