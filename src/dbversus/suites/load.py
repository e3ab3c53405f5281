"""Finds suites: those that come with dbversus by name, any other by the path of its file."""

from pathlib import Path

from dbversus.errors import UsageError
from dbversus.suites.build import build_suite
from dbversus.suites.draft import Draft, extend, make_draft
from dbversus.suites.model import Suite
from dbversus.suites.names import near
from dbversus.suites.reading import read_shape
from dbversus.suites.shape import SuiteFile
from dbversus.suites.source import read_source

_FOLDER = Path(__file__).parent
_PROFILES = "profiles.toml"


def list_suites() -> list[Suite]:
    """The suites that come with dbversus, by name."""
    return [load_suite(name) for name in _bundled()]


def load_suite(name_or_path: str | Path) -> Suite:
    """The suite of that name, or of that file when the name ends in .toml.

    Raises UsageError: for an unknown name with those that there are, for a mistake in a file with file and line.
    """
    path = _find(str(name_or_path))
    return build_suite(path.stem, _read_draft(path, ()))


def _read_draft(path: Path, below: tuple[Path, ...]) -> Draft:
    source = read_source(path)
    file = read_shape(SuiteFile, source)
    own = make_draft(source, file)
    if file.extends is None:
        return own
    place = own.place.at("extends")
    try:
        base = _find(file.extends, path.parent)
    except UsageError as error:
        raise place.mistake(str(error)) from None
    chain = (*below, path.resolve())
    if base.resolve() in chain:
        raise place.mistake(f"{base} extends this file, and this file extends it; one of them has to stand alone.")
    return extend(_read_draft(base, chain), own)


def _find(name: str, folder: Path = Path()) -> Path:
    bundled = _bundled()
    if name in bundled:
        return bundled[name]
    if name.endswith(".toml"):
        return folder / name
    raise UsageError(
        f"Unknown suite '{name}'.{near(name, bundled)} Accepted: {', '.join(bundled)}, or the path of a .toml file."
    )


def _bundled() -> dict[str, Path]:
    paths = sorted(_FOLDER.glob("*.toml"), key=lambda path: path.stem)
    return {path.stem: path for path in paths if path.name != _PROFILES}
