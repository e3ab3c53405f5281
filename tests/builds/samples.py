"""Small stand-ins for what servers and packages look like on disk."""

import io
import tarfile
import zipfile
from pathlib import Path


def server(prefix: Path, version: str = "17.2") -> Path:
    """An installation whose `postgres` only knows its version."""
    binary = prefix / "bin" / "postgres"
    binary.parent.mkdir(parents=True)
    binary.write_text(f'#!/bin/sh\necho "postgres (PostgreSQL) {version}"\n')
    binary.chmod(0o755)
    return prefix


def mysql_server(prefix: Path, words: str, binary: str = "bin/mysqld", engine: str = "") -> Path:
    """An installation whose server only presents itself: `words` come after the program's name.

    `engine`: name of a storage engine's library in its plugin folder.
    """
    program = prefix / binary
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(f'#!/bin/sh\necho "$0  {words}"\n')
    program.chmod(0o755)
    if engine:
        (prefix / "lib/plugin").mkdir(parents=True)
        (prefix / "lib/plugin" / engine).touch()
    return prefix


def tar_bytes(members: list[tuple[tarfile.TarInfo, bytes]], mode: str = "w:xz") -> bytes:
    """A tar of these members, as they are."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as tar:  # type: ignore[call-overload]
        for info, content in members:
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def member(name: str, content: bytes = b"x", mode: int = 0o644) -> tuple[tarfile.TarInfo, bytes]:
    """A regular file in a tar."""
    info = tarfile.TarInfo(name)
    info.mode = mode
    return info, content


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tuple[tarfile.TarInfo, bytes]:
    """A symbolic (or, by `kind`, hard) link in a tar."""
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = target
    info.mode = 0o755
    return info, b""


def package(path: Path, version: str = "17.2") -> Path:
    """A jar with a tar with a server in it, as some packagers make them."""
    script = f'#!/bin/sh\necho "postgres (PostgreSQL) {version}"\n'.encode()
    with zipfile.ZipFile(path, "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "x")
        jar.writestr(
            "postgres-linux.txz", tar_bytes([member("bin/postgres", script, 0o700), member("share/a", b"a", 0o600)])
        )
    return path


def deb(path: Path, members: list[tuple[tarfile.TarInfo, bytes]], version: str = "1") -> Path:
    """A .deb of these members (an ar archive, see deb(5))."""
    control = f"Package: x\nVersion: {version}\nArchitecture: all\nMaintainer: x\nDescription: x\n".encode()
    parts = {
        "debian-binary": b"2.0\n",
        "control.tar.xz": tar_bytes([member("./control", control)]),
        "data.tar.xz": tar_bytes(members),
    }
    buffer = io.BytesIO(b"!<arch>\n")
    buffer.seek(0, io.SEEK_END)
    for name, content in parts.items():
        buffer.write(f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n".encode())
        buffer.write(content + b"\n" * (len(content) % 2))
    path.write_bytes(buffer.getvalue())
    return path
