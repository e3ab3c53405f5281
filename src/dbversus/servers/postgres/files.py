"""PostgreSQL's data directory and config file: creating, checking, writing them."""

import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from dbversus.builds.model import Build
from dbversus.dbms.postgres import POSTGRES
from dbversus.dbms.versions import numbers
from dbversus.errors import RunError, UsageError
from dbversus.host.program import Command, Done, environment, run
from dbversus.host.user import ServerUser
from dbversus.names import did_you_mean_inline
from dbversus.servers.base import ServerConfig
from dbversus.servers.config.refused import Refused, SettingsRefusedError, all_refused

SUPERUSER = "dbversus"
_LIBRARIES = ("shared_preload_libraries", "session_preload_libraries", "local_preload_libraries")
_LIBRARY_FOLDERS = ("lib", "lib/postgresql", "lib64", "lib64/pgsql")


def server_environment(build: Build, config: ServerConfig) -> dict[str, str]:
    return environment(build.environment, config.environment)


def program(build: Build, name: str) -> Path:
    path = build.prefix / "bin" / name
    if not path.is_file():
        raise RunError(f"{build.name} in {build.prefix} has no bin/{name}; name a complete installation.")
    return path


def check_build(build: Build, config: ServerConfig, user: ServerUser) -> str:
    """Runs `postgres --version` as the server will be run, and returns its answer.

    Raises RunError with the loader's own words when a shared library is missing or the architecture is wrong.
    """
    postgres = program(build, "postgres")
    user.check_reach(postgres, "the server's program")
    done = run([postgres, "--version"], user, server_environment(build, config))
    if done.returncode != 0:
        raise RunError(f"{build.name} cannot run: {_words(done.stderr) or f'exit status {done.returncode}'}.")
    return done.stdout.strip()


def check_config(build: Build, config: ServerConfig, user: ServerUser, folder: Path) -> None:
    """Lets the server itself read the settings, without a data directory; what that takes is in `folder` for the moment.

    Raises SettingsRefusedError with the server's own words for each setting it does not know or whose value it does not accept.
    """
    check_init_options(build, config)
    directory = Path(tempfile.mkdtemp(prefix="check-", dir=folder))

    def ask(left: Mapping[str, str]) -> Refused | None:
        (directory / "postgresql.conf").write_text(render(left), encoding="utf-8")
        for path in (directory, *directory.iterdir()):
            path.chmod(0o755 if path == directory else 0o644)  # whatever the umask: the server user reads it
        command: Command = [program(build, "postgres"), "-D", directory, "-C", "port"]
        done = run(command, user, server_environment(build, config))
        return _complaint(build, config, user, done.stderr) if done.returncode else _lacking(build, left)

    try:
        (directory / "postgresql.auto.conf").touch()  # one that is missing is complained about
        if refused := all_refused(config.settings, ask):
            raise SettingsRefusedError(build, refused, config.places)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _lacking(build: Build, settings: Mapping[str, str]) -> Refused | None:
    """A library to be loaded that this build has not got: with it the server does not start."""
    folder = next((folder for folder in _LIBRARY_FOLDERS if (build.prefix / folder / "plpgsql.so").is_file()), None)
    if folder is None or "dynamic_library_path" in settings:
        return None
    for name in _LIBRARIES:
        for library in re.findall(r"[^\s,\"]+", settings.get(name, "").replace("$libdir/", "")):
            if "/" not in library and not (build.prefix / folder / f"{library.removesuffix('.so')}.so").is_file():
                return Refused(name, f"{name} = {settings[name]}: this build has no library {library}")
    return None


def _complaint(build: Build, config: ServerConfig, user: ServerUser, stderr: str) -> Refused:
    """The first complaint, with the nearest known name when a name is unknown."""
    lines = [_plain(line) for line in stderr.splitlines() if line.strip() and " WARNING: " not in line]
    first = re.sub(r' in file ".*?" line \d+', "", lines[0]) if lines else "it does not say why"
    hints = [line for line in lines[1:2] if line.startswith(("HINT", "DETAIL"))]
    unknown = re.search(r'unrecognized configuration parameter "([^"]+)"', first)
    if unknown:
        known = run([program(build, "postgres"), "--describe-config"], user, server_environment(build, config)).stdout
        return Refused(
            "", first, did_you_mean_inline(unknown[1], [line.partition("\t")[0] for line in known.splitlines()])
        )
    return Refused("", "; ".join([first, *hints]).rstrip("."))


def _plain(line: str) -> str:
    """A log line without its time stamp and level."""
    return re.sub(r"^.*?\b(?:LOG|FATAL|ERROR|WARNING):\s+", "", line.strip())


def _words(stderr: str) -> str:
    return "; ".join(line.strip() for line in stderr.strip().splitlines()[-3:]).rstrip(".")


def render(settings: Mapping[str, str]) -> str:
    """Settings in the syntax of postgresql.conf; quotes around every value are accepted for all types."""
    return "".join(f"{name} = {_quoted(value)}\n" for name, value in settings.items()) or "\n"


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def check_init_options(build: Build, config: ServerConfig) -> None:
    known = POSTGRES.settings.at_creation
    for name, value in config.init_options.items():
        if name not in known:
            raise UsageError(f"init option '{name}' is unknown for postgres; accepted: {', '.join(known)}.")
        if name == "checksums" and value not in ("on", "off"):
            raise UsageError(f"init option checksums is '{value}'; accepted: on, off.")
        if name == "fillfactor" and not (value.isascii() and value.isdecimal() and 10 <= int(value) <= 100):
            raise UsageError(f"init option fillfactor is '{value}'; accepted: a whole number from 10 to 100.")
        if name == "wal_segsize" and numbers(build.version) < (11,):
            raise UsageError(f"init option wal_segsize needs postgres 11 or later; this is {build.version}.")


def storage_clause(config: ServerConfig) -> str:
    """What follows CREATE TABLE, CREATE INDEX and PRIMARY KEY: PostgreSQL has no setting for how full pages are left."""
    fillfactor = config.init_options.get("fillfactor")
    return f" WITH (fillfactor={int(fillfactor)})" if fillfactor else ""


def create_data_dir(
    build: Build, config: ServerConfig, data_dir: Path, user: ServerUser, run_watched: Callable[[Command], Done]
) -> None:
    """Runs initdb. The directory must not exist, or be empty. Raises RunError with initdb's own words."""
    check_init_options(build, config)
    user.make_dir(data_dir)
    user.check_reach(data_dir, "the data directory")
    command: Command = [program(build, "initdb"), "-D", data_dir, *initdb_options(build, config)]
    done = run_watched(command)
    if done.returncode != 0:
        raise RunError(f"initdb of {build.name} failed: {_words(done.stderr)}.")


def initdb_options(build: Build, config: ServerConfig) -> list[str]:
    """Options of initdb in this version. Checksums are on unless the config says off."""
    version = numbers(build.version)
    options = ["-U", SUPERUSER, "--auth=trust", "-E", "UTF8", "--locale=C"]
    options.append("--nosync" if version < (10,) else "--no-sync")
    if config.init_options.get("checksums", "on") == "on":
        options.append("--data-checksums")
    elif version >= (18,):
        options.append("--no-data-checksums")
    if "wal_segsize" in config.init_options:
        options.append(f"--wal-segsize={config.init_options['wal_segsize']}")
    return options


def write_config(path: Path, text: str, data_dir: Path) -> None:
    """Outside the data directory, where the server could put a link in its place; what initdb has written comes first."""
    path.write_text(f"include {_quoted(str(data_dir / 'postgresql.conf'))}\n{text}", encoding="utf-8")
    path.chmod(0o644)
