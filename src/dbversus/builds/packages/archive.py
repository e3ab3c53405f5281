"""Unpacking of archives nobody has vouched for: what points outside the target folder is refused, nothing is left."""

import bz2
import fnmatch
import gzip
import lzma
import os
import posixpath
import shutil
import stat
import subprocess
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast

from dbversus.errors import RunError
from dbversus.packed import Allowance, TooMuch, counted

_PACKERS: dict[bytes, Callable[[BinaryIO], Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}
_BLOCK_BYTES = 4096
"""What a file takes on the disk at least, however little it holds."""
_LONGEST_LINK_BYTES = 4096
_ROOT_LINKS = ("bin", "sbin", "lib", "lib64")
# Of Debian packages: documentation, translations, what comes with Perl and character sets of the C library.
_UNREAD = (
    "usr/share/doc/*",
    "usr/share/man/*",
    "usr/share/info/*",
    "usr/share/lintian/*",
    "usr/share/locale/*",
    "usr/share/perl*",
    "usr/lib/*/perl*",
    "usr/lib/*/gconv/*",
)


def unpack(archive: Path, folder: Path, inner: str = "", skip: Sequence[str] = ()) -> None:
    """Unpack a zip (jar, whl), a tar (gz, xz, bz2) or a .deb into `folder`, which must be empty or not exist yet.

    `inner`: pattern of an archive inside the archive, which is unpacked in its place. `skip`: patterns of member names
    that are not wanted, in which `*` stands for `/` as well. RunError when the archive is damaged, of no known kind, or
    has members that are absolute, contain `..`, are reached through a link or link to the outside, or unpacks to more than
    an `Allowance`; `folder` is gone then.
    """
    with _gone_on_failure(folder):
        allowance = Allowance(archive)
        if not inner:
            _unpack_one(archive, folder, allowance, skip)
            return
        # a folder of its own: links of the one archive are none of the other's
        with tempfile.TemporaryDirectory(prefix=".shell-", dir=folder.parent) as name:
            shell = Path(name)
            _unpack_one(archive, shell, allowance)
            members = [path for path in shell.rglob("*") if path.is_file() and fnmatch.fnmatch(path.name, inner)]
            if len(members) != 1:
                raise RunError(f"{archive.name} holds {len(members)} members {inner!r} where one was expected")
            _unpack_one(members[0], folder, allowance, skip)


def unpack_system(packages: Sequence[Path], folder: Path) -> None:
    """Unpack .deb packages one over the other into a system root, with `bin`, `lib` and so on linked to `usr`.

    Absolute links mean the root they are in, and are made so. What no server reads is left out.
    """
    with _gone_on_failure(folder):
        for name in _ROOT_LINKS:
            (folder / "usr" / name).mkdir(parents=True)
            (folder / name).symlink_to(f"usr/{name}")
        for package in packages:
            _unpack_one(package, folder, Allowance(package), _UNREAD)


@contextmanager
def _gone_on_failure(folder: Path) -> Iterator[None]:
    """Whatever goes wrong inside, the folder is removed; damage of the archive becomes a RunError."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise RunError(f"cannot unpack into {folder}: it is not empty")
    try:
        yield
    except (
        tarfile.TarError,
        zipfile.BadZipFile,
        lzma.LZMAError,
        zlib.error,
        EOFError,
        OSError,
        RuntimeError,
        ValueError,
        TooMuch,
    ) as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise RunError(f"cannot unpack into {folder}: {error}") from error
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _unpack_one(archive: Path, folder: Path, allowance: Allowance, skip: Sequence[str] = ()) -> None:
    if archive.suffix == ".deb":
        _unpack_deb(archive, folder, allowance, skip)
    elif zipfile.is_zipfile(archive):
        _unpack_zip(archive, folder, allowance, skip)
    else:
        _unpack_tar(archive, folder, allowance, skip)
    _refuse_links_outside(folder, archive.name)


def _unpack_tar(archive: Path, folder: Path, allowance: Allowance, skip: Sequence[str]) -> None:
    with archive.open("rb") as packed:
        begin = packed.peek(6)
        packer = next((packer for mark, packer in _PACKERS.items() if begin.startswith(mark)), None)
        try:
            file = counted(cast(BinaryIO, packer(packed) if packer else packed), allowance)
            tar = tarfile.open(fileobj=file, mode="r:")  # noqa: SIM115
        except tarfile.ReadError as error:
            raise RunError(
                f"{archive.name} is no archive of a known kind (zip, jar, whl, tar.gz, tar.xz, deb), or is damaged"
            ) from error
        with tar:
            _extract_tar(tar, folder, archive.name, allowance, skip)


def _unpack_deb(package: Path, folder: Path, allowance: Allowance, skip: Sequence[str]) -> None:
    command = ["dpkg-deb", "--fsys-tarfile", str(package)]
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as error:
        raise RunError(
            "dpkg-deb is needed to unpack .deb packages and is not here; install it: package dpkg"
        ) from error
    with process:
        assert process.stdout is not None and process.stderr is not None
        try:
            plain = counted(cast(BinaryIO, process.stdout), allowance)
            with tarfile.open(fileobj=plain, mode="r|") as tar:
                _extract_tar(tar, folder, package.name, allowance, skip, into_root=True)
            # The padding after the last member: a writer that cannot get rid of it would report a broken pipe.
            while process.stdout.read(1 << 16):
                pass
            broken = ""
        except tarfile.ReadError as error:
            broken = str(error)
        finally:
            process.stdout.close()
        words = process.stderr.read().decode(errors="replace").strip()
    if broken or process.returncode != 0:
        raise RunError(f"{package.name} is damaged: {words or broken}")


def _extract_tar(
    tar: tarfile.TarFile,
    folder: Path,
    archive: str,
    allowance: Allowance,
    skip: Sequence[str],
    into_root: bool = False,
) -> None:
    links: set[str] = set()
    for member in tar:
        name = posixpath.normpath(member.name)
        allowance.take(_BLOCK_BYTES + (member.size if member.issparse() else 0))  # holes are not read
        _refuse_outside(member.name, archive)
        _refuse_through_link(name, links, archive)
        if _is_skipped(name, skip):
            continue
        if member.issym():
            if into_root and member.linkname.startswith("/"):
                member.linkname = posixpath.relpath(member.linkname.lstrip("/"), posixpath.dirname(name) or ".")
            _refuse_link(name, member.linkname, folder, archive)
            links.add(name)
        elif member.islnk():
            _refuse_outside(member.linkname, archive)
            _refuse_through_link(posixpath.normpath(member.linkname), links, archive)
        _replace_existing(folder / name, member)
        try:
            tar.extract(member, folder, filter="data")
        except tarfile.FilterError as error:
            raise RunError(f"{archive} is refused: {error}") from error


def _replace_existing(path: Path, member: tarfile.TarInfo) -> None:
    """A later package's file takes the place of an earlier one's."""
    if not member.isdir() and (path.is_symlink() or path.is_file()):
        path.unlink()


def _unpack_zip(archive: Path, folder: Path, allowance: Allowance, skip: Sequence[str]) -> None:
    links: set[str] = set()
    with zipfile.ZipFile(archive) as content:
        for info in content.infolist():
            allowance.take(_BLOCK_BYTES + info.file_size)  # it is read no further
            _refuse_outside(info.filename, archive.name)
            name = posixpath.normpath(info.filename)
            _refuse_through_link(name, links, archive.name)
            if _is_skipped(name, skip):
                continue
            mode = info.external_attr >> 16
            if stat.S_ISLNK(mode):
                if info.file_size > _LONGEST_LINK_BYTES:
                    raise RunError(f"{archive.name} is refused: link {name!r} is longer than any path")
                target = os.fsdecode(content.read(info))
                _refuse_link(name, target, folder, archive.name)
                links.add(name)
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).symlink_to(target)
                continue
            path = Path(content.extract(info, folder))
            if mode & stat.S_IXUSR and path.is_file():
                path.chmod(0o755)


def _is_skipped(name: str, skip: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in skip)


def _refuse_outside(name: str, archive: str) -> None:
    if name.startswith(("/", "\\")) or ".." in PurePosixPath(name.replace("\\", "/")).parts or "\0" in name:
        raise RunError(f"{archive} is refused: member {name!r} points outside the target folder")


def _refuse_link(name: str, target: str, folder: Path, archive: str) -> None:
    """By where it really leads: `a/..` is another folder where `a` is a link."""
    reached = os.path.realpath(folder / posixpath.dirname(name) / target)
    if target.startswith("/") or not Path(reached).is_relative_to(folder.resolve()):
        raise RunError(f"{archive} is refused: link {name!r} to {target!r} points outside the target folder")


def _refuse_links_outside(folder: Path, archive: str) -> None:
    """Once more at the end: a link may lead elsewhere since another was made."""
    for root, folders, files in os.walk(folder):
        for path in (Path(root, name) for name in (*folders, *files)):
            if path.is_symlink():
                _refuse_link(str(path.relative_to(folder)), str(path.readlink()), folder, archive)


def _refuse_through_link(name: str, links: set[str], archive: str) -> None:
    """Members behind a link of the same archive: honest packers do not make them, and they can be led anywhere."""
    for parent in PurePosixPath(name).parents:
        if str(parent) in links:
            raise RunError(f"{archive} is refused: member {name!r} is reached through link {str(parent)!r}")


def make_public(folder: Path) -> None:
    """Everything readable, folders and programs usable by all: servers run as another user than who unpacked."""
    for root, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(root, name)
            if not path.is_symlink():
                _chmod(path, lambda mode: mode | 0o444 | (0o111 if mode & 0o100 else 0))
    _chmod(folder, lambda mode: mode | 0o555)


def _chmod(path: Path, change: Callable[[int], int]) -> None:
    mode = stat.S_IMODE(path.stat().st_mode)
    if change(mode) != mode:
        path.chmod(change(mode))
