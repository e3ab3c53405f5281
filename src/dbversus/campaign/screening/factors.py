"""Two configs of one build, taken apart into the settings in which they differ, and put together again with any of them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct

from dbversus.builds.target import parse_target
from dbversus.dbms.known import find_dbms
from dbversus.dbms.model import Family
from dbversus.dbms.settings import setting_key
from dbversus.dbms.sql.ddl import MARKS
from dbversus.errors import UsageError
from dbversus.servers.config.file import Item, read_config
from dbversus.servers.config.load import BASE, ConfigPlace, available_configs, chosen_items

_PREFIX = {"settings": "", "environment": "env.", "init": "init.", "ddl": "ddl."}
_MARK = re.compile(rf"(\{{(?:{'|'.join(MARKS)})\}})")


class Factor(Struct, frozen=True):
    """A setting that differs: its name as a target has it, and the texts that set it in either config; None: it is not set."""

    name: str
    first: str | None
    second: str | None


class Settings(Struct, frozen=True):
    """Two configs of one build: what both say, as texts of a target, and where they differ."""

    common: tuple[str, ...]
    factors: tuple[Factor, ...]

    def target(self, build: str, second: Iterable[str]) -> str:
        """The build with the first config, in which these factors have the values of the second one."""
        chosen = set(second)
        own = [one.second if one.name in chosen else one.first for one in self.factors]
        items = [*self.common, *(text for text in own if text is not None)]
        return written(build, items)

    def chosen(self, target: str) -> tuple[str, ...]:
        """The factors that have the values of the second config in the text of a target."""
        items = set(parse_target(target).configs)
        return tuple(one.name for one in self.factors if _is_second(one, items))


def written(build: str, items: Sequence[str]) -> str:
    """A target: the build with these items."""
    return f"{build}@{','.join(map(_quoted, items))}" if items else build


def _is_second(factor: Factor, items: set[str]) -> bool:
    return factor.second in items if factor.second is not None else factor.first not in items


@dataclass(frozen=True)
class _Config:
    """`items`: what it says beyond the base, by the key of the setting. `base`: what that says before it."""

    items: dict[str, Item] = field(default_factory=dict)
    base: dict[str, Item] = field(default_factory=dict)

    def value(self, key: str) -> str | None:
        item = self.items.get(key) or self.base.get(key)
        return item.value if item else None


def settings_of(dbms: str, version: str, configs: Sequence[str | Sequence[str]], config_dir: ConfigPlace) -> Settings:
    """`configs`: two, each a config file by path, or what stands after the `@` of a target, taken apart by its commas if it is
    not yet.

    Raises UsageError where one does not exist, and where both say the same.
    """
    first, second = (_config(dbms, version, text, config_dir) for text in configs)
    has_base = bool(first.base) and bool(second.base)
    if not has_base:
        first, second = (_Config(one.base | one.items) for one in (first, second))
    keys = list(dict.fromkeys([*first.items, *second.items]))
    differing = [key for key in keys if first.value(key) != second.value(key)]
    if not differing:
        raise UsageError(f"{configs[0]} and {configs[1]} say the same for {dbms} {version}; name two that differ.")
    without = () if has_base or BASE not in available_configs(dbms, config_dir) else (without_base(dbms),)
    common = (item_text(dbms, first.items[key]) for key in first.items if key not in differing)
    factors = (_factor(dbms, first.items.get(key), second.items.get(key)) for key in differing)
    return Settings((*without, *common), tuple(factors))


def without_base(dbms: str) -> str:
    """The config that leaves a server as it comes."""
    return "default" if find_dbms(dbms).family is Family.SQLITE else "server_defaults"


def _config(dbms: str, version: str, config: str | Sequence[str], config_dir: ConfigPlace) -> _Config:
    if isinstance(config, str) and "=" not in config and _is_file(Path(config)):
        file = read_config(Path(config), flags=find_dbms(dbms).settings.flags)
        items, without_base = list(file.items), file.without_base
    else:
        said = config.split(",") if isinstance(config, str) else config
        items, without_base = chosen_items(dbms, version, [one for one in said if one], config_dir)
    files = available_configs(dbms, config_dir)
    base = () if without_base or BASE not in files else files[BASE].items
    named, of_base = _by_key(dbms, version, items), _by_key(dbms, version, base)
    own = {key: item for key, item in named.items() if key not in of_base or item.value != of_base[key].value}
    return _Config(own, of_base)


def _is_file(path: Path) -> bool:
    return path.suffix in (".conf", ".cnf") or path.is_file()


def _by_key(dbms: str, version: str, items: Iterable[Item]) -> dict[str, Item]:
    return {_key(dbms, item): item for item in items if item.applies(version)}


def _key(dbms: str, item: Item) -> str:
    name = setting_key(dbms, item.name) if item.section in ("settings", "init") else item.name
    return f"{_PREFIX[item.section]}{name}"


def _factor(dbms: str, first: Item | None, second: Item | None) -> Factor:
    known = second or first
    assert known
    return Factor(f"{_PREFIX[known.section]}{known.name}", _text_or_none(dbms, first), _text_or_none(dbms, second))


def _text_or_none(dbms: str, item: Item | None) -> str | None:
    return item_text(dbms, item) if item else None


def item_text(dbms: str, item: Item) -> str:
    """As an inline setting, whose value may be in quotes of its own."""
    value = item.value
    if value != value.strip() or (len(value) > 1 and value[0] == value[-1] == "'"):
        value = "'" + value.replace("'", "''") + "'"
    return f"{_PREFIX[item.section]}{item.name}={value}"


def _quoted(item: str) -> str:
    """As it stands in the text of a target."""
    return "'" + item.replace("'", "''") + "'" if re.search(r"[,'\"]", item) else item
