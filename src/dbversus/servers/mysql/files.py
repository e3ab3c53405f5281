"""Builds, config files and data directories of the MySQL family: looking at, checking, writing, creating them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dbversus.builds.model import Build
from dbversus.builds.packages.plugin import PLUGIN_FOLDERS, find_plugin, plugin_bringer
from dbversus.dbms.flavour import Flavour
from dbversus.dbms.known import find_dbms
from dbversus.dbms.versions import numbers
from dbversus.errors import RunError, UsageError
from dbversus.host.program import environment, run
from dbversus.host.user import ServerUser
from dbversus.servers.base import ServerConfig

_EMPTY = '""'
ROCKSDB_PLUGIN = "ha_rocksdb.so"
# Settings that say how data is laid out: with them data is created, and every later start on it needs the same.
INIT_OPTIONS = (
    "innodb_page_size",
    "innodb_data_file_path",
    "innodb_undo_tablespaces",
    "innodb_checksum_algorithm",
    "lower_case_table_names",
)
ROCKSDB_INIT_OPTIONS = ("rocksdb_block_size", "rocksdb_default_cf_options", "rocksdb_override_cf_options")
_SHARE = ("share", "share/mysql", "share/mariadb")


@dataclass(frozen=True)
class Installation:
    """A build as it is run: its program, as which user, in which environment."""

    build: Build
    user: ServerUser
    environment: Mapping[str, str]

    @property
    def program(self) -> Path:
        return server_binary(self.build)

    def find_share(self, file: str) -> Path | None:
        """The folder of shared files that holds `file`."""
        folders = (self.build.prefix / name for name in _SHARE)
        return next((folder for folder in folders if (folder / file).is_file()), None)

    def base_settings(self) -> dict[str, str]:
        """Where the server finds what belongs to it: builds seldom lie where they were compiled for."""
        found = {"basedir": self.build.prefix}
        if messages := self.find_share("english/errmsg.sys"):
            found["lc_messages_dir"] = messages
        if charsets := self.find_share("charsets/Index.xml"):
            found["character_sets_dir"] = charsets / "charsets"
        if plugins := next(
            (self.build.prefix / name for name in PLUGIN_FOLDERS if (self.build.prefix / name).is_dir()), None
        ):
            found["plugin_dir"] = plugins
        return {name: str(path) for name, path in found.items()}


def server_binary(build: Build) -> Path:
    names = find_dbms(build.dbms).binaries
    found = next((build.prefix / name for name in names if (build.prefix / name).is_file()), None)
    if found is None:
        raise RunError(f"{build.name} in {build.prefix} has no {' or '.join(names)}; name a complete installation.")
    return found


def server_environment(build: Build, config: ServerConfig) -> dict[str, str]:
    return environment(build.environment, config.environment)


def version_words(place: Installation) -> str:
    """Runs `mysqld --version` as the server will be run, and returns its answer.

    Raises RunError with the loader's own words when a shared library is missing or the architecture is wrong.
    """
    place.user.check_reach(place.program, "the server's program")
    done = run([place.program, "--no-defaults", "--version"], place.user, place.environment)
    if done.returncode != 0:
        raise RunError(f"{place.build.name} cannot run: {last_words(done.stderr) or f'exit status {done.returncode}'}.")
    return done.stdout.strip()


def flavour_of(place: Installation) -> Flavour:
    build = place.build
    is_mariadb = build.dbms == "mariadb" or (build.dbms == "myrocks" and "MariaDB" in version_words(place))
    return Flavour(is_mariadb, numbers(build.version))


def rocksdb_settings(place: Installation, flavour: Flavour) -> dict[str, str]:
    """What makes RocksDB the engine of new tables: a plugin in most servers, built into Facebook's.

    Raises UsageError naming the package that brings the plugin where it is missing.
    """
    found = {"default_storage_engine": "ROCKSDB"}
    if find_plugin(place.build.prefix, ROCKSDB_PLUGIN):
        return {"plugin_load_add": ROCKSDB_PLUGIN} | found
    if flavour.is_mariadb or "rocksdb-default-cf-options" not in option_names(place):
        words = "MariaDB" if flavour.is_mariadb else version_words(place)
        raise UsageError(
            f"{place.build.name} in {place.build.prefix} has no {ROCKSDB_PLUGIN}, the storage engine MyRocks; "
            f"{plugin_bringer(words)}."
        )
    return {"rocksdb": ""} | found


def plain(line: str) -> str:
    """A line of the error log without its time stamp, level and codes."""
    text = re.sub(r"^.*?\[(?:ERROR|Warning|Note|System)\]\s*", "", line)
    return re.sub(r"^(?:\[[^\]]+\]\s*)*(?:\S*(?:mysqld|mariadbd): )?", "", text).rstrip(".")


def last_words(stderr: str) -> str:
    return "; ".join(plain(line.strip()) for line in stderr.strip().splitlines()[-3:]).rstrip(".")


def option_names(place: Installation) -> list[str]:
    """All options that this server knows, with hyphens."""
    done = run(
        [place.program, "--no-defaults", *_options(place.base_settings()), "--verbose", "--help"],
        place.user,
        place.environment,
    )
    return re.findall(r"^([a-z][a-z0-9-]+) {2,}\S", done.stdout, re.MULTILINE)


def render(settings: Mapping[str, str]) -> str:
    """Settings in the syntax of my.cnf; one without a value is written as its name alone (`skip_log_bin`).

    Two double quotes stand for an empty value (`sql_mode = ""`).
    """
    lines = [f"{name} = {_quoted(name, value)}" if value else name for name, value in settings.items()]
    return "\n".join(lines) + "\n"


def _quoted(name: str, value: str) -> str:
    """Quotes keep a `#` from starting a comment; a backslash is an escape everywhere."""
    if value == _EMPTY:
        return value
    if re.search(r"[\n\r\0]", value) or '"' in value:
        raise UsageError(f"the value of {name} holds a line break or a double quote, which my.cnf cannot hold.")
    escaped = value.replace("\\", "\\\\")
    return f'"{escaped}"' if re.search(r"[#;'\s]", value) else escaped


def write_config(path: Path, text: str) -> None:
    """Readable for the server's user, writable for nobody else: the server passes over a file that anyone may write."""
    path.write_text(f"[mysqld]\n{text}", encoding="utf-8")
    path.chmod(0o644)


def _options(settings: Mapping[str, str]) -> list[str]:
    return [f"--{name.replace('_', '-')}={value}" if value else f"--{name}" for name, value in settings.items()]


def check_init_options(build: Build, config: ServerConfig) -> None:
    accepted = INIT_OPTIONS + (ROCKSDB_INIT_OPTIONS if build.dbms == "myrocks" else ())
    for name in config.init_options:
        if name not in accepted:
            raise UsageError(f"init option '{name}' is unknown for {build.dbms}; accepted: {', '.join(accepted)}.")
    if config.init_options.get("lower_case_table_names", "0") not in ("0", "1"):
        raise UsageError(
            f"init option lower_case_table_names is '{config.init_options['lower_case_table_names']}'; accepted: 0 or 1."
        )
