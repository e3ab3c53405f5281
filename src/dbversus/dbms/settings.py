"""What the settings of a config mean: spellings of the same name, sizes of caches, and those that dbversus keeps for itself."""

import re
from collections.abc import Mapping

from dbversus.dbms.known import find_dbms

_PREFIXES = re.compile(r"((?:loose_)?)((?:(?:skip|disable|enable|maximum)_)?)(.+)")
_NEGATIONS = re.compile(r"^(?:skip|disable|enable)_")
_LOOSE = "loose_"


def plain_name(dbms: str, name: str) -> str:
    """As the server itself shows it: MySQL takes hyphens for underscores, PostgreSQL and SQLite take any case."""
    return name.replace("-", "_") if find_dbms(dbms).settings.flags else name.lower()


def setting_key(dbms: str, name: str) -> str:
    """The same for all spellings that mean one setting: `loose-skip-log-bin` and `log_bin`."""
    plain = plain_name(dbms, name)
    if not find_dbms(dbms).settings.flags:
        return plain
    return _NEGATIONS.sub("", plain.removeprefix(_LOOSE))


def split_prefix(plain: str) -> tuple[str, str, str]:
    """`loose_`, `skip_` or the like, and the rest of a name of MySQL; parts that it has not are empty."""
    match = _PREFIXES.fullmatch(plain)
    return (match[1], match[2], match[3]) if match else ("", "", plain)


def why_own(dbms: str, name: str) -> str:
    """Why a config may not say this setting: dbversus itself does. Empty where it may."""
    return find_dbms(dbms).settings.own.get(setting_key(dbms, name), "")


def cache_bytes(dbms: str, settings: Mapping[str, str]) -> dict[str, float]:
    """Bytes by the setting that asks for them; those that are not said are left to the server's default and not here."""
    known = find_dbms(dbms).settings
    found = {}
    for name, value in settings.items():
        is_cache = plain_name(dbms, name).removeprefix("loose_") in known.caches
        if is_cache and (count := known.cache_bytes(value)):
            found[name] = count
    return found
