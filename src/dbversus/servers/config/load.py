"""From the names of configs and inline settings of a target to the settings of its server on this host."""

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dbversus.dbms.known import find_dbms
from dbversus.dbms.model import Family
from dbversus.dbms.settings import plain_name, setting_key, why_own
from dbversus.dbms.sql import ddl
from dbversus.errors import UsageError
from dbversus.home import shipped
from dbversus.names import did_you_mean_inline
from dbversus.servers.base import ServerConfig
from dbversus.servers.config.adding_up import added
from dbversus.servers.config.creation import creation_name
from dbversus.servers.config.file import ConfigFile, Item, Section, read_config, unquote
from dbversus.servers.config.memory import check_memory
from dbversus.servers.config.sizing import Sizing, evaluate

__all__ = ["Sizing", "available_configs", "config_dirs", "load_config"]

BASE = "base"
LIMITED = "limited_memory"
"""Comes after the base where servers may have less than the host's memory: caches for that."""
_PREFIXES: dict[str, Section] = {"env": "environment", "init": "init", "ddl": "ddl"}


@dataclass(frozen=True)
class Complete:
    """A folder that holds all configs that there are: the usual places are not looked in."""

    path: Path


ConfigPlace = Path | Complete | None
_OF_SERVERS: tuple[Section, ...] = ("settings", "init")
"""Sections that can say the same setting."""


def load_config(
    dbms: str, build_version: str, items: Sequence[str], sizing: Sizing, config_dir: ConfigPlace = None
) -> ServerConfig:
    """The base config, then `items` in the order written: names of configs and inline `setting=value`; later ones win.

    Where servers have a limit of memory, `limited_memory` comes after the base, also where that is left out.
    Inline, `env.NAME=value` sets a variable of the server's process, `init.NAME=value` an option of the creation of
    its data directory, and `ddl.NAME=value` is a line of [ddl]. `config_dir` is searched before the usual places, or alone.
    Raises UsageError for a name that does not exist or has nothing for this version, for a setting that dbversus itself
    sets, and for memory that the host does not have; whether the server knows a setting is for the server to say
    (`Server.check`). A setting that acts only when data is created is an option of its creation, with or without `init.`.
    """
    files = available_configs(dbms, config_dir)
    chosen, without_base = chosen_items(dbms, build_version, items, config_dir)
    base = [files[BASE]] if BASE in files and not without_base else []
    base += [files[LIMITED]] if LIMITED in files and sizing.limit_bytes is not None else []
    lines = [item for file in base for item in file.items] + chosen
    values: dict[Section, dict[str, str]] = {"settings": {}, "environment": {}, "init": {}, "ddl": {}}
    wheres: dict[str, str] = {}
    for item in (_placed(dbms, line) for line in lines):
        if not item.applies(build_version):
            continue
        if item.section == "ddl":
            values["ddl"][item.name] = _ddl(dbms, item, sizing)
            wheres[f"ddl.{item.name}"] = item.where
            continue
        _add(values, dbms, item, sizing)
        wheres[plain_name(dbms, item.name)] = item.where
    of_base = {item.where for file in base for item in file.items}
    own = frozenset(name for name, where in wheres.items() if where not in of_base and not name.startswith("ddl."))
    check_memory(dbms, values["settings"], sizing, wheres)
    return ServerConfig(
        ",".join(items) or BASE,
        values["settings"],
        values["environment"],
        values["init"],
        own,
        values["ddl"],
        wheres,
    )


def chosen_items(
    dbms: str, build_version: str, items: Sequence[str], config_dir: ConfigPlace = None
) -> tuple[list[Item], bool]:
    """What `items` say, in the order written, and whether they leave the base out. Raises UsageError as `load_config`."""
    files = available_configs(dbms, config_dir)
    chosen = [inline(item) if "=" in item else _named(files, item, dbms, build_version) for item in items]
    lines = [item for one in chosen for item in (one.items if isinstance(one, ConfigFile) else (one,))]
    return lines, any(isinstance(one, ConfigFile) and one.without_base for one in chosen)


def _add(values: dict[Section, dict[str, str]], dbms: str, item: Item, sizing: Sizing) -> None:
    """Puts the item in place of what was said before about the same thing; what is written later also stands later."""
    known = find_dbms(dbms).settings
    if item.section != "environment" and (why := why_own(dbms, item.name)):
        raise UsageError(f"{item.where}: '{item.name}' cannot be chosen: {why}; leave it out.")
    value = evaluate(item.value, sizing, known.show_bytes, item.where)
    if item.section == "environment":
        values["environment"][item.name] = value
        return
    name, key, section = plain_name(dbms, item.name), setting_key(dbms, item.name), item.section
    for place in _OF_SERVERS:
        for other in [other for other in values[place] if setting_key(dbms, other) == key]:
            earlier = values[place].pop(other)
            value = _added(earlier, value, item) if key in known.adds_up else value
            section = "init" if place == "init" else section  # an option of creation stays one
    values[section][name] = value


def _added(earlier: str, later: str, item: Item) -> str:
    try:
        return added(earlier, later)
    except ValueError as error:
        raise UsageError(
            f"{item.where}: '{item.name}' adds up over configs, and '{error}' cannot be read; accepted: name=value with commas "
            "between, or family={option=value} with semicolons between."
        ) from error


def _ddl(dbms: str, item: Item, sizing: Sizing) -> str:
    """The value of a line of [ddl], whose `{name}`, `{table}` and `{columns}` stay."""
    known = find_dbms(dbms)
    kept = re.sub(rf"\{{({'|'.join(ddl.MARKS)})\}}", r"{{\1}}", item.value)
    value = evaluate(kept, sizing, known.settings.show_bytes, item.where)
    if why := ddl.why_not(
        item.name, value, has_engines=known.family is Family.MYSQL, has_partitions=known.family is not Family.SQLITE
    ):
        raise UsageError(f"{item.where}: {why}.")
    return value


def _placed(dbms: str, item: Item) -> Item:
    name = creation_name(dbms, item.name) if item.section in ("settings", "init") else None
    return replace(item, section="init", name=name) if name else item


def inline(text: str) -> Item:
    """A setting that stands in a target's own text."""
    name, _, value = text.partition("=")
    prefix, dot, rest = name.strip().partition(".")
    section: Section = _PREFIXES.get(prefix, "settings") if dot else "settings"
    name = rest if section != "settings" else name.strip()
    if not name or any(letter.isspace() for letter in name):
        raise UsageError(f"'{text}' is not a setting; write `name=value`.")
    return Item(section, name, unquote(value), "", "", f"'{text}'")


def _named(files: "Configs", name: str, dbms: str, version: str) -> ConfigFile:
    if name in files and files[name].applies(version):
        return files[name]
    usable = sorted(known for known, file in files.readable() if file.applies(version))
    if name not in files:
        hint = _of_a_path(name, dbms) or did_you_mean_inline(name, usable)
        raise UsageError(
            f"There is no config '{name}' for {dbms} {version}{hint}; "
            f"there are {', '.join(usable) or 'none'}, and inline settings (name=value)."
        )
    ranges = sorted({item.range.strip() for item in files[name].items})
    raise UsageError(
        f"Config '{name}' is for {dbms} {', '.join(ranges)} and says nothing for {version}; "
        f"there are {', '.join(usable)}."
    )


def _of_a_path(name: str, dbms: str) -> str:
    """A target names a config by what it is called, never by where it is."""
    if "/" not in name and not name.endswith((".conf", ".cnf")):
        return ""
    stem = Path(name).stem or "mine"
    return f" (a file of your own goes into configs/{dbms}/, and {stem}.conf there is @{stem})"


def check_names(dbms: str, build_version: str, items: Sequence[str], config_dir: ConfigPlace = None) -> None:
    """Raises UsageError as `load_config` for names of configs that do not exist; evaluates and fetches nothing."""
    files = available_configs(dbms, config_dir)
    for item in items:
        if "=" not in item:
            _named(files, item, dbms, build_version)


class Configs(Mapping[str, ConfigFile]):
    """The config files of a DBMS by name. Each is read when it is asked for, so a broken one troubles nobody else."""

    def __init__(self, dbms: str, paths: Mapping[str, Path]):
        self.paths = paths
        self._flags = find_dbms(dbms).settings.flags
        self._read: dict[str, ConfigFile] = {}

    def __getitem__(self, name: str) -> ConfigFile:
        """Raises UsageError with file and line when the file is broken."""
        if name not in self._read:
            self._read[name] = read_config(self.paths[name], flags=self._flags)
        return self._read[name]

    def __contains__(self, name: object) -> bool:
        return name in self.paths

    def __iter__(self) -> Iterator[str]:
        return iter(self.paths)

    def __len__(self) -> int:
        return len(self.paths)

    def readable(self) -> Iterator[tuple[str, ConfigFile]]:
        """All but the broken ones."""
        for name in self.paths:
            with contextlib.suppress(UsageError):
                yield name, self[name]


def available_configs(dbms: str, config_dir: ConfigPlace = None) -> Configs:
    """All configs of a DBMS by name; a file in an earlier place hides one of the same name in a later place."""
    found: dict[str, Path] = {}
    for directory in config_dirs(config_dir):
        for path in sorted((directory / dbms).glob("*.conf")):
            found.setdefault(path.stem, path)
    return Configs(dbms, found)


def config_dirs(config_dir: ConfigPlace = None) -> list[Path]:
    """Where configs are looked for: the directory given, ./configs, and those that come with dbversus."""
    if isinstance(config_dir, Complete):
        return [config_dir.path]
    if config_dir is not None and not config_dir.is_dir():
        raise UsageError(f"The config directory {config_dir} does not exist.")
    places = [config_dir, Path("configs"), *shipped("configs")]
    return [place for place in places if place is not None and place.is_dir()]
