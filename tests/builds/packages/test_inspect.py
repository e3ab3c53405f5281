import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from dbversus.builds.elf import host_machine, read_elf
from dbversus.builds.packages.inspect import check_runnable, detect_dbms, inspect_build, sha256_of
from dbversus.builds.providers.path import build_at, host_sqlite
from dbversus.errors import DbversusError, RunError, UsageError
from dbversus.host.program import NotExecuted, nothing_executed
from dbversus.host.user import server_user

from ..samples import server

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc here")


def has_host_sqlite() -> bool:
    try:
        host_sqlite()
    except DbversusError:
        return False
    return True


needs_host_sqlite = pytest.mark.skipif(not has_host_sqlite(), reason="this host has no libsqlite3.so.0")


def elf_header(machine: int, bits: int = 64, order: str = "<") -> bytes:
    """An ELF header with nothing behind it."""
    start = b"\x7fELF" + bytes([bits // 32, 1 if order == "<" else 2, 1]) + bytes(9)
    return (start + struct.pack(f"{order}HH", 2, machine)).ljust(64, b"\0")


@pytest.mark.parametrize(
    ("header", "machine"),
    [
        (elf_header(183), "aarch64"),
        (elf_header(62), "x86_64"),
        (elf_header(22, order=">"), "s390x"),
        (elf_header(40, bits=32), "arm"),
        (elf_header(9999), "ELF machine 9999"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_machine_of_an_elf_file(tmp_path: Path, header: bytes, machine: str) -> None:
    (tmp_path / "x").write_bytes(header)
    elf = read_elf(tmp_path / "x")
    assert elf is not None
    assert (elf.machine, elf.interpreter) == (machine, None)


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"#!/bin/sh\n" * 20])
def test_no_elf_file(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x").write_bytes(content)
    assert read_elf(tmp_path / "x") is None


def test_this_python() -> None:
    elf = read_elf(Path(sys.executable).resolve())
    assert elf is not None
    assert elf.machine == host_machine()
    assert elf.interpreter is None or Path(elf.interpreter).exists()


def test_wrong_architecture_names_both(tmp_path: Path) -> None:
    other = 62 if host_machine() == "aarch64" else 183
    binary = server(tmp_path / "pg") / "bin/postgres"
    binary.write_bytes(elf_header(other))
    name = "x86_64" if other == 62 else "aarch64"
    with pytest.raises(RunError, match=f"bin/postgres is built for {name}, this host is {host_machine()}"):
        inspect_build(tmp_path / "pg", "postgres")


@needs_gcc
def test_missing_library_is_named(home: Path) -> None:
    (home / "gone.c").write_text("int gone(void) { return 0; }\n")
    (home / "main.c").write_text("int gone(void); int main(void) { return gone(); }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", "libgone.so", "gone.c"], cwd=home, check=True)
    subprocess.run(["gcc", "-o", "main", "main.c", "-L.", "-lgone"], cwd=home, check=True)
    with pytest.raises(RunError, match=r"main cannot start: library libgone\.so is missing"):
        check_runnable(home / "main")
    assert check_runnable(home / "main", {"LD_LIBRARY_PATH": str(home)})


@needs_gcc
def test_missing_loader_is_named(home: Path) -> None:
    (home / "main.c").write_text("int main(void) { return 0; }\n")
    command = ["gcc", "-o", "main", "main.c", "-Wl,--dynamic-linker=/lib/ld-elsewhere.so.1"]
    subprocess.run(command, cwd=home, check=True)
    with pytest.raises(RunError, match=r"its loader /lib/ld-elsewhere\.so\.1 is missing"):
        check_runnable(home / "main")


def test_neither_elf_nor_script(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"MZ" + bytes(100))
    with pytest.raises(RunError, match="is not an executable of this system"):
        check_runnable(tmp_path / "x")


def test_server_that_does_not_tell_its_version(home: Path) -> None:
    binary = server(home / "pg") / "bin/postgres"
    binary.write_text("#!/bin/sh\necho out of order >&2; exit 3\n")
    with pytest.raises(RunError, match="out of order"):
        inspect_build(home / "pg", "postgres")


def test_server(home: Path) -> None:
    prefix = server(home / "pg", "17.2 (Debian 17.2-1)")
    build = build_at(prefix / "bin", "postgres")
    assert (build.version, build.provider, build.prefix, build.name) == ("17.2", "path", prefix, "postgres:17.2")
    assert build.checksum == sha256_of(prefix / "bin/postgres")


def test_closed_to_the_server_user(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    prefix = server(home / "closed" / "pg")
    (home / "closed").chmod(0o700)
    with pytest.raises(RunError, match=r"cannot be run by an unprivileged user: .*/closed is closed to others"):
        build_at(prefix, "postgres")


def test_detect(tmp_path: Path) -> None:
    assert detect_dbms(server(tmp_path / "pg")).name == "postgres"
    assert detect_dbms(tmp_path / "pg/bin").name == "postgres"
    with pytest.raises(UsageError, match="no DBMS found"):
        detect_dbms(tmp_path)


def test_prefix_without_the_server(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"is no installation of PostgreSQL: .*bin/postgres is missing"):
        inspect_build(tmp_path, "postgres")


@needs_host_sqlite
def test_host_sqlite() -> None:
    build = host_sqlite()
    assert build.prefix.is_file()
    assert build.version.startswith("3.")
    assert build_at(build.prefix, "sqlite").checksum == build.checksum


@pytest.mark.parametrize("content", [None, b"not a library"])
def test_no_sqlite_library(tmp_path: Path, content: bytes | None) -> None:
    if content:
        (tmp_path / "libsqlite3.so").write_bytes(content)
    with pytest.raises(UsageError, match=r"libsqlite3\.so is no"):
        inspect_build(tmp_path / "libsqlite3.so", "sqlite")


@needs_gcc
def test_library_that_is_not_sqlite(home: Path) -> None:
    (home / "x.c").write_text("int x(void) { return 0; }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", "libsqlite3.so", "x.c"], cwd=home, check=True)
    with pytest.raises(RunError, match=r"cannot be used as a SQLite library: .*sqlite3_libversion"):
        inspect_build(home / "libsqlite3.so", "sqlite")


SPY = """#!/bin/sh
{ id -u; env; } >> %s
echo "postgres (PostgreSQL) 17.2"
"""
SPYING_LIBRARY = """#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void spy(void) {
    FILE *file = fopen("%s", "a");
    if (file) { fprintf(file, "%%d\\n%%s\\n", geteuid(), getenv("SPY_SECRET") ? "SPY_SECRET" : ""); fclose(file); }
}
"""


@pytest.fixture
def log(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where foreign code says as whom it runs, and what it is told."""
    monkeypatch.setenv("SPY_SECRET", "token")
    path = home / "log"
    path.touch()
    path.chmod(0o666)
    return path


def check_spied(log: Path) -> None:
    said = log.read_text().splitlines()
    assert said, "nothing was executed"
    assert "SPY_SECRET" not in log.read_text()
    users = {line for line in said if line.isdigit()}
    assert users == {str(server_user().uid)}


def test_programs_are_looked_at_as_the_servers_user_without_our_environment(home: Path, log: Path) -> None:
    program = home / "pg/bin/postgres"
    program.parent.mkdir(parents=True)
    program.write_text(SPY % log)
    program.chmod(0o755)
    assert detect_dbms(home / "pg").name == "postgres"
    assert inspect_build(home / "pg", "postgres").version == "17.2"
    check_spied(log)


@needs_gcc
def test_libraries_are_looked_at_as_the_servers_user_without_our_environment(home: Path, log: Path) -> None:
    (home / "spy.c").write_text(SPYING_LIBRARY % log)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", "libsqlite3.so", "spy.c"], cwd=home, check=True)
    with pytest.raises(RunError, match="cannot be used as a SQLite library"):
        inspect_build(home / "libsqlite3.so", "sqlite")
    check_spied(log)


def test_nothing_is_executed_where_that_is_forbidden(home: Path, log: Path) -> None:
    program = home / "my/bin/mysqld"
    program.parent.mkdir(parents=True)
    program.write_text(SPY % log)
    program.chmod(0o755)
    with nothing_executed():
        assert detect_dbms(home / "my").name == "mysql"
        with pytest.raises(NotExecuted, match="is not executed before you have allowed that"):
            inspect_build(home / "my", "mysql")
    assert not log.read_text()
