"""A results folder as the origin of an experiment: its choices, and by content the suite and the configs that it names.

Layout: `suite/1-<name>.toml`, which extends `2-…`, and so on, with the scripts of its [setup] in `suite/setup` and the names
of its data files in `suite/data.json`; `configs/<dbms>/<name>.conf`, and what acts at run time alone in
`configs/run_time/1-<family>.toml`.
"""

import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from dbversus.builds.target import absolute_target, build_path, parse_target
from dbversus.dbms.known import find_dbms
from dbversus.errors import UsageError
from dbversus.experiment.asked.fields import RENAMED
from dbversus.experiment.asked.spec import ExperimentSpec, make_spec, read_choices
from dbversus.files import whole_file
from dbversus.home import shipped
from dbversus.private import whole, with_short_paths
from dbversus.results.journal import read_header
from dbversus.results.records import Experiment, StoredFile
from dbversus.results.schema import CONFIGS, EXPERIMENT, JOURNAL, SUITE
from dbversus.servers.config.load import BASE, LIMITED, available_configs
from dbversus.servers.config.run_time import FOLDER, run_time_files
from dbversus.suites.data.file import ORIGINS, write_origins
from dbversus.suites.load import stored_files, suite_sources

ADJUSTABLE = ("time_budget_s", "wait_quiet_s", "require_quiet", "fail_on", "require_verdicts")
"""Choices that say nothing about what is measured, so that they may change from one start to the next."""


@dataclass(frozen=True)
class Copy:
    """A file as a results folder holds it: its path there, its content, and the file that it was copied from.

    Without `content`: one that may be large, a script of the suite, which is copied from its origin.
    """

    file: str
    content: bytes | None
    origin: Path
    sha256: str

    def record(self) -> StoredFile:
        """What the journal's header says of it."""
        return StoredFile(self.file, self.sha256, str(self.origin))


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_results_folder(directory: Path) -> bool:
    """Whether an experiment was measured there, or at least its suite lies there."""
    return (directory / JOURNAL).is_file() or bool(stored_files(directory / SUITE))


def copies_of(spec: ExperimentSpec) -> list[Copy]:
    """The files of an experiment besides its choices: the suite's, the configs of its targets, what is known of settings."""
    if spec.folder:
        copies = {f"{SUITE}/{path.name}": path for path in stored_files(spec.folder / SUITE)}
    else:
        suite = [Path(source.path) for source in suite_sources(spec.suite)]
        copies = {f"{SUITE}/{number}-{path.name}": path for number, path in enumerate(suite, 1)}
    copies |= {f"{CONFIGS}/{name}": path for name, path in _configs(spec)}
    try:
        read = [_copy(file, path) for file, path in copies.items()]
        return [*read, *_scripts(spec), *_data_named(spec)]
    except OSError as error:
        raise UsageError(f"{error.filename} cannot be read: {error.strerror}.") from error


def _copy(file: str, path: Path) -> Copy:
    content = path.read_bytes()
    return Copy(file, content, path.absolute(), _sha256(content))


def _scripts(spec: ExperimentSpec) -> Iterator[Copy]:
    """All of the suite's, also those of DBMSs that are not compared: it could not be read without them."""
    scripts = chain.from_iterable(spec.read_suite().scripts.values())
    files = dict(chain.from_iterable(script.files.items() for script in scripts))
    for file, path in files.items():
        yield Copy(f"{SUITE}/{file}", None, path.absolute(), _sha256_of(path))


def _data_named(spec: ExperimentSpec) -> Iterator[Copy]:
    """Data files are named with their hashes, and not copied: they may be large."""
    if files := spec.read_suite().data:
        content = write_origins(files)
        yield Copy(f"{SUITE}/{ORIGINS}", content, files[0].path.parent, _sha256(content))


def _configs(spec: ExperimentSpec) -> Iterator[tuple[str, Path]]:
    for target in map(parse_target, spec.targets):
        files = available_configs(target.dbms, spec.config_place)
        for name in (BASE, *([LIMITED] if spec.memory else []), *target.configs):
            if name in files.paths:  # what is missing is for `load_config` to say
                yield f"{target.dbms}/{files.paths[name].name}", files.paths[name]
    for family in sorted({find_dbms(parse_target(text).dbms).family for text in spec.targets}):
        for number, path in enumerate(run_time_files(family, spec.config_place), 1):
            yield f"{FOLDER}/{number}-{family}.toml", path


def with_absolute_paths(spec: ExperimentSpec) -> ExperimentSpec:
    """The same experiment, for any working directory."""
    paths: dict[str, Any] = {"targets": [absolute_target(text) for text in spec.targets]}
    if spec.folder is None and spec.suite.endswith(".toml"):
        paths["suite"] = str(Path(spec.suite).absolute())
    here = Path("configs")  # looked in without being named
    config_dir = spec.config_dir or (str(here) if here.is_dir() and here.resolve() not in shipped(here.name) else None)
    if spec.folder is None and config_dir:
        paths["config_dir"] = str(Path(config_dir).absolute())
    return spec.model_copy(update=paths)


def write_copies(copies: Sequence[Copy], directory: Path) -> None:
    for copy in copies:
        # a dump has rows of somebody's database: nobody else may read it
        with whole_file(directory / copy.file, within=directory, private=copy.content is None) as file:
            if copy.content is None:
                with copy.origin.open("rb") as origin:
                    shutil.copyfileobj(origin, file)
            else:
                file.write(copy.content)


def check_steady(before: Sequence[Copy], after: Sequence[Copy]) -> None:
    """Raises UsageError when a file was changed while the experiment was being set up: which text was read is not known."""
    for copy in after:
        if copy not in before:
            raise UsageError(f"{copy.origin} was changed while the experiment was being set up; start it again.")


def read_folder(directory: Path, builds: Sequence[str] = (), exclude: Sequence[str] = ()) -> ExperimentSpec:
    """The experiment of a results folder; its suite and configs come from there too, where the folder has them.

    Raises UsageError, naming the file, when anything of it is not what it was when the folder was made.
    """
    path = directory / EXPERIMENT
    # nothing from the profile: every choice is spelled out, and one that is absent was left open
    spec = make_spec(read_choices(path, builds, exclude, stored=True), f"{path}: ")
    if (journal := directory / JOURNAL).is_file():
        header = read_header(journal)
        _check_choices(path, header, spec)
        _check_copies(directory, header)
    suite = stored_files(directory / SUITE)
    if not suite:
        return spec
    name = suite[0].stem.removeprefix("1-")
    if Path(spec.suite).stem != name:
        raise UsageError(
            f"{path} names the suite {spec.suite}, but {directory / SUITE} holds {name}; "
            f"copy {EXPERIMENT} to another folder to change it."
        )
    return spec.taken_from(directory)


def _check_choices(path: Path, header: Experiment, spec: ExperimentSpec) -> None:
    now = _told(spec.model_dump(mode="json"))
    differences = [
        _difference(name, then, now[name])
        for name, then in ((RENAMED.get(name, name), then) for name, then in _told(header.spec).items())
        if name in now and name not in ADJUSTABLE and now[name] != then
    ]
    if differences:
        raise UsageError(
            f"{path} was edited after the experiment had begun: {'; '.join(differences)}. "
            "Put it back, or copy it to another folder and run it there."
        )


def _told(choices: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(with_short_paths(json.dumps(choices)))
    return found


def _difference(name: str, then: Any, now: Any) -> str:
    """In words; of two lists of the same length only the items that differ."""
    if isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        pairs = [(was, item) for was, item in zip(then, now, strict=True) if was != item]
        return f"{name}: " + ", ".join(f"{_show(was)} is {_show(item)} now" for was, item in pairs)
    return f"{name} was {_show(then)} and is {_show(now)} now"


def _show(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return "not set" if value is None else json.dumps(value, ensure_ascii=False)


def _check_copies(directory: Path, header: Experiment) -> None:
    known = {entry.file: entry.sha256 for entry in header.files}
    for file, checksum in known.items():
        path = directory / file
        if not path.is_file():
            raise UsageError(
                f"{path} is missing; it is part of the experiment. Put it back, or start a new experiment."
            )
        if _sha256_of(path) != checksum:
            raise UsageError(
                f"{path} was edited after the experiment had begun. Put it back, or start a new experiment with a file "
                "of your own."
            )
    if known:
        configs = (path for kind in ("conf", "toml") for path in sorted((directory / CONFIGS).glob(f"*/*.{kind}")))
        found = [*stored_files(directory / SUITE), *configs]
        for path in found:
            if str(path.relative_to(directory)) not in known:
                raise UsageError(f"{path} is not part of the experiment; remove it, or start a new experiment with it.")


def changed_outside(header: Experiment) -> list[str]:
    """Files that were copied into the results folder and have changed since; one that is gone has not."""
    return [path for entry in header.files if _is_other(Path(path := whole(entry.origin)), entry.sha256)]


def _is_other(path: Path, checksum: str) -> bool:
    try:
        return _sha256_of(path) != checksum
    except OSError:
        return False


def origins(spec: ExperimentSpec) -> str:
    """Where an experiment of a results folder gets its parts, in a sentence; its own builds are not in the folder."""
    own = dict.fromkeys(str(path) for path in map(build_path, spec.targets) if path)
    builds = f"; {', '.join(own)}: a build with a path can only be had on a host that has it there" if own else ""
    return f"suite and configs are those of {spec.folder}{builds}"
