"""The scripts that a suite's [setup] names: beside its file, or in the results folder that holds them."""

from pathlib import Path

from dbversus.suites.file import shape
from dbversus.suites.file.draft import Placed
from dbversus.suites.file.source import Place
from dbversus.suites.model import Script

FOLDER = "setup"


def find_scripts(setup: Placed[shape.Setup] | None, stored: Path | None) -> dict[str, tuple[Script, ...]]:
    """In the order of the file, by DBMS, "" for all that have none of their own.

    `stored`: the folder of the suite in results, in which they are numbered. Raises UsageError for a file that is not there.
    """
    if setup is None:
        return {}
    by_key = setup.value.by_key()
    if not by_key:
        raise setup.place.mistake(
            "[setup] names no script; sql, or a DBMS such as postgres, and a file of SQL are accepted."
        )
    names = {path: None for paths in by_key.values() for path in paths}
    files = {path: f"{FOLDER}/{number}-{Path(path).name}" for number, path in enumerate(names, 1)}
    return {
        "" if key == "sql" else key: tuple(_script(path, files[path], setup.place.at(key), stored) for path in paths)
        for key, paths in by_key.items()
    }


def _script(name: str, file: str, place: Place, stored: Path | None) -> Script:
    path = stored / file if stored else Path(place.source.path).parent / name
    if not path.exists():
        raise place.mistake(f"there is no file {path}; a script of SQL is accepted, relative to the suite's file.")
    # in results, what it includes is in a folder with its number
    return Script(path, file, stored / file.split("-")[0] if stored else path.parent, place)
