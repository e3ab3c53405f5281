"""Calibrations of this host: files below <home>/calibrations/<host>/, one for each run, none ever overwritten by another's."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from dbversus.calibration.model import CALIBRATION_SCHEMA, Calibration, Host
from dbversus.errors import RunError
from dbversus.files import write_whole
from dbversus.home import home_dir, public_dir

FOLDER = "calibrations"


@dataclass(frozen=True)
class Stored:
    """What there is for a machine, the newest first, and a sentence for each file that cannot be used."""

    calibrations: list[Calibration]
    notes: list[str]


def save(calibration: Calibration) -> Path:
    """Writes it in one step; RunError where that fails. A run that is evaluated again replaces its own file only."""
    path = public_dir(FOLDER, calibration.host.key) / f"{calibration.id}.json"
    try:
        write_whole(path, calibration.model_dump_json(indent=1) + "\n")
    except RunError as error:
        raise RunError(f"{str(error).removesuffix('.')}; the figures are in the results.") from error
    return path


def load_all(host: Host) -> Stored:
    """Calibrations of the machine, those under another kernel too. Damaged files are skipped with a note."""
    found, notes = [], []
    for path in sorted((home_dir() / FOLDER).glob("*/*.json")):
        one, note = _read(path)
        if one and one.host.is_same_machine(host):
            found.append(one)
        notes += [note] if note else []
    return Stored(sorted(found, key=lambda one: -one.at_unix_s), notes)


def newest(calibrations: Iterable[Calibration], host: Host, dbms: str) -> Calibration | None:
    """The newest of that DBMS; one under the same kernel comes before any other."""
    own = [one for one in calibrations if one.dbms == dbms]
    return max(own, key=lambda one: (one.host.kernel == host.kernel, one.at_unix_s), default=None)


def _read(path: Path) -> tuple[Calibration | None, str]:
    """The calibration, or why there is none."""
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8"))
        schema = content.get("calibration_schema") if isinstance(content, dict) else None
        if isinstance(schema, int) and schema > CALIBRATION_SCHEMA:
            return None, (
                f"{path} has schema {schema}; this dbversus reads up to {CALIBRATION_SCHEMA}: "
                "use a newer one, or calibrate again."
            )
        return Calibration.model_validate(content), ""
    except (OSError, ValueError) as error:  # ValidationError is a ValueError
        return None, f"{path} is damaged ({_first_words(error)}); remove it, and calibrate again."


def _first_words(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc'])) or 'the file'}: {first['msg']}"
    return str(error).splitlines()[0]
