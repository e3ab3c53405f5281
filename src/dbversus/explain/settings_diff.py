"""Settings that differ between targets of one DBMS, without those that differ between any two servers (paths, ports, ids)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from dbversus.dbms.known import family_name
from dbversus.dbms.renamed import with_one_name
from dbversus.explain.noise import noise

DDL = "ddl."
"""Begins the names of what a target's config changes in how tables are made (`[ddl]`), which stand among its settings."""
AS_SUITE = "as the suite says"
_SWITCHES = re.compile(r"\w+=\w+(?:,\w+=\w+)+")
_MODES = "sql_mode"
_SIZE = re.compile(r"(\d+(?:\.\d+)?)([a-zA-Z]*)")
_WHOLE = re.compile(r"^(\d+)\.0+$")
"""A whole number with decimals, as some versions write what others write without: 90.000000."""
_NEARLY = 0.01
"""Sizes that differ by less are the same, rounded by the server to pages of its own."""


@dataclass(frozen=True)
class SettingDifference:
    """One setting of one DBMS and its value per target, in the order given; None: the target does not know it.

    `others`: positions of targets of other DBMSs. Their settings are not compared with these, whatever they are called,
    so their value is None.
    """

    name: str
    values: tuple[str | None, ...]
    others: tuple[int, ...] = ()

    @property
    def known_to_all(self) -> bool:
        """To all targets of its DBMS."""
        return all(value is not None for place, value in enumerate(self.values) if place not in self.others)

    @property
    def is_nearly_equal(self) -> bool:
        sizes = [
            _SIZE.fullmatch(value) for place, value in enumerate(self.values) if place not in self.others and value
        ]
        numbers = [float(one[1]) for one in sizes if one]
        same_unit = len({one[2] for one in sizes if one}) == 1
        return same_unit and len(numbers) == len(sizes) and max(numbers) - min(numbers) <= _NEARLY * max(numbers)


def differing_settings(settings: Sequence[Mapping[str, str]], dbms: Sequence[str]) -> list[SettingDifference]:
    """Settings whose value differs between two targets of the same DBMS; `settings` and `dbms` are per target.

    Targets without any settings (they never started) are left out of the comparison. Values that all targets know come
    first, then those that only some versions know; each by DBMS and by name.
    """
    found = [row for kind in dict.fromkeys(dbms) for row in _of_dbms(kind, settings, dbms)]
    return sorted(found, key=lambda row: not row.known_to_all)


def _of_dbms(kind: str, settings: Sequence[Mapping[str, str]], dbms: Sequence[str]) -> Iterator[SettingDifference]:
    others = tuple(place for place, of in enumerate(dbms) if of != kind)
    own: list[Mapping[str, str]] = [{} if place in others else of_target for place, of_target in enumerate(settings)]
    present = [of_target for of_target in own if of_target]
    ddl, modes = _ddl_of_others(present), _modes_of_any(present)
    own = [of_target and {**ddl, **by_item(with_one_name(of_target), modes)} for of_target in own]
    present = [of_target for of_target in own if of_target]
    for name in sorted({name for of_target in present for name in of_target}):
        if not _is_noise(name, kind) and len({of_target.get(name) for of_target in present}) > 1:
            yield SettingDifference(name, tuple(of_target.get(name) for of_target in own), others)


def _ddl_of_others(settings: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """What others change in tables and indexes, as it is of a target that changes nothing in them."""
    return {name: AS_SUITE for of_target in settings for name in of_target if name.startswith(DDL)}


def by_item(settings: Mapping[str, str], modes: Sequence[str] = ()) -> dict[str, str]:
    """Lists of switches, and of SQL modes, as one setting each: `optimizer_switch.mrr`."""
    found: dict[str, str] = {}
    for name, value in settings.items():
        if _SWITCHES.fullmatch(value):
            found |= {f"{name}.{item}": state for item, _, state in (part.partition("=") for part in value.split(","))}
        elif name == _MODES:
            found |= {f"{name}.{mode}": "on" if mode in value.split(",") else "off" for mode in modes}
        else:
            found[name] = _WHOLE.sub(r"\1", value)
    return found


def _modes_of_any(settings: Sequence[Mapping[str, str]]) -> list[str]:
    """SQL modes that are on somewhere."""
    return sorted({mode for of_target in settings for mode in of_target.get(_MODES, "").split(",") if mode})


def _is_noise(name: str, dbms: str) -> bool:
    patterns = noise()["settings"].get(family_name(dbms), [])
    return any(fnmatchcase(name.lower(), pattern) for pattern in patterns)
