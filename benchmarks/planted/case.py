"""A case: two targets and what is measured of them, read from a file of `cases`. Why they differ is in key.toml alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from dbversus.errors import UsageError

CASES = Path(__file__).parent / "cases"
FIRST_SEED = 7_900_000
"""Seeds of cases: no other experiment is likely to have them, so that their snapshots can go."""


class Library(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A library to compile: SQLite with turns of an empty loop at the start of functions, or `code` of its own in C."""

    slow: dict[str, int] = {}
    code: str = ""


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`base` and `target` as for `dbversus compare`, `{folder}` in them for that of the case.

    `configs`: config files of the targets' DBMS, and `libraries` what is compiled, by name. `suite`: text of a suite file.
    """

    base: str
    target: str
    tests: str
    table_size: str = ""
    suite: str = ""
    configs: dict[str, str] = {}
    libraries: dict[str, Library] = {}


@dataclass(frozen=True)
class Named:
    """A case and its name, which says nothing: `p07`."""

    name: str
    case: Case

    @property
    def seed(self) -> int:
        return FIRST_SEED + int(self.name.lstrip("p"))


def read_cases(globs: str | None = None) -> list[Named]:
    """Those whose names match, in order; UsageError where none does."""
    wanted = [glob.strip() for glob in (globs or "*").split(",")]
    files = [file for file in sorted(CASES.glob("p*.toml")) if any(fnmatchcase(file.stem, glob) for glob in wanted)]
    if not files:
        raise UsageError(f"--only {globs} matches no case; --list shows them.")
    return [Named(file.stem, read_case(file)) for file in files]


def read_case(file: Path) -> Case:
    return msgspec.toml.decode(file.read_bytes(), type=Case)


def command(named: Named, folder: Path, out: str) -> Sequence[str]:
    """`dbversus compare`, as somebody would type it in the folder of the case."""
    case = named.case
    targets = [text.replace("{folder}", str(folder)) for text in (case.base, case.target)]
    words = ["compare", *targets, "--profile", "quick", "--tests", case.tests, "--seed", str(named.seed)]
    words += ["--suite", "suite.toml"] if case.suite else []
    words += ["--table-size", case.table_size] if case.table_size else []
    return [*words, "--no-calibration", "--out", out]
