"""Whether an experiment is the user's own, and what it brings along that would be executed here: asked before anything is.

Files are her own that belong to her or to root, or come with dbversus, and that nobody else may write to; results folders that
were measured on this host, too. A folder that was unpacked belongs to whoever unpacked it: so an experiment.toml that names
programs by a relative path is asked about, and a dry run, with which people look at what they were given, leaves them alone.
"""

import os
import pwd
import re
import stat
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from dbversus.builds.target import build_path, parse_target
from dbversus.experiment.asked.spec import ExperimentSpec
from dbversus.experiment.folder import Copy, copies_of, is_results_folder
from dbversus.home import shipped
from dbversus.host.facts import machine_id
from dbversus.results.journal import read_header
from dbversus.results.schema import EXPERIMENT, JOURNAL, SUITE
from dbversus.servers.config.file import Item
from dbversus.servers.config.load import BASE, available_configs, inline
from dbversus.suites.load import is_bundled, is_bundled_text

# settings whose values are commands, or name libraries and files that servers load or run
_RUNS = re.compile(
    r"command|librar|plugin|preload|init_file|init_connect|jit_provider|basedir|_dir(ectory)?$|path", re.I
)
_RELATIVE = re.compile(r"\s*(\w+:)?\.\.?/")
UNKNOWN_HOST = "unknown"
_TARGETS = ("targets", "matrix", "scaled")


def check_files(path: Path) -> str:
    """Why an experiment file is not the user's own, in words that follow its name; empty when it is."""
    if any(path.resolve().is_relative_to(place.resolve()) for place in shipped("experiments")):
        return ""
    if words := next(filter(None, map(_not_own, (path, path.parent))), ""):
        return words
    return _measured_elsewhere(path.parent) if is_results_folder(path.parent) else ""


def _measured_elsewhere(directory: Path) -> str:
    if not (directory / JOURNAL).is_file():
        return "lies beside a suite, without a journal that says where it was measured"
    host = read_header(directory / JOURNAL).host
    if host is None:
        return "does not say on which host it was measured"
    return "" if host == (machine_id() or UNKNOWN_HOST) else "was measured on another host"


def _not_own(path: Path) -> str:
    try:
        found = path.stat()
    except OSError:  # for its reader to say
        return ""
    if found.st_uid not in (os.geteuid(), 0):
        return f"belongs to user {_user(found.st_uid)}"
    is_shared = found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX
    return "may be written to by every user" if is_shared else ""


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def programs_named(path: Path) -> list[Path]:
    """The builds that an experiment file names by a path; nothing of them is looked at."""
    return list(_programs(path).values())


def _programs(path: Path) -> dict[str, Path]:
    """By the text that names them."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # for its reader to say
        return {}
    texts = (text for name in _TARGETS for text in _texts(document.get(name)))
    return {text: found for text in texts if (found := build_path(text))}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


def _programs_beside(path: Path, *, dry_run: bool) -> list[Path]:
    """Those with a relative path, or in the folder of the experiment file: they can have come with it."""
    if is_results_folder(path.parent) or (path.name != EXPERIMENT and not dry_run):
        return []
    folder = path.parent.resolve()
    named = _programs(path).items()
    return [one for text, one in named if _RELATIVE.match(text) or one.resolve().is_relative_to(folder)]


def foreign_parts(spec: ExperimentSpec) -> str:
    """As `check_files`, for the first suite, config or script that is not the user's own; with its name."""
    for copy in copies_of(spec):
        if words := "" if _is_shipped(copy.origin) else _not_own(copy.origin):
            return f"{copy.origin} {words}"
    return ""


def is_known(path: Path, *, dry_run: bool) -> bool:
    """Whether the experiment file itself may be read as a whole, for which programs that it names may have to be asked."""
    return not check_files(path) and not _programs_beside(path, dry_run=dry_run)


def question(spec: ExperimentSpec, path: Path | None, *, dry_run: bool) -> str:
    """What a user has to know, and to allow, before anything of an experiment is executed; empty when it is her own.

    `path`: the experiment file; None where she has named the targets herself.
    """
    if path and (why := check_files(path)):
        return _sentence(f"{path} {why}", brought(spec, programs_named(path)))
    if path and (beside := _programs_beside(path, dry_run=dry_run)):
        return _sentence(
            f"{path} names programs that may have come with it", [f"programs or libraries: {_few(beside)}"]
        )
    if words := foreign_parts(spec):
        return _sentence(words, brought(spec))
    return ""


def _sentence(why: str, things: Sequence[str]) -> str:
    if not things:
        return ""
    return f"{why}, and it brings what would be executed or read here: {'; '.join(things)}"


def brought(spec: ExperimentSpec, programs: Sequence[Path] = ()) -> list[str]:
    """What the experiment would execute besides builds of the catalog, or read: in words, by kind."""
    suite = spec.read_suite()
    scripts = [path for script in chain.from_iterable(suite.scripts.values()) for path in script.files.values()]
    kinds = {
        "programs or libraries": programs,
        "settings that load or run something": list(dict.fromkeys(_settings(spec))),
        "SQL scripts of [setup]": [path.name for path in dict.fromkeys(scripts)],
        "SQL of the suite": [copy.origin for copy in copies_of(spec) if _is_own_suite(copy)],
        "data": [file.path for file in suite.data],
    }
    return [f"{kind}: {_few(names)}" for kind, names in kinds.items() if names]


def _few(names: Sequence[object]) -> str:
    return ", ".join([*map(str, names[:3]), *(["…"] if len(names) > 3 else [])])


def _is_own_suite(copy: Copy) -> bool:
    is_suite = copy.file.startswith(f"{SUITE}/") and copy.file.endswith(".toml") and copy.content is not None
    return is_suite and not is_bundled_text(copy.content or b"")


def _settings(spec: ExperimentSpec) -> Iterator[str]:
    for target in map(parse_target, spec.targets):
        files = available_configs(target.dbms, spec.config_place)
        for name in (BASE, *target.configs):
            if "=" in name:
                yield from _running([inline(name)], "")
            elif name in files and not _is_shipped_config(target.dbms, files.paths[name]):
                yield from _running(files[name].items, f" ({name})")


def _running(items: Iterable[Item], where: str) -> Iterator[str]:
    for item in items:
        if item.section == "environment":
            yield f"env.{item.name}{where}"
        elif item.section == "settings" and _RUNS.search(item.name):
            yield f"{item.name}{where}"


def _is_shipped(path: Path) -> bool:
    return is_bundled(str(path)) or any(path.resolve().is_relative_to(place.resolve()) for place in shipped("configs"))


def _is_shipped_config(dbms: str, path: Path) -> bool:
    """Whether the same text comes with dbversus under this name: results folders hold copies."""
    same = (place / dbms / path.name for place in shipped("configs"))
    return any(one.is_file() and one.read_bytes() == path.read_bytes() for one in same)
