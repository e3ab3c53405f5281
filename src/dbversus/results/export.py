"""A copy of a results directory to publish: without data, secrets, paths and names of hosts, and readable as the first one is."""

import hashlib
import json
import platform
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import duckdb

from dbversus.errors import RunError, UsageError
from dbversus.private import (
    HIDDEN,
    config_told,
    host_names,
    recorded,
    whole,
    without_host,
    without_secret_settings,
    without_secrets,
)
from dbversus.results.journal import header_of, parse_journal
from dbversus.results.records import Experiment
from dbversus.results.schema import CONFIGS, EXPERIMENT, HOST, JOURNAL, LATENCY, ROLES, SERVERS, SLOTS, SUITE
from dbversus.results.tables.registry import TABLES
from dbversus.results.write import seal

_SETUP = f"{SUITE}/setup/"
_DATA = f"{SUITE}/data.json"
# made again from the rest: by `seal`, and by who reports on the copy
_SEALED = (SLOTS, ROLES, *(table.file for table in TABLES if table.file), f"{LATENCY}/*")
_REPORTED = ("report.html", "report.md", "report.json")
_OTHER_REPORTS = ("report.xlsx", "report.csv", "post.md", "post/*", "reference/*")
# the same on every host
_SYSTEM = re.compile(r"/(?:usr/(?:lib|lib64|libexec|share|bin|sbin)|lib|lib64|bin|sbin|etc|proc|sys)/")
_STEP = r"[^\s\"'`<>|:;,()\[\]{}/\\]"
# what begins at a root or a home and has two names; of one with blanks, the first part
_PATH = re.compile(rf"(?<![\w.)\]}}~$/…-])(?:~/{_STEP}|/[A-Za-z_.]{_STEP}*/{_STEP})(?:{_STEP}|/)*")
# values of rows, as statements, plans and servers' words have them
_LITERALS = re.compile(r"'(?:[^'\n]|'')*'|(?<=\)=\()[^)\n]*(?=\))|(?<=: )\"[^\"\n]*\"|(?<=[=<>] )-?\d[\w.]*")
_COMPARED = re.compile(r"\b(?!(?:cost|rows|width|loops|time)=)(\w+=)-?\d[\d.]*")


@dataclass(frozen=True)
class LeftOut:
    """A file of the results directory, and why it is not published."""

    file: str
    why: str


@dataclass(frozen=True)
class Telling:
    """How the texts of one results directory are told.

    `places`: by what its targets, suite and configs are named → what is told instead. `hosts`: names of the hosts that are
    known of. `has_data`: rows of the user's were measured, whose values plans and servers' words may have.
    """

    places: Mapping[str, str]
    hosts: frozenset[str]
    has_data: bool

    def paths(self, text: str) -> str:
        for place, name in self.places.items():
            text = re.sub(rf"(?<![\w./~-]){re.escape(place)}(?![\w.-])", lambda _, name=name: name, text)  # type: ignore[misc]
        return _PATH.sub(_shortened, text)

    def text(self, text: str) -> str:
        """A label, a command, settings."""
        return self.paths(without_secrets(text))

    def words(self, text: str) -> str:
        """Sentences, servers' words and plans."""
        if self.has_data:
            text = _COMPARED.sub(rf"\1{HIDDEN}", _LITERALS.sub(HIDDEN, text))
        return self.text(without_host(text, self.hosts))

    def value(self, value: Any) -> Any:
        """All texts in a value of JSON; one with blanks is a sentence."""
        if isinstance(value, str):
            return self.words(value) if " " in value else self.text(value)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {self.text(name): self.value(item) for name, item in value.items()}
        return value


def _shortened(found: re.Match[str]) -> str:
    path = found[0]
    return path if _SYSTEM.match(path) else f"{HIDDEN}/{path.rstrip('/').rpartition('/')[2]}"


def export(directory: Path, into: Path) -> list[LeftOut]:
    """Writes the copy into the empty folder `into`, without reports; gives the files that are not in it.

    No link in `directory` is followed. Raises UsageError when it is no results directory, RunError naming a file that is
    damaged.
    """
    journal = directory / JOURNAL
    if not journal.is_file() or journal.is_symlink():
        raise UsageError(f"{directory} has no {JOURNAL}; expected a results directory written by dbversus.")
    records, good_bytes = parse_journal(journal)
    telling = _telling(directory, header_of(records, journal))
    left_out, sha256s = [], {}
    for path in _files(directory):
        file = path.relative_to(directory).as_posix()
        if why := _why_not(path, file):
            left_out.append(LeftOut(file, why))
        elif copy := next((copy for glob, copy in _COPIES.items() if fnmatchcase(file, glob)), None):
            target = into / file
            target.parent.mkdir(parents=True, exist_ok=True)
            _copied(copy, path, target, telling)
            sha256s[file] = hashlib.sha256(target.read_bytes()).hexdigest()
    with journal.open("rb") as lines, (into / JOURNAL).open("wb") as told:
        for line in lines.read(good_bytes).splitlines():
            told.write(_line(json.loads(line), telling, sha256s))
    seal(into)
    return left_out


def _files(directory: Path) -> Iterator[Path]:
    """All but the journal; a link to a folder is one of them."""
    for path in sorted(directory.rglob("*")):
        if (path.is_symlink() or not path.is_dir()) and path != directory / JOURNAL:
            yield path


def _why_not(path: Path, file: str) -> str:
    """Empty for what is copied, and for what is made again."""
    if path.is_symlink() or not path.is_file():
        return "a link, or no file"
    if file.startswith(_SETUP):
        return "a script or dump, which may have rows of your database"
    if any(fnmatchcase(file, glob) for glob in _OTHER_REPORTS):
        return "`dbversus report --format` makes it again"
    known = (*_COPIES, *_SEALED, *_REPORTED)
    return "" if any(fnmatchcase(file, glob) for glob in known) else "no file of a results directory"


def _telling(directory: Path, header: Experiment) -> Telling:
    named = {entry.file for entry in header.files}
    has_data = _DATA in named or any(file.startswith(_SETUP) for file in named) or (directory / _DATA).is_file()
    hosts = [platform.node()]
    for target in header.targets:
        path = directory / SERVERS / target.name / "settings.json"
        if path.is_file() and not path.is_symlink():
            hosts.append(str(_read_json(path).get("hostname", "")))
    return Telling(_places(header), host_names(*hosts) - {target.dbms or "" for target in header.targets}, has_data)


def _places(header: Experiment) -> dict[str, str]:
    """The longest first. A build's place is told as a path that its name is enough for: on other hosts it is elsewhere."""
    spec = header.spec or {}
    builds = dict.fromkeys(
        filter(None, map(_build, (*spec.get("targets", ()), *(one.label for one in header.targets))))
    )
    found = {path: f"./{name}" for path, name in _unique_names(list(builds)).items()}
    if "/" in (suite := header.suite or ""):
        found[suite] = suite.rpartition("/")[2]
    if "/" in (configs := spec.get("config_dir") or ""):
        found[configs] = CONFIGS
    found |= {whole(path): name for path, name in found.items()}
    return dict(sorted(found.items(), key=lambda item: -len(item[0])))


def _build(target: str) -> str:
    """The path that a target names its build by; empty for any other."""
    match = re.fullmatch(r"(?:[a-z]+:)?((?:~|\.\.?|\$\w+)?/[^@]*)(?:@.*)?", target, re.DOTALL)
    return match[1].rstrip("/") if match else ""


def _unique_names(paths: list[str]) -> dict[str, str]:
    """As much of the end of each path as tells it from the others."""
    for length in range(1, max((path.count("/") for path in paths), default=0) + 1):
        names = {path: "/".join(path.split("/")[-length:]) for path in paths}
        if len(set(names.values())) == len(paths):
            return names
    return {path: f"build-{number}" for number, path in enumerate(paths, 1)}


Copy = Callable[[Path, Path, Telling], None]


def _copied(copy: Copy, path: Path, target: Path, telling: Telling) -> None:
    try:
        copy(path, target, telling)
    except (ValueError, duckdb.Error) as error:
        raise RunError(f"{path} is damaged: {str(error).splitlines()[0]}.") from error


def _of_text(told: Callable[[Telling, str], str]) -> Copy:
    def copy(path: Path, target: Path, telling: Telling) -> None:
        target.write_text(told(telling, path.read_text(encoding="utf-8", errors="replace")), encoding="utf-8")

    return copy


def _of_json(told: Callable[[Telling, Any], Any]) -> Copy:
    def copy(path: Path, target: Path, telling: Telling) -> None:
        target.write_text(json.dumps(told(telling, _read_json(path)), indent=1), encoding="utf-8")

    return copy


def _read_json(path: Path) -> dict[str, Any]:
    content = json.loads(path.read_text(encoding="utf-8", errors="replace"))
    if not isinstance(content, dict):
        raise RunError(f"{path} is damaged: expected a JSON object.")
    return content


def _host(telling: Telling, facts: dict[str, Any]) -> Any:
    """Where data lay is nobody's business."""
    if isinstance(where := facts.get("file_system"), dict):
        where.pop("mount_point", None)
    return telling.value(facts)


def _settings(telling: Telling, settings: dict[str, Any]) -> Any:
    return telling.value(recorded({name: str(value) for name, value in settings.items()}))


def _parquet(path: Path, target: Path, telling: Telling) -> None:
    """Texts in all columns of texts."""
    with duckdb.connect() as connection:
        connection.create_function("told", telling.value, ["VARCHAR"], "VARCHAR")
        source = f"read_parquet({_quoted(path)})"
        columns = [
            f'told("{name}") AS "{name}"' if kind == "VARCHAR" else f'"{name}"'
            for name, kind, *_ in connection.execute(f"DESCRIBE FROM {source}").fetchall()
        ]
        query = f"SELECT {', '.join(columns)} FROM {source}"  # noqa: S608
        connection.execute(f"COPY ({query}) TO {_quoted(target)} (FORMAT parquet, COMPRESSION zstd)")


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


_COPIES: Mapping[str, Copy] = {
    EXPERIMENT: _of_text(Telling.text),
    HOST: _of_json(_host),
    f"{SUITE}/*.toml": _of_text(Telling.paths),
    _DATA: _of_json(Telling.value),
    f"{CONFIGS}/*/*.conf": _of_text(lambda telling, text: telling.text(config_told(text))),
    f"{CONFIGS}/*/*.toml": _of_text(Telling.text),
    f"{SERVERS}/*/settings.json": _of_json(_settings),
    f"{SERVERS}/*/*.json": _of_json(Telling.value),
    f"{SERVERS}/*/config.txt": _of_text(lambda telling, text: telling.text(config_told(text))),
    f"{SERVERS}/*/*.txt": _of_text(Telling.words),
    "imported*.parquet": _parquet,
    "calibration.json": _of_json(Telling.value),
    "calibration.md": _of_text(Telling.words),
}
"""Files that are copied, by their paths in the directory."""


def _line(record: dict[str, Any], telling: Telling, sha256s: Mapping[str, str]) -> bytes:
    """A line of the journal; of the first one, what `files` says of the copies."""
    histograms = record.pop("hdr", None)  # figures, in letters that may look like a path
    told = telling.value(record)
    if histograms is not None:
        told["hdr"] = histograms
    if record.get("type") == "experiment":
        told["command"] = telling.text(record.get("command") or "")
        for target, of_target in zip(record["targets"], told["targets"], strict=True):
            if rendered := target.get("rendered"):
                of_target["rendered"]["settings"] = telling.value(without_secret_settings(rendered["settings"]))
        for entry in told.get("files", ()):
            entry["sha256"] = sha256s.get(entry["file"], entry["sha256"])
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
