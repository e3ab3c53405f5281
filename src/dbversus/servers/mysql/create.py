"""Creating the data directory of a server of the MySQL family, and knowing it again."""

import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from dbversus.builds.model import Build
from dbversus.dbms.flavour import Flavour
from dbversus.dbms.versions import numbers
from dbversus.errors import RunError, UsageError
from dbversus.host.program import Command, Done
from dbversus.host.user import ServerUser
from dbversus.servers.mysql.files import Installation

Runner = Callable[[Command, str], Done]

MARKER = "dbversus.build"
# In this order; `{maker}` is mysql or mariadb. The texts of HELP are left out: nobody reads them here.
_SYSTEM_TABLES = ("{maker}_system_tables.sql", "{maker}_performance_tables.sql", "{maker}_system_tables_data.sql")
_SYS_SCHEMA = "{maker}_sys_schema.sql"


def create_data_dir(
    place: Installation, flavour: Flavour, data_dir: Path, init_options: Mapping[str, str], run_watched: Runner
) -> None:
    """Creates the system tables, with an account `root` without password. Raises RunError with the server's own words.

    `run_watched` runs a command with a text on its standard input. The directory must not exist, or be empty.
    """
    if data_dir.is_dir() and any(data_dir.iterdir()):
        raise RunError(f"{place.build.name} cannot create its data directory: {data_dir} exists but is not empty.")
    place.user.make_dir(data_dir)
    place.user.check_reach(data_dir, "the data directory")
    options = {name: value for name, value in init_options.items() if not name.startswith("rocksdb")}
    if flavour.mysql_since(5, 7, 6):
        _initialise(place, data_dir, options, run_watched)
    else:
        _bootstrap(place, flavour, data_dir, options, run_watched)
    if not any((data_dir / "mysql").glob("*")) and not (data_dir / "mysql.ibd").exists():
        raise RunError(f"{place.build.name} left {data_dir} without system tables, and does not say why.")
    place.user.write(data_dir / MARKER, f"{_identity(place.build)}\n")


def _command(place: Installation, data_dir: Path, options: Mapping[str, str], *words: str) -> Command:
    settings = {**place.base_settings(), "datadir": str(data_dir), **options}
    return [place.program, "--no-defaults", *words, *(f"--{name}={value}" for name, value in settings.items())]


def _initialise(place: Installation, data_dir: Path, options: Mapping[str, str], run_watched: Runner) -> None:
    command = _command(
        place, data_dir, {**options, "secure_file_priv": "NULL"}, "--initialize-insecure", "--skip-log-bin"
    )
    _check(place, run_watched(command, ""))


def _bootstrap(
    place: Installation, flavour: Flavour, data_dir: Path, options: Mapping[str, str], run_watched: Runner
) -> None:
    """Pipes the makers' SQL into the server; one build has none and comes with a data directory to be copied instead."""
    maker, folder = _sql_folder(place)
    if folder is None:
        _copy_template(place, data_dir)
        return
    files = [folder / name.format(maker=maker) for name in (*_SYSTEM_TABLES, _SYS_SCHEMA)]
    with place.user.rights():
        texts = [path.read_text(encoding="utf-8", errors="replace") for path in files if path.is_file()]
        (data_dir / "mysql").mkdir(mode=0o700)
    if not flavour.is_mariadb:
        options = {**options, "default_storage_engine": "MyISAM"}
    command = _command(place, data_dir, options, "--bootstrap")
    _check(place, run_watched(command, "use mysql;\n" + "\n".join(texts)))


def _sql_folder(place: Installation) -> tuple[str, Path | None]:
    """Name of the maker in the names of its SQL files, and where they are."""
    for maker in ("mariadb", "mysql"):
        folder = place.find_share(_SYSTEM_TABLES[0].format(maker=maker))
        if folder:
            return maker, folder
    return "", None


def _copy_template(place: Installation, data_dir: Path) -> None:
    found = sorted(place.build.prefix.rglob("mysql/user.frm"))
    if not found:
        raise RunError(
            f"{place.build.name} in {place.build.prefix} holds neither share/mysql_system_tables.sql nor a data "
            "directory to be copied, so no data directory can be made."
        )
    with place.user.rights():
        shutil.copytree(found[0].parent, data_dir / "mysql")
        for path in (data_dir / "mysql", *(data_dir / "mysql").iterdir()):
            path.chmod(0o700 if path.is_dir() else 0o600)


def _check(place: Installation, done: Done) -> None:
    if done.returncode != 0:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if "ERROR" in line] or lines[-3:]
        words = "; ".join(errors[:4]) or f"exit status {done.returncode}"
        raise RunError(f"{place.build.name} cannot create its data directory: {words}.")


def _identity(build: Build) -> str:
    return f"{build.dbms} {build.version}"


def check_data_dir(build: Build, data_dir: Path, user: ServerUser) -> None:
    """Raises RunError for a directory without data, UsageError for the data of another DBMS or version."""
    if not data_dir.is_dir() or not any(data_dir.iterdir()):
        raise RunError(f"{build.name}: there is no data in {data_dir}; initialise or restore it first.")
    made_by = user.read(data_dir / MARKER).strip()
    if made_by and made_by != _identity(build):
        raise UsageError(
            f"{data_dir} was made by {made_by}; {build.name} is not started on it, because it would upgrade or damage it. "
            "Let it have a data directory of its own."
        )
    upgraded = _upgraded_to(data_dir, user)
    if not made_by and upgraded and numbers(upgraded)[:2] != numbers(build.version)[:2]:
        raise UsageError(f"{data_dir} is of version {upgraded}; {build.name} is not started on it.")


def _upgraded_to(data_dir: Path, user: ServerUser) -> str:
    """The version that the server's own upgrade program has left a note of, in a directory that is not of our making."""
    for name in ("mysql_upgrade_info", "mariadb_upgrade_info"):
        if said := user.read(data_dir / name):
            match = re.search(r"\d+\.\d+\.\d+", said)
            return match[0] if match else ""
    return ""


def drop_unfit_logs(flavour: Flavour, data_dir: Path, log_file_size: str) -> None:
    """Removes redo logs of another size than the config asks for: before 5.6.8 the server refuses them, later it makes new ones.

    Only for a directory whose server was stopped cleanly; one that was killed has logs of its own size.
    """
    first = data_dir / "ib_logfile0"
    if not flavour.mysql_before(5, 6, 8) or not first.exists() or first.stat().st_size == _bytes(log_file_size):
        return
    for path in data_dir.glob("ib_logfile*"):
        path.unlink()


def _bytes(size: str) -> int:
    """`64M` → 67108864."""
    unit = {"K": 2**10, "M": 2**20, "G": 2**30}.get(size[-1:].upper())
    return int(size[:-1]) * unit if unit else int(size)
