"""Values that tests draw from tables which scripts fill (`gen = "any"`): read once, when they are loaded, and kept."""

import shutil
from pathlib import Path

from dbversus.dbms.known import find_dbms
from dbversus.dbms.model import Family
from dbversus.experiment.rig.data.refused import LoadRefused
from dbversus.experiment.rig.engine import EngineRefused
from dbversus.experiment.rig.rig import Rig, Target
from dbversus.files import write_whole
from dbversus.servers.data import snapshot
from dbversus.suites.data.file import make_dir
from dbversus.suites.data.forms import escaped
from dbversus.suites.data.generators import LOADED_VALUES, FromLoaded

_RANDOM = {
    Family.POSTGRES: "random()",
    Family.MYSQL: "rand()",
    Family.SQLITE: "(random() / 18446744073709551616.0 + 0.5)",
}
"""From 0 to 1."""
_SPARE = 4
"""So many times as many rows are read of a table that has more, since chance decides how many it are."""


def read_drawn(rig: Rig, target: Target) -> dict[str, str]:
    """By the name of an extra file of the snapshot. Raises LoadRefused where a table has no such values."""
    return {_extra(one): _text(rig, target, one) for one in rig.suite.drawn_when_loaded}


def put_back(rig: Rig, found: Path) -> None:
    """Where the engine looks for them, from the snapshot of the first target that was loaded: all draw the same."""
    for one in rig.suite.drawn_when_loaded:
        if not one.path.is_file():
            make_dir(one.path.parent)
            write_whole(one.path, snapshot.read_extra(found, _extra(one)), private=True)
        place = rig.engine.data / one.file
        if rig.engine.user and not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            for made in (rig.engine.data, place.parent):
                rig.engine.user.admit(made)
            shutil.copyfile(one.path, place)
            rig.engine.user.let_read(place)


def _extra(one: FromLoaded) -> str:
    return one.file.replace("/", "-")


def _text(rig: Rig, target: Target, one: FromLoaded) -> str:
    """LOADED_VALUES lines, spread over the rows in the order of their values."""
    try:
        values = _values(rig, target, one)
    except EngineRefused as error:
        if error.kind != "server":
            raise
        raise LoadRefused(
            f"{one.place}: {target.label} refuses to tell {one.column} of {one.table}: {error}"
        ) from error
    if not values:
        raise LoadRefused(f"{one.place}: table {one.table} on {target.label} has no value in column {one.column}.")
    if one.is_number and (odd := next((value for value in values if not _is_integer(value)), None)):
        raise LoadRefused(
            f"{one.place}: column {one.column} of {one.table} on {target.label} has '{odd}', which is no integer; "
            'type = "text" draws texts.'
        )
    step = len(values) / LOADED_VALUES
    return "".join(f"{escaped(values[int(number * step)])}\n" for number in range(LOADED_VALUES))


def _values(rig: Rig, target: Target, one: FromLoaded) -> list[str]:
    has_value = f"FROM {one.table} WHERE {one.column} IS NOT NULL"
    (count,) = _query(rig, target, f"SELECT count(*) {has_value}")
    share = _SPARE * LOADED_VALUES / max(1, int(count))
    some = f" AND {_RANDOM[find_dbms(target.server.dbms).family]} < {share:.9f}" if share < 1 else ""
    return _query(rig, target, f"SELECT {one.column} {has_value}{some} ORDER BY {one.column}")


def _query(rig: Rig, target: Target, sql: str) -> list[str]:
    rows: list[list[str]] = rig.engine.call("query", target=target.name, sql=sql)["rows"]
    return [row[0] for row in rows]


def _is_integer(text: str) -> bool:
    return text.removeprefix("-").isdigit()
