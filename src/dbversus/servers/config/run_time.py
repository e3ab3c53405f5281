"""Which settings act only while a server runs, from `configs/run_time/*.toml`: all others are taken to act on stored data."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dbversus.dbms.known import find_dbms
from dbversus.dbms.settings import plain_name, setting_key
from dbversus.errors import UsageError, reason
from dbversus.servers.base import ServerConfig
from dbversus.servers.config.load import Complete, ConfigPlace, config_dirs

FOLDER = "run_time"


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RunTime(_Shape):
    """Patterns of names, of settings and of variables of the server's process, with the reason why data is shared."""

    reason: str = Field(min_length=1)
    settings: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()


class _File(_Shape):
    run_time: tuple[RunTime, ...]


def run_time_groups(dbms: str, config_dir: ConfigPlace = None) -> list[RunTime]:
    """What is known for the family of a DBMS: the lists in all directories of configs together."""
    return [group for path in run_time_files(dbms, config_dir) for group in _read(path)]


def run_time_files(dbms: str, config_dir: ConfigPlace = None) -> list[Path]:
    """The lists for the family of a DBMS. A results folder has them as `1-mysql.toml`, and older ones have none."""
    family = find_dbms(dbms).family
    found = [
        path.resolve()
        for folder in config_dirs(config_dir)
        for path in sorted((folder / FOLDER).glob("*.toml"))
        if re.sub(r"^\d+-", "", path.stem) == family
    ]
    if not found and isinstance(config_dir, Complete):
        return run_time_files(dbms)
    return list(dict.fromkeys(found))


def _read(path: Path) -> tuple[RunTime, ...]:
    try:
        return _File.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))).run_time
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path} cannot be read as TOML: {reason(error)}.") from error
    except ValidationError as error:
        mistake = error.errors()[0]
        place = ".".join(map(str, mistake["loc"]))
        raise UsageError(
            f"{path}: '{place}': {mistake['msg']}; accepted are [[run_time]] tables with `reason`, `settings` and "
            "`environment` (lists of names or patterns)."
        ) from error


def acts_on_data(dbms: str, config: ServerConfig, config_dir: ConfigPlace = None) -> dict[str, dict[str, str]]:
    """Those parts of a config that may act on stored data: what is equal in them for two targets, they can share."""
    groups = run_time_groups(dbms, config_dir)
    settings = [pattern for group in groups for pattern in group.settings]
    environment = [pattern for group in groups for pattern in group.environment]
    return {
        "settings": _without(
            {plain_name(dbms, name): value for name, value in config.settings.items()}, settings, dbms
        ),
        "environment": _without(config.environment, environment),
        "init": dict(config.init_options),
        **({"ddl": dict(config.ddl)} if config.ddl else {}),
    }


def _without(values: Mapping[str, str], patterns: Sequence[str], dbms: str = "") -> dict[str, str]:
    """Those whose names match no pattern; `dbms`: they are settings, of which all spellings count (`skip_log_bin`)."""
    keys = {name: setting_key(dbms, name) if dbms else name for name in values}
    return {name: value for name, value in values.items() if not any(fnmatchcase(keys[name], one) for one in patterns)}
