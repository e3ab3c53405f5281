"""Settings that differ between targets, without those that differ between any two servers (paths, ports, ids)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from dbversus.explain.noise import noise


@dataclass(frozen=True)
class SettingDifference:
    """One setting and its value per target, in the order given; None: the target does not know it."""

    name: str
    values: tuple[str | None, ...]

    @property
    def known_to_all(self) -> bool:
        return None not in self.values


def differing_settings(settings: Sequence[Mapping[str, str]], dbms: Sequence[str]) -> list[SettingDifference]:
    """Settings whose value differs between two targets of the same DBMS; `settings` and `dbms` are per target.

    Targets without any settings (they never started) are left out of the comparison. Values that all targets know come
    first, then those that only some versions know; each by name.
    """
    names = sorted({name for of_target in settings for name in of_target})
    rows = [SettingDifference(name, tuple(of_target.get(name) for of_target in settings)) for name in names]
    present = [bool(of_target) for of_target in settings]
    found = [row for row in rows if not _is_noise(row.name, dbms) and _differs(row.values, dbms, present)]
    return sorted(found, key=lambda row: not row.known_to_all)


def _is_noise(name: str, dbms: Sequence[str]) -> bool:
    patterns = (pattern for kind in set(dbms) for pattern in noise()["settings"].get(_family(kind), []))
    return any(fnmatchcase(name.lower(), pattern) for pattern in patterns)


def _family(dbms: str) -> str:
    return "mysql" if dbms in ("mariadb", "myrocks", "percona") else dbms


def _differs(values: Sequence[str | None], dbms: Sequence[str], present: Sequence[bool]) -> bool:
    for kind in set(dbms):
        seen = {value for value, of, there in zip(values, dbms, present, strict=True) if of == kind and there}
        if len(seen) > 1:
            return True
    return False
