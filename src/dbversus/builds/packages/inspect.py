"""What an installation is, and whether it can run here; every obstacle becomes one sentence."""

import hashlib
import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dbversus.builds.elf import Elf, host_machine, read_elf
from dbversus.builds.packages.contents import compiler_of
from dbversus.builds.packages.plugin import built_in_engines, check_plugin
from dbversus.dbms.known import find_dbms, server_dbms
from dbversus.dbms.model import Dbms
from dbversus.dbms.sqlite import SQLITE
from dbversus.errors import RunError, UsageError
from dbversus.host.program import Command, Done, environment, run
from dbversus.host.user import server_user

_PROBE_TIMEOUT_S = 60
_READ, _EXECUTE = 0o004, 0o001

_SQLITE_PROBE = """
import ctypes, json, sys
library = ctypes.CDLL(sys.argv[1])
for function in (library.sqlite3_libversion, library.sqlite3_sourceid, library.sqlite3_compileoption_get):
    function.restype = ctypes.c_char_p
options, number = [], 0
while (option := library.sqlite3_compileoption_get(number)) is not None:
    options.append(option.decode())
    number += 1
maps = open("/proc/self/maps")
mapped = [line.split(None, 5)[5].strip() for line in maps if "sqlite3" in line or sys.argv[1] in line]
print(json.dumps({"version": library.sqlite3_libversion().decode(), "source": library.sqlite3_sourceid().decode(),
                  "options": options, "path": mapped[0] if mapped else sys.argv[1]}))
"""


@dataclass(frozen=True)
class Inspection:
    """`binary`: the server program or library; `checksum`: its SHA-256 in hex; `source`: its exact source if known."""

    dbms: str
    version: str
    binary: Path
    checksum: str
    compiled: str
    machine: str
    source: str = ""


def detect_dbms(path: Path) -> Dbms:
    """Which DBMS is installed at `path` (a prefix, or a SQLite library). UsageError when none of those known."""
    if not path.exists():
        raise UsageError(f"{path} does not exist")
    if path.is_file():
        return SQLITE
    for dbms in server_dbms():
        binary = _binary_below(dbms, path)
        if binary is not None:
            return _flavour(dbms, binary)
    programs: dict[tuple[str, ...], list[str]] = {}
    for dbms in server_dbms():
        programs.setdefault(dbms.binaries[:2], []).append(dbms.title)
    binaries = ", ".join(f"{' or '.join(each)} ({', '.join(titles)})" for each, titles in programs.items())
    raise UsageError(f"no DBMS found in {path}; looked for {binaries} or a libsqlite3.so file")


def normal_prefix(path: Path) -> Path:
    """The prefix that is meant when somebody names its bin folder, or the root of the system that holds it in `usr`."""
    if path.name in ("bin", "sbin", "libexec") and path.is_dir():
        return path.parent
    programs = (path / "usr" / name for dbms in server_dbms() for name in dbms.binaries)
    return path / "usr" if any(program.is_file() for program in programs) else path


def inspect_build(prefix: Path, dbms_name: str, extra: Mapping[str, str] | None = None) -> Inspection:
    """Look at an installation; RunError says what keeps it from running here (architecture, library, access).

    `extra`: variables of the environment that its programs need.
    """
    dbms = find_dbms(dbms_name)
    if not dbms.binaries:
        return _inspect_sqlite(prefix)
    binary = _binary_below(dbms, prefix)
    if binary is None:
        usual = next((name for name in dbms.binaries if dbms.name in name), dbms.binaries[0])
        raise UsageError(f"{prefix} is no installation of {dbms.title}: {prefix / usual} is missing")
    elf = check_runnable(binary, extra)
    words = _version_words(dbms, binary, extra)
    version = _server_version(dbms, binary, words)
    check_plugin(dbms, normal_prefix(prefix), binary, words)
    machine = elf.machine if elf else host_machine()
    return Inspection(dbms.name, version, binary, sha256_of(binary), _origin(dbms, binary, words), machine)


def check_runnable(binary: Path, extra: Mapping[str, str] | None = None, wanted: int = _EXECUTE) -> Elf | None:
    """RunError when `binary` is for another architecture, closed to the servers' user, or its loader or a library is missing.

    None for a script. `wanted`: which right of others it needs.
    """
    elf = read_elf(binary)
    if elf is None:
        with binary.open("rb") as file:
            if file.read(2) == b"#!":
                _check_access(binary, wanted)
                return None
        raise RunError(f"{binary} is not an executable of this system (no ELF file)")
    if elf.machine != host_machine():
        raise RunError(f"{binary} is built for {elf.machine}, this host is {host_machine()}")
    _check_access(binary, wanted)
    missing = missing_libraries(binary, elf, extra)
    if missing:
        raise RunError(f"{binary} cannot start: {missing}")
    return elf


def missing_libraries(binary: Path, elf: Elf, extra: Mapping[str, str] | None = None) -> str:
    """What the loader does not find, as words ("library libicu.so.60 is missing"), empty when it finds everything."""
    own_elf = read_elf(Path(sys.executable).resolve())
    loader = elf.interpreter or (own_elf.interpreter if own_elf else None)
    if loader is None:
        return ""
    if not Path(loader).exists():
        return f"its loader {loader} is missing (a build for another libc?)"
    listed = _run([loader, "--list", binary], extra)
    # ld.so stops at the first missing library but ldd-style listing goes on: take the words of both.
    names = re.findall(r"^\s*(\S+) => not found", listed.stdout, re.MULTILINE)
    names += re.findall(r"error while loading shared libraries: ([^:\s]+): cannot open", listed.stderr)
    if names:
        found = sorted(set(names))
        return f"library {found[0]} is missing" if len(found) == 1 else f"libraries {', '.join(found)} are missing"
    versions = re.findall(r"version [`']([^']+)' not found", listed.stdout + listed.stderr)
    return f"it needs {', '.join(sorted(set(versions)))}, which this host's libraries do not have" if versions else ""


def sha256_of(path: Path) -> str:
    """SHA-256 of a file in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _binary_below(dbms: Dbms, prefix: Path) -> Path | None:
    candidates = (normal_prefix(prefix) / name for name in dbms.binaries)
    return next((path for path in candidates if path.is_file()), None)


def _version_words(dbms: Dbms, binary: Path, extra: Mapping[str, str] | None) -> str:
    """What the server prints about its version; RunError with its own words when that is nothing."""
    result = _run([binary, *dbms.version_options], extra)
    if not result.stdout.strip():
        raise _untold(dbms, binary, result.stderr.strip() or f"exit status {result.returncode}")
    return result.stdout


def _server_version(dbms: Dbms, binary: Path, words: str) -> str:
    match = re.search(dbms.version_pattern, words)
    if match is not None:
        return match.group(1)
    other = next((each for each in server_dbms() if re.search(each.version_pattern, words)), None)
    if other is not None:
        raise UsageError(f"{binary} is the server of {other.title}, not of {dbms.title}; write {other.name} instead")
    raise _untold(dbms, binary, words.strip())


def _untold(dbms: Dbms, binary: Path, words: str) -> RunError:
    return RunError(f"{binary} --version did not tell a version of {dbms.title}: {words}")


def _flavour(dbms: Dbms, binary: Path) -> Dbms:
    """Of those whose server lies there, the one that it says it is; one that cannot run is told apart by its name."""
    relatives = [each for each in server_dbms() if each.binaries == dbms.binaries]
    if len(relatives) == 1:
        return dbms
    try:
        words = _version_words(dbms, binary, None)
    except RunError:
        words = ""
    said = [each for each in relatives if re.search(each.version_pattern, words)]
    named = [each for each in relatives if binary.name.startswith(each.name)]
    return (said or named or relatives)[0]


def _origin(dbms: Dbms, binary: Path, words: str) -> str:
    """Who made this variant of the server, storage engines of its own, and the compiler, as far as the binary tells."""
    maker = re.search(r"Percona[\w ]*\w", words)
    engines = [f"{title} built in" for title in built_in_engines(dbms, binary)]
    return ", ".join(filter(None, [maker.group() if maker else "", *engines, compiler_of(binary)]))


def _inspect_sqlite(library: Path) -> Inspection:
    # A bare name ("libsqlite3.so.0") is left to the loader's search path; a path is looked at first, for better words.
    if library.is_absolute():
        if not library.is_file():
            raise UsageError(f"{library} is no file; name a libsqlite3.so")
        if read_elf(library) is None:
            raise UsageError(f"{library} is no shared library")
        check_runnable(library, wanted=_READ)
    result = _run([_interpreter(), "-I", "-S", "-c", _SQLITE_PROBE, library], None)
    if result.returncode != 0:
        words = (result.stderr.strip().splitlines() or [f"status {result.returncode}"])[-1]
        raise RunError(f"{library} cannot be used as a SQLite library: {words}")
    found = json.loads(result.stdout)
    # of a bare name it has to be seen what was loaded; with one named by its path, others may have been
    path = (library if library.is_absolute() else Path(found["path"])).resolve()
    compiler = next((option.partition("=")[2] for option in found["options"] if option.startswith("COMPILER=")), "")
    elf = read_elf(path)
    machine = elf.machine if elf else host_machine()
    return Inspection(SQLITE.name, found["version"], path, sha256_of(path), compiler, machine, found["source"])


def _interpreter() -> Path:
    """A Python for the servers' user, who cannot reach one below root's own folder."""
    places = [Path(sys.executable).resolve(), *(Path(folder, "python3") for folder in os.defpath.split(os.pathsep))]
    found = next((path for path in places if path.is_file() and server_user().may_reach(path)), None)
    if found is None:
        raise RunError(
            f"SQLite libraries are looked at by user {server_user().name}, who can reach no Python: neither {places[0]} nor one "
            f"in {os.defpath}; install python3 there, or allow others to enter its folders (chmod o+x)."
        )
    return found


def _check_access(binary: Path, wanted: int) -> None:
    """As root, servers run as another user, who has to get at the binary."""
    if os.geteuid() != 0:
        return
    real = binary.resolve()
    for path, needed in (*((folder, _EXECUTE) for folder in reversed(real.parents)), (real, wanted)):
        if not path.stat().st_mode & needed:
            rights = "rx" if needed == _EXECUTE else "r"
            raise RunError(
                f"{binary} cannot be run by an unprivileged user: {path} is closed to others (chmod o+{rights} {path})"
            )


def _run(command: Command, extra: Mapping[str, str] | None) -> Done:
    """Foreign code, whoever has packed it: never with our own rights, nor with what our environment holds."""
    return run(command, server_user(), environment(extra or {}), _PROBE_TIMEOUT_S)
