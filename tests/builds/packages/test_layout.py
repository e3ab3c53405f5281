import json
import shutil
import subprocess
from pathlib import Path

import pytest

from dbversus.builds.catalog import Layout
from dbversus.builds.packages.inspect import check_runnable
from dbversus.builds.packages.layout import arrange, find_prefix, use_own_libc
from dbversus.errors import RunError

from ..conftest import silent
from ..samples import server


def test_prefix_is_found_where_the_server_is(tmp_path: Path) -> None:
    prefix = server(tmp_path / "some/where")
    assert find_prefix(tmp_path, "postgres") == prefix
    server(tmp_path / "else")
    with pytest.raises(RunError, match="holds 2 places bin/postgres"):
        find_prefix(tmp_path, "postgres")
    assert find_prefix(tmp_path, "postgres", "some/*") == prefix


def test_prefix_outside_is_refused(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root/lib.so").symlink_to("/etc/passwd")
    with pytest.raises(RunError, match="points outside"):
        find_prefix(tmp_path / "root", "sqlite", "lib.so")


def listing(prefix: Path, source: str, target: str) -> Layout:
    (prefix / "links.json").write_text(json.dumps([{"source": source, "target": target}]))
    return Layout(symlinks="links.json")


def test_links_and_modes(tmp_path: Path) -> None:
    prefix = server(tmp_path / "native")
    (prefix / "bin/postgres").chmod(0o644)
    (prefix / "lib").mkdir()
    (prefix / "lib/libx.so.1.2").write_text("x")
    arrange(prefix, listing(prefix, "native/lib/libx.so.1.2", "native/lib/libx.so.1"))
    assert str((prefix / "lib/libx.so.1").readlink()) == "libx.so.1.2"
    assert (prefix / "bin/postgres").stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize(
    ("source", "target"), [("native/a", "../evil"), ("/etc/passwd", "native/a"), ("native/a", "native/../evil")]
)
def test_hostile_links(tmp_path: Path, source: str, target: str) -> None:
    prefix = server(tmp_path / "native")
    with pytest.raises(RunError, match="points outside"):
        arrange(prefix, listing(prefix, source, target))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["native"]


@pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc here")
def test_own_libc(home: Path) -> None:
    """A program tied to a copy of this host's C library runs, and loads that copy."""
    final, root = home / "final", home / "root"
    prefix = root / "opt"
    (prefix / "bin").mkdir(parents=True)
    (home / "main.c").write_text("int main(void) { return 7; }\n")
    subprocess.run(["gcc", "-o", prefix / "bin/main", home / "main.c"], check=True)
    elf = check_runnable(prefix / "bin/main")
    assert elf is not None and elf.interpreter is not None
    loader = root / elf.interpreter.lstrip("/")
    libraries = root / "usr/lib/some-linux-gnu"
    libraries.mkdir(parents=True)
    loader.parent.mkdir(parents=True)
    shutil.copy(elf.interpreter, loader)
    listed = subprocess.run(
        [elf.interpreter, "--list", prefix / "bin/main"], capture_output=True, text=True, check=True
    )
    libc = next(line.split()[2] for line in listed.stdout.splitlines() if line.strip().startswith("libc.so"))
    shutil.copy(libc, libraries)
    use_own_libc(root, final, prefix, Layout(), silent)
    root.rename(final)
    program = final / "opt/bin/main"
    assert subprocess.run([program], check=False).returncode == 7
    assert check_runnable(program)
    loaded = subprocess.run([program], env={"LD_TRACE_LOADED_OBJECTS": "1"}, capture_output=True, text=True, check=True)
    assert str(final / "usr/lib/some-linux-gnu/libc.so") in loaded.stdout


def test_own_libc_without_programs(tmp_path: Path) -> None:
    prefix = server(tmp_path / "root/opt")
    with pytest.raises(RunError, match="no programs found"):
        use_own_libc(tmp_path / "root", tmp_path / "final", prefix, Layout(), silent)
