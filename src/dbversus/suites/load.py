"""Finds suites: those that come with dbversus by name, any other by the path of its file, or in a results folder."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, reduce
from pathlib import Path

from dbversus.errors import UsageError
from dbversus.names import did_you_mean
from dbversus.suites.assembly.suite import build_suite
from dbversus.suites.data.file import ORIGINS
from dbversus.suites.file.draft import Draft, extend, make_draft, with_variants
from dbversus.suites.file.reading import read_shape
from dbversus.suites.file.shape import SuiteFile
from dbversus.suites.file.source import Place, Source, read_source
from dbversus.suites.model import Suite

Stamps = Mapping[Path, tuple[int, int] | None]

_FOLDER = Path(__file__).with_name("shipped")


def list_suites() -> list[Suite]:
    """The suites that come with dbversus, by name."""
    return [load_suite(name) for name in _bundled()]


def load_suite(name_or_path: str | Path, variants: Sequence[str] = ()) -> Suite:
    """The suite of that name, or of that file when the name ends in .toml, with these of its variants.

    Raises UsageError: for an unknown name with those that there are, for a mistake in a file with file and line.
    """
    sources = suite_sources(name_or_path)
    return _build(Path(sources[0].path).stem, sources, variants)


def list_variants(name_or_path: str | Path) -> dict[str, str]:
    """Titles of a suite's variants by name. Raises as `load_suite`."""
    return {name: placed.value.title for name, placed in _draft(tuple(suite_sources(name_or_path))).variants.items()}


def suite_sources(name_or_path: str | Path) -> list[Source]:
    """The file of a suite, then the one that it extends, and so on. Raises as `load_suite`."""
    path: Path | None = _find(str(name_or_path))
    sources: list[Source] = []
    while path is not None:
        sources.append(read_source(path))
        path = _extended(sources)
    return sources


def _extended(sources: Sequence[Source]) -> Path | None:
    """The file that the last of these extends."""
    source = sources[-1]
    file = _shape(source)
    if file.extends is None:
        return None
    place = Place(source).at("extends")
    try:
        base = _find(file.extends, Path(source.path).parent)
    except UsageError as error:
        raise place.mistake(str(error)) from None
    if base.resolve() in [Path(each.path).resolve() for each in sources]:
        raise place.mistake(f"{base} extends this file, and this file extends it; one of them has to stand alone.")
    return base


@lru_cache(maxsize=32)
def _shape(source: Source) -> SuiteFile:
    return read_shape(SuiteFile, source)


@lru_cache(maxsize=32)
def _draft(sources: tuple[Source, ...]) -> Draft:
    """`sources`: each extends the next."""
    return reduce(extend, reversed([make_draft(source, _shape(source)) for source in sources]))


def _build(name: str, sources: Sequence[Source], variants: Sequence[str], stored: Path | None = None) -> Suite:
    """`stored`: the folder of results in which the sources lie. Built once, while no file that belongs to it changes."""
    key = name, tuple(sources), tuple(variants), stored
    suite, stamps = _built.get(key, (None, None))
    if suite is None or stamps != _stamps(suite, stored):
        suite = build_suite(name, with_variants(_draft(tuple(sources)), variants), stored)
        suite = replace(suite, spelled=_spelled(name, sources[0].path))
        _built[key] = suite, _stamps(suite, stored)
    return suite


def _spelled(name: str, path: str) -> str:
    if is_bundled(path):
        return name
    return shlex.quote(path if "/" in path else f"./{path}")


_built: dict[tuple[str, tuple[Source, ...], tuple[str, ...], Path | None], tuple[Suite, Stamps]] = {}


def _stamps(suite: Suite, stored: Path | None) -> Stamps:
    """Time of change and size of the files beside the suite's own; None where one is not there."""
    scripts = [script.path for of_dbms in suite.scripts.values() for script in of_dbms]
    origins = [stored / ORIGINS] if stored else []
    return {path: _stamp(path) for path in (*scripts, *(file.path for file in suite.data), *origins)}


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def load_stored_suite(folder: Path, variants: Sequence[str] = ()) -> Suite:
    """The suite whose files a results folder holds: `1-<name>.toml` extends `2-…`, and so on; `data.json` names its data."""
    sources = [read_source(path) for path in stored_files(folder)]
    if not sources:
        raise UsageError(f"{folder} has no suite; expected its file as 1-<name>.toml.")
    return _build(Path(sources[0].path).stem.partition("-")[2], sources, variants, folder)


def stored_files(folder: Path) -> list[Path]:
    """The numbered suite files in `folder`, in order."""
    found = (path for path in folder.glob("*-*.toml") if path.is_file())
    numbered = [path for path in found if path.name.partition("-")[0].isdigit()]
    return sorted(numbered, key=lambda path: int(path.name.partition("-")[0]))


def _find(name: str, folder: Path = Path()) -> Path:
    bundled = _bundled()
    if name in bundled:
        return bundled[name]
    if name.endswith(".toml"):
        return folder / name
    raise UsageError(
        f"Unknown suite '{name}'.{did_you_mean(name, bundled)} Accepted: {', '.join(bundled)}, or the path of a .toml file."
    )


def is_bundled(path: str) -> bool:
    """Whether the file of that path comes with dbversus."""
    return Path(path).resolve().parent == _FOLDER.resolve()


def is_bundled_text(content: bytes) -> bool:
    """Whether a file with this text comes with dbversus."""
    return any(path.read_bytes() == content for path in _bundled().values())


def _bundled() -> dict[str, Path]:
    return {path.stem: path for path in sorted(_FOLDER.glob("*.toml"), key=lambda path: path.stem)}
