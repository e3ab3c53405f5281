"""Where a soak takes place: homes of its own beside the builds of this host, and which targets can be had."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dbversus.builds.store import list_installed
from dbversus.home import PUBLIC_MODE, home_dir

from ..small_host import write_base_configs
from .plan import ROWS, Trial

EXPERIMENT = """
targets = ["{target}", "{target}"]
tests = "{tests}"
table_size = 5000
slot_ms = 15
write_slot_ms = 15
warm_up_ms = 1
drain_s = 0.3
drain_idle_s = 0.1
rows = {rows}
seconds = 1
check_events = 10
looks = [{blocks}]
seed = 11
"""
_DEEP = "a-directory-with-a-name-that-leaves-no-room-for-that-of-a-socket-in-the-108-bytes-of-an-address"


@dataclass(frozen=True)
class Place:
    """A directory that every user may enter, with a short home and one with a long path."""

    folder: Path

    @classmethod
    def make(cls, folder: Path) -> "Place":
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(PUBLIC_MODE)
        place = cls(folder.resolve())
        for home in place.homes:
            make_home(home)
        for path in (place.logs, place.kept):
            path.mkdir(exist_ok=True)
        return place

    @property
    def homes(self) -> tuple[Path, Path]:
        return self.folder / "home", self.folder / _DEEP / "home"

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    @property
    def kept(self) -> Path:
        """Results directories in which something was wrong."""
        return self.folder / "kept"

    def home(self, deep: bool) -> Path:
        return self.homes[deep]


def make_home(home: Path) -> None:
    """An empty home that shares the builds of this host's own; dbversus runs in the folder that holds it."""
    home.mkdir(parents=True, exist_ok=True)
    for path in (home, home.parent):
        path.chmod(PUBLIC_MODE)
    write_base_configs(home.parent)
    if not (home / "builds").is_symlink():
        (home / "builds").symlink_to(home_dir() / "builds")


def targets() -> dict[str, str]:
    """DBMS → target, of what is here: SQLite always; nothing is fetched."""
    found = {"sqlite": "sqlite:bundled@wal"}
    if postgres := _postgres():
        found["postgres"] = postgres
    if any(build.version.startswith("10.11.") for build in list_installed("mariadb")):
        found["mariadb"] = "mariadb:10.11"
    return found


def _postgres() -> str | None:
    named = os.environ.get("DBVERSUS_TEST_POSTGRES")
    if named:
        return f"postgres:{named}"
    if any(build.version.startswith("17.") for build in list_installed("postgres")):
        return "postgres:17"
    prefixes = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)
    return f"postgres:{prefixes[0].parents[1]}" if prefixes else None


def write_experiment(path: Path, trial: Trial, known: Mapping[str, str]) -> Path:
    target = known[trial.dbms]
    path.write_text(EXPERIMENT.format(target=target, tests=trial.tests, rows=ROWS, blocks=trial.blocks))
    return path


def keep(results: Path, log: Path, place: Place, name: str) -> Path:
    """Copies a results directory and the words that were said to where they stay."""
    kept = place.kept / name
    shutil.rmtree(kept, ignore_errors=True)
    if results.exists():
        shutil.copytree(results, kept)
    kept.mkdir(exist_ok=True)
    if log.exists():
        shutil.copy(log, kept / "said.txt")
    return kept
